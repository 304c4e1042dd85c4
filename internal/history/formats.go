package history

import (
	"bytes"
	"regexp"
	"strconv"
)

// format is what is known of a format before it is read.
type format struct {
	name      string
	recognise func(head []byte) bool // by the first bytes of the plain log, at most 64 KiB
	reader    func() reader
	refused   string // why it cannot be read, "" if it can
}

// formats are tried in this order. The last takes what no other does.
var formats = []format{
	{name: "journal of Tailcut", recognise: begins("tailcut\n"), reader: func() reader { return &journal{} }},
	{name: "history of Tailcut", recognise: matches(`^\s*\{\s*"schema"\s*:\s*"tailcut\.history/v1"`), reader: func() reader { return past{} }},
	{name: "Spark event log", recognise: matches(`^\s*\{\s*"Event"\s*:`), reader: func() reader { return newSpark() }},
	{name: "Hadoop job history", recognise: begins("Avro-Json", "Avro-Binary"), reader: func() reader { return newJhist() }},
	{name: "Hadoop 0.20 job log", recognise: begins("Meta VERSION=", "Job JOBID=", "!!FILE="), reader: func() reader { return newOldLog() }},
	{name: "Rumen trace", recognise: matches(`^\s*\{[^\[]*"jobID"\s*:`), reader: func() reader { return newRumen() }},
	{name: "pods of Kubernetes", recognise: matches(`^\s*\{[^\[]*"apiVersion"\s*:`), reader: func() reader { return newPods() }},
	{name: "workload", recognise: matches(`^\s*\{`), reader: func() reader { return &workload{} }},
	{name: "joblog of GNU parallel", recognise: begins("Seq\tHost\tStarttime\t"), reader: func() reader { return newParallel() }},
	{name: "trace of Nextflow", recognise: nextflowHead, reader: func() reader { return newNextflow() }},
	{name: "sacct of Slurm", recognise: sacctHead, reader: func() reader { return newSacct() }},
	{name: "Google task events", recognise: commas(13), reader: func() reader { return newGoogle() }},
	{name: "Google job events", recognise: commas(8), refused: "expected the 13 columns of task events, found the 8 of job events, which have no tasks"},
	{name: "workload", recognise: trHead, reader: func() reader { return &workload{} }},
	{name: "Google task events", recognise: blanks(12), reader: func() reader { return newGoogle() }},
	{name: "numbers", recognise: func([]byte) bool { return true }, reader: func() reader { return &numbers{} }},
}

// begins recognises a log by its first bytes that are not blank.
func begins(prefixes ...string) func([]byte) bool {
	return func(head []byte) bool {
		head = bytes.TrimSpace(head)
		for _, p := range prefixes {
			if bytes.HasPrefix(head, []byte(p)) {
				return true
			}
		}
		return false
	}
}

func matches(pattern string) func([]byte) bool {
	return regexp.MustCompile(pattern).Match
}

// firstLine returns the first line that is neither blank nor a comment, and whether it is all there.
func firstLine(head []byte) (line []byte, whole bool) {
	for {
		line, rest, found := bytes.Cut(head, []byte{'\n'})
		text, _, _ := bytes.Cut(line, []byte{'#'})
		if text = bytes.TrimSpace(text); len(text) > 0 || !found {
			return text, found || len(head) < 1<<16
		}
		head = rest
	}
}

// commas recognises a table without a header by the number of its columns, which commas part. The first and the third
// are numbers.
func commas(n int) func([]byte) bool {
	return func(head []byte) bool {
		line, _ := firstLine(head)
		f := bytes.Split(line, []byte{','})
		return len(f) == n && whole(f[0]) && whole(f[2])
	}
}

// blanks recognises a table without a header by the number of its columns, which blanks part. The first five are whole
// numbers.
func blanks(n int) func([]byte) bool {
	return func(head []byte) bool {
		line, _ := firstLine(head)
		f := bytes.Fields(line)
		return len(f) == n && whole(f[0]) && whole(f[1]) && whole(f[2]) && whole(f[3]) && whole(f[4])
	}
}

func whole(b []byte) bool {
	_, err := strconv.ParseInt(string(b), 10, 64)
	return err == nil
}

// trHead recognises a .tr workload: an arrival, the number n of tasks, a mean, n durations.
func trHead(head []byte) bool {
	line, all := firstLine(head)
	f := bytes.Fields(line)
	if len(f) < 3 {
		return false
	}
	for i, b := range f[:3] {
		if _, err := strconv.ParseFloat(string(b), 64); err != nil || i == 1 && !whole(b) {
			return false
		}
	}
	n, _ := strconv.ParseInt(string(f[1]), 10, 64)
	return int64(len(f)) == n+3 || int64(len(f)) < n+3 && !all || len(f) != 12
}
