package trace

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/tailcut/tailcut/sched"
)

// The .tr format of the Hawk and Eagle schedulers: one job a line, blank-separated: the arrival, the number n of tasks,
// the mean of their durations, then n durations; times in seconds. A job is one stage.
//
// The mean is what a scheduler is told beforehand. The format has no standard deviation; the deviation of the durations
// on the line takes its place. A mean of 0 beside durations that take time says nothing: theirs takes its place.

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
	own, sd := moments(w.Durations[first:])
	if mean == 0 {
		mean = own
	}
	w.Jobs = append(w.Jobs, JobRow{Arrival: arrival, Number: in.line, FirstStage: uint32(len(w.Stages)), Stages: 1})
	w.Stages = append(w.Stages, StageRow{FirstTask: uint32(first), Tasks: uint32(n), Law: -1, Mean: mean, SD: sd})
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

// WriteTR writes a workload as .tr lines, in order of arrival. A job of several stages becomes one bag of tasks, and a
// job without tasks is not written. What else the format has no place for is lost too; [Workload.Lost] tells
// beforehand.
func WriteTR(out io.Writer, w *Workload) error {
	b := bufio.NewWriterSize(out, 1<<16)
	var line []byte
	if !slices.ContainsFunc(w.Stages, func(st StageRow) bool { return st.Tasks > 0 }) {
		return errors.New("expected a task: a .tr file has no jobs without tasks")
	}
	for j := range w.Jobs {
		d := w.durationsOfJob(j)
		if len(d) == 0 {
			continue
		}
		mean := sched.Time(0)
		if stages := w.StagesOf(j); len(stages) == 1 {
			mean = stages[0].Mean
		}
		if mean == 0 {
			mean, _ = moments(d)
		}
		line = appendSeconds(line[:0], w.Jobs[j].Arrival)
		line = append(line, ' ')
		line = strconv.AppendInt(line, int64(len(d)), 10)
		line = append(line, ' ')
		line = appendSeconds(line, mean)
		for _, x := range d {
			line = append(line, ' ')
			line = appendSeconds(line, x)
		}
		line = append(line, '\n')
		if _, err := b.Write(line); err != nil {
			return err
		}
	}
	if err := b.Flush(); err != nil {
		return err
	}
	return nil
}

// durationsOfJob returns the durations of all tasks of job j. They are neighbours, unless its stages share theirs with
// others.
func (w *Workload) durationsOfJob(j int) []sched.Time {
	stages := w.StagesOf(j)
	if len(stages) == 0 {
		return nil
	}
	first, next := stages[0].FirstTask, stages[0].FirstTask
	for i := range stages {
		if stages[i].FirstTask != next {
			return w.gathered(stages)
		}
		next += stages[i].Tasks
	}
	return w.Durations[first:next]
}

func (w *Workload) gathered(stages []StageRow) (all []sched.Time) {
	for i := range stages {
		all = append(all, w.DurationsOf(&stages[i])...)
	}
	return all
}
