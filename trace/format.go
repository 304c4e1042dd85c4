package trace

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// A format is one kind of file: how its beginning looks, and how it is read. Each has a file of its own.
type format struct {
	name string
	is   func(*sample) bool
	read func(*reader) error
	// whole tells whether the last line of a log is all there if nothing ends it; nil of formats that must be whole
	// altogether. The sample is that of the first line.
	whole func(s *sample, line []byte) bool
	asks  []string // keys of [Importer.Set] that say what it leaves open
}

// formats in the order in which they are tried.
var formats = []format{
	{"rumen", isRumen, (*reader).rumen, wholeJSON, []string{"incomplete", "waits"}},
	{"tpch", isTPCH, func(in *reader) error { return in.eachLine(in.tpchLine) }, wholeJSON, []string{"executors"}},
	{"wfcommons", isWfCommons, (*reader).wfCommons, nil, nil},
	{"jsonl", func(s *sample) bool { return s.line[0] == '{' }, func(in *reader) error { return in.eachLine(in.jsonLine) }, nil, nil},
	{"csv", isCSV, (*reader).csvTable, nil, nil},
	{"alibaba-v2017", isAlibaba2017, (*reader).alibaba2017, wholeRow, []string{"incomplete", "waits", "instances"}},
	{"alibaba-v2018", isAlibaba2018, (*reader).alibaba2018, wholeRow, []string{"incomplete", "waits", "instances"}},
	{"google-task-events", isGoogleTaskEvents, (*reader).googleTaskEvents, wholeRow, []string{"incomplete"}},
	{"google-job-events", isGoogleJobEvents, (*reader).googleJobEvents, wholeRow, []string{"incomplete"}},
	{"google-text-events", isGoogleTextEvents, (*reader).googleTextEvents, wholeText, []string{"incomplete"}},
	{"swim", isSWIM, func(in *reader) error { return in.eachLine(in.swimLine) }, nil, []string{"split", "reduce-split", "map-rate", "reduce-rate", "task-start"}},
	{"coflow", isCoflow, func(in *reader) error { return in.eachLine(in.coflowLine) }, nil, []string{"port-rate"}},
	{"tr", func(s *sample) bool { _, err := parseSeconds(s.text[0]); return err == nil }, func(in *reader) error { return in.eachLine(in.trLine) }, nil, nil},
}

// formatOf returns the format of a file that begins so, nil if it is none.
func formatOf(s *sample) *format {
	i := slices.IndexFunc(formats, func(f format) bool { return f.is(s) })
	if i < 0 {
		return nil
	}
	return &formats[i]
}

// FormatsWith returns the names of the formats that leave open what a key of [Importer.Set] says.
func FormatsWith(key string) (names []string) {
	for _, f := range formats {
		if slices.Contains(f.asks, key) {
			names = append(names, f.name)
		}
	}
	return names
}

// formatNames lists the formats for messages.
func formatNames() string {
	var names []string
	for _, f := range formats {
		names = append(names, f.name)
	}
	return strings.Join(names, ", ")
}

// sample is the beginning of a file.
type sample struct {
	head []byte   // some of it, from the first line that holds something
	line string   // that line, perhaps cut short
	csv  []string // its fields between commas, trimmed
	tsv  []string // between tabs
	text []string // between blanks
}

// sampleSize bounds how far the beginning is looked at.
const sampleSize = 1 << 16

// newSample returns nil for a file without content.
func newSample(head []byte) *sample {
	for len(head) > 0 {
		line, rest, _ := bytes.Cut(head, []byte("\n"))
		text := strings.TrimSpace(string(line))
		if text != "" && text[0] != '#' {
			s := &sample{head: head, line: text, csv: strings.Split(text, ","), tsv: strings.Split(text, "\t"), text: strings.Fields(text)}
			for i := range s.csv {
				s.csv[i] = strings.TrimSpace(s.csv[i])
			}
			return s
		}
		head = rest
	}
	return nil
}

// integers reports whether all fields at the given places hold whole numbers of at least 0.
func integers(fields []string, places ...int) bool {
	for _, i := range places {
		if _, err := strconv.ParseUint(fields[i], 10, 64); err != nil {
			return false
		}
	}
	return true
}

// hasKey reports whether an object in the head has a key.
func (s *sample) hasKey(key string) bool {
	_, behind, found := bytes.Cut(s.head, []byte(`"`+key+`"`))
	return found && bytes.HasPrefix(bytes.TrimLeft(behind, " \t"), []byte(":"))
}

// eachLine hands every line that holds something to parse. Lines that are blank or begin with # are skipped, and
// counted.
func (in *reader) eachLine(parse func(string) error) error {
	for ; ; in.line++ {
		text, err := in.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return in.wrong("", err)
		}
		if text = strings.TrimSpace(text); text == "" || text[0] == '#' {
			continue
		}
		if err := parse(text); err != nil {
			return err
		}
	}
}

// eachRow hands every row of a table of comma-separated fields to parse, trimmed, as many as columns names. They are
// valid until it returns.
func (in *reader) eachRow(columns []string, parse func(row []string) error) error {
	rows := csv.NewReader(in.lines)
	before := in.line
	rows.FieldsPerRecord = -1
	rows.ReuseRecord = true
	rows.LazyQuotes = true
	rows.Comment = '#'
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		var bad *csv.ParseError
		if errors.As(err, &bad) {
			in.line = before + uint32(bad.Line-1)
			return in.wrong("", bad.Err)
		}
		if err != nil {
			return in.wrong("", err)
		}
		line, _ := rows.FieldPos(0)
		in.line = before + uint32(line-1)
		if len(row) != len(columns) {
			return in.wrong("", fmt.Errorf("expected %d fields between commas, got %d", len(columns), len(row)))
		}
		for i := range row {
			row[i] = strings.TrimSpace(row[i])
		}
		if err := parse(row); err != nil {
			return err
		}
	}
}

// whole reads a whole number between 0 and most from field i.
func (in *reader) whole(fields, columns []string, i int, most uint64) (uint64, error) {
	if n, err := strconv.ParseUint(fields[i], 10, 64); err == nil && n <= most {
		return n, nil
	}
	return 0, in.wrong(fmt.Sprintf("%d (%s)", i+1, columns[i]), fmt.Errorf("expected a whole number between 0 and %d, got %q", most, abridged(fields[i])))
}

// note tells the user something about the input.
func (in *reader) note(format string, args ...any) {
	in.w.Notes = append(in.w.Notes, in.w.Name+": "+fmt.Sprintf(format, args...))
}

// noteIncomplete tells how many jobs were left out because they did not finish, or were kept without some tasks.
func (in *reader) noteIncomplete(jobs, tasks int) {
	switch {
	case jobs > 0 && in.set.Incomplete:
		in.note("%d jobs did not finish completely and lack %d tasks", jobs, tasks)
	case jobs > 0:
		in.note("skipped %d jobs with %d unfinished tasks (incomplete=keep keeps their finished tasks)", jobs, tasks)
	}
}
