package durations

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tailcut/tailcut/internal/history"
	"github.com/tailcut/tailcut/internal/show"
)

// Log says where durations come from: a log of any format that package history knows, and what to take from it.
type Log struct {
	Path   string    // a file, a folder, or "-" for Stdin
	Title  string    // what to call it instead of Path; "" for that
	Stdin  io.Reader // nil unless Path is "-"
	Column string    // of a CSV: its name or its number from 1
	Job    string    // "" is all
	Stage  string    // its id or its name, "" is all
	// Course is set when the log has been read: what it tells beside durations.
	Course *history.Course
	// Tell takes what the user is to know of the durations, a line each; nil if nobody listens.
	Tell func(line string)
	// Watch is told what is being done, and of how many bytes, and returns what is called with the bytes that are done
	// meanwhile, and at the end; nil if nobody watches.
	Watch func(doing string, bytes int) (tick func(bytes int), stop func())
}

// Name is what to call the log.
func (d *Log) Name() string {
	switch {
	case d.Title != "":
		return d.Title
	case d.Path == "-":
		return "stdin"
	}
	return d.Path
}

func (d *Log) tell(format string, args ...any) {
	if d.Tell != nil {
		d.Tell(d.Name() + ": " + fmt.Sprintf(format, args...))
	}
}

// Sample returns the one stage that is asked for, and tells how it is taken: what became of attempts that did not end,
// and what the log's clock cannot show. An error is one line that names file, line and what was expected.
func (d *Log) Sample() (*Sample, error) {
	stages, _, err := d.read()
	if err != nil {
		return nil, err
	}
	st, err := d.choose(stages)
	if err != nil {
		if len(stages) == 0 && d.Path != "-" && (d.Job != "" || d.Stage != "") {
			err = fmt.Errorf("%w; %s", err, d.instead())
		}
		return nil, err
	}
	s, err := Of(st)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.Name(), err)
	}
	if n := len(st.Censored); n > 0 {
		d.tell("%s killed or still running at the end of the log: their full durations are estimated (Kaplan-Meier)",
			show.Count(n, "attempt"))
	}
	if b := s.Beyond; b != nil {
		d.tell("the longest attempt was cut off at %s: the plan assumes that %.2g %% of attempts are longer, %s on average; "+
			"the log cannot show their durations", show.Seconds(b.Last), 100*b.Share, show.Seconds(b.Mean))
	}
	d.leftOut([]*history.StageRecord{st})
	return s, nil
}

// Stages returns all stages that are asked for and the hosts that their attempts ran on, and tells how they are taken.
// There is at least one, though perhaps with no attempt that succeeded.
func (d *Log) Stages() (stages []*history.StageRecord, hosts []string, err error) {
	if stages, hosts, err = d.read(); err != nil {
		return nil, nil, err
	}
	d.leftOut(stages)
	d.cut(stages)
	if len(stages) == 0 {
		_, err = d.choose(nil)
	}
	return stages, hosts, err
}

// read reads the log, and tells what is to be known of it.
func (d *Log) read() (stages []*history.StageRecord, hosts []string, err error) {
	log, err := history.Open(d.Path, d.Stdin, d.Column)
	if err != nil {
		return nil, nil, err
	}
	defer log.Close()
	if size := log.Size(); d.Watch != nil && size >= leastWatched {
		tick, stop := d.Watch("reading", int(size))
		defer stop()
		log.Watch(tick)
	}
	if stages, hosts, err = history.Stages(log.Attempts(), d.Job, d.Stage); err != nil {
		return nil, nil, err
	}
	d.Course = log.Course()
	if d.Tell != nil {
		for _, line := range log.Notes() {
			d.Tell(line)
		}
	}
	return stages, hosts, nil
}

// leastWatched is the size in bytes from which on reading a log takes long enough to be watched.
const leastWatched = 1 << 20

// instead tells which stages of the job, or else of the file, there are instead of the one that is not.
func (d *Log) instead() string {
	all := &Log{Path: d.Path, Column: d.Column}
	if d.Stage != "" {
		all.Job = d.Job
	}
	stages, _, err := all.read()
	if err == nil && len(stages) == 0 {
		all.Job = ""
		stages, _, err = all.read()
	}
	switch {
	case err != nil || len(stages) == 0:
		return "it is empty"
	case len(stages) == 1 && stages[0].Job == "" && stages[0].Stage == "":
		return "it has no jobs or stages"
	}
	what, how := differ(stages)
	return "its " + what + " are " + largest(stages, how)
}

