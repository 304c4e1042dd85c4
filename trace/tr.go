package trace

import (
	"bufio"
	"fmt"
	"io"
	"strconv"

	"github.com/tailcut/tailcut/sched"
)

// The .tr format of the Hawk and Eagle schedulers: one job a line, blank-separated: the arrival, the number n of tasks, the mean of their durations,
// then n durations; times in seconds. A job is one stage.
//
// The mean is what a scheduler is told beforehand. The format has no standard deviation; the deviation of the durations on the line takes its place.

// trLine reads one job.
func (in *reader) trLine(text string) error {
	w := in.w
	rest := text
	arrival, err := in.trSeconds(&rest, 1, "arrival")
	if err != nil {
		return err
	}
	count := nextField(&rest)
	n, err := strconv.ParseUint(count, 10, 31)
	if err != nil || n == 0 {
		return in.wrong("2 (tasks)", fmt.Errorf("expected a whole number of at least 1, got %q", abridged(count)))
	}
	if err := in.room(int(n)); err != nil {
		return in.wrong("2 (tasks)", err)
	}
	mean, err := in.trSeconds(&rest, 3, "mean duration")
	if err != nil {
		return err
	}
	first := len(w.Durations)
	for i := range int(n) {
		if rest == "" {
			return in.wrong(strconv.Itoa(i+4), fmt.Errorf("expected %d durations as field 2 says, found %d", n, i))
		}
		d, err := in.trSeconds(&rest, i+4, "duration")
		if err != nil {
			return err
		}
		w.Durations = append(w.Durations, d)
	}
	if rest != "" {
		return in.wrong(strconv.FormatUint(n+4, 10), fmt.Errorf("expected the end of the line after %d durations, got %q", n, abridged(rest)))
	}
	_, sd := moments(w.Durations[first:])
	w.Jobs = append(w.Jobs, Job{Arrival: arrival, Number: in.line, FirstStage: uint32(len(w.Stages)), Stages: 1})
	w.Stages = append(w.Stages, Stage{FirstTask: uint32(first), Tasks: uint32(n), Law: -1, Mean: mean, SD: sd})
	return nil
}

// trSeconds reads the next field as a time.
func (in *reader) trSeconds(rest *string, number int, what string) (sched.Time, error) {
	t, err := parseSeconds(nextField(rest))
	if err != nil {
		return 0, in.wrong(fmt.Sprintf("%d (%s)", number, what), err)
	}
	return t, nil
}

// nextField cuts the first field off, and the blanks behind it.
func nextField(rest *string) string {
	s := *rest
	end := 0
	for end < len(s) && !blank(s[end]) {
		end++
	}
	next := end
	for next < len(s) && blank(s[next]) {
		next++
	}
	*rest = s[next:]
	return s[:end]
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

// WriteTR writes a workload as .tr lines, in order of arrival. It is an error if a job is more than one stage of recorded durations: several stages,
// priorities, weights and deadlines need JSON lines.
func WriteTR(out io.Writer, w *Workload) error {
	b := bufio.NewWriterSize(out, 1<<16)
	var line []byte
	for j := range w.Jobs {
		job := &w.Jobs[j]
		if reason := beyondTR(w, j); reason != "" {
			return fmt.Errorf("trace: job %d has %s, which a .tr line cannot hold; write JSON lines", job.Number, reason)
		}
		st := &w.StagesOf(j)[0]
		d := w.DurationsOf(st)
		mean := st.Mean
		if mean == 0 {
			mean, _ = moments(d)
		}
		line = appendSeconds(line[:0], job.Arrival)
		line = append(line, ' ')
		line = strconv.AppendInt(line, int64(st.Tasks), 10)
		line = append(line, ' ')
		line = appendSeconds(line, mean)
		for _, x := range d {
			line = append(line, ' ')
			line = appendSeconds(line, x)
		}
		line = append(line, '\n')
		if _, err := b.Write(line); err != nil {
			return fmt.Errorf("trace: %w", err)
		}
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	return nil
}

// beyondTR names the first property of a job that the format has no place for, "" if there is none.
func beyondTR(w *Workload, j int) string {
	job, stages := &w.Jobs[j], w.StagesOf(j)
	switch {
	case len(stages) != 1:
		return fmt.Sprintf("%d stages", len(stages))
	case stages[0].Tasks == 0:
		return "no tasks"
	case stages[0].Need != 0 && stages[0].Need != stages[0].Tasks:
		return "tasks that are not needed"
	case job.Deadline != 0:
		return "a deadline"
	case job.Priority != 0 || job.Weight != 0 && job.Weight != 1 || job.MinShare != 0:
		return "a priority or share"
	case job.Retries != 0 || stages[0].Resumable:
		return "retries or resumable tasks"
	}
	return ""
}