// leftOut tells which attempts of the stages are not planned with, and what the log's clock cannot show.
func (d *Log) leftOut(stages []*history.StageRecord) {
	var timedOut, cancelled, raised int
	var longest, resolution float64
	for _, st := range stages {
		timedOut, cancelled, raised = timedOut+st.TimedOut, cancelled+st.Cancelled, raised+st.Raised
		longest, resolution = max(longest, st.LeftOut), max(resolution, st.Resolution)
	}
	if n := timedOut + cancelled; n > 0 {
		d.tell("ignored %s, the longest after %s: %d timed out, %d cancelled; their full durations are unknown",
			show.Count(n, "attempt"), show.Seconds(longest), timedOut, cancelled)
	}
	if raised > 0 {
		d.tell("the log's clock has whole seconds: counted %s shorter than %s as that long", show.Count(raised, "duration"), show.Seconds(resolution))
	}
}

// cut tells what was done about attempts of a whole log that did not end.
func (d *Log) cut(stages []*history.StageRecord) {
	attempts, in, longest := 0, 0, 0
	for _, st := range stages {
		if len(st.Censored) == 0 {
			continue
		}
		attempts += len(st.Censored)
		in++
		if len(st.Succeeded) > 0 && slices.Max(st.Censored) > slices.Max(st.Seconds()) {
			longest++
		}
	}
	if attempts == 0 {
		return
	}
	d.tell("%s of %s killed or still running at the end of the log: their full durations are estimated (Kaplan-Meier)",
		show.Count(attempts, "attempt"), show.Count(in, "stage"))
	if longest > 0 {
		d.tell("the longest attempts of %s were cut off: their durations are guesses; see 'tailcut plan fork --stage ID'", show.Count(longest, "stage"))
	}
}

// choose returns the only stage with attempts that succeeded.
func (d *Log) choose(stages []*history.StageRecord) (*history.StageRecord, error) {
	found := len(stages)
	stages = slices.DeleteFunc(slices.Clone(stages), func(s *history.StageRecord) bool { return len(s.Succeeded) == 0 })
	switch {
	case len(stages) == 1:
		return stages[0], nil
	case len(stages) > 1:
		return nil, d.ambiguous(stages)
	case found > 0:
		return nil, fmt.Errorf("%s: no attempt succeeded", d.Name())
	case d.Job != "" && d.Stage != "":
		return nil, fmt.Errorf("%s: no stage %q of job %q in it", d.Name(), d.Stage, d.Job)
	case d.Job != "":
		return nil, fmt.Errorf("%s: no job %q in it", d.Name(), d.Job)
	case d.Stage != "":
		return nil, fmt.Errorf("%s: no stage %q in it", d.Name(), d.Stage)
	}
	return nil, fmt.Errorf("%s: no durations in it", d.Name())
}

// ambiguous asks for a choice among stages, and names the largest.
func (d *Log) ambiguous(stages []*history.StageRecord) error {
	what, how := differ(stages)
	return fmt.Errorf("%s: has %d %s; choose one with %s: %s; to rank all: tailcut plan explain %s",
		d.Name(), len(stages), what, how, largest(stages, how), d.Path)
}

// differ says what stages are told apart by, and the flags for it.
func differ(stages []*history.StageRecord) (what, how string) {
	names := map[string]bool{}
	for _, s := range stages {
		names[s.Stage] = true
	}
	switch {
	case len(names) == 1:
		return "jobs", "--job"
	case len(names) < len(stages):
		return "stages", "--job and --stage"
	}
	return "stages", "--stage"
}

// largest lists the largest of the stages, called as the flags call them.
func largest(stages []*history.StageRecord, how string) string {
	slices.SortStableFunc(stages, func(a, b *history.StageRecord) int { return cmp.Compare(b.Tasks, a.Tasks) })
	var list []string
	for _, s := range stages[:min(len(stages), 5)] {
		id := map[string]string{"--stage": s.Stage, "--job": s.Job}[how]
		if id == "" {
			id = s.Title()
		}
		list = append(list, fmt.Sprintf("%s (%s)", id, show.Count(s.Tasks, "task")))
	}
	more := ""
	if len(stages) > len(list) {
		more = fmt.Sprintf(" and %d more", len(stages)-len(list))
	}
	return strings.Join(list, ", ") + more
}
