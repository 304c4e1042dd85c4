package results

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tailcut/tailcut/internal/grammar"
)

// Choose returns the tasks that words name, in the order of stages and tasks; all for no words. A word is a stage, or
// tasks by their indices from 0, such as 3, 7-9 or 1,3,5-. In a run with results of several stages these stand behind
// the stage, as in map/7-9.
func (r *Run) Choose(words []string) ([]*Result, error) {
	chosen := make([]bool, len(r.Tasks))
	for _, word := range words {
		if err := r.choose(word, chosen); err != nil {
			return nil, err
		}
	}
	var all []*Result
	for i := range r.Tasks {
		if chosen[i] || len(words) == 0 {
			all = append(all, &r.Tasks[i])
		}
	}
	return all, nil
}

// span are indices of tasks, from and to inclusive.
type span struct{ from, to int }

// choose marks the tasks that one word names.
func (r *Run) choose(word string, chosen []bool) error {
	names := r.stagesWithTasks()
	stage, list, cut := "", word, false
	if i := strings.LastIndexByte(word, '/'); i >= 0 {
		stage, list, cut = word[:i], word[i+1:], true
	}
	spans, err := parseSpans(list)
	switch {
	case slices.Contains(names, word): // a whole stage
		stage, spans = word, []span{{0, math.MaxInt}}
	case cut && !slices.Contains(names, stage):
		return grammar.Unknown("stage", stage, names)
	case err != nil && !cut && len(names) > 1:
		return grammar.Unknown("stage", word, names)
	case err != nil:
		return fmt.Errorf("expected tasks such as 3, 7-9 or %s/3, not %q: %w", names[0], word, err)
	case !cut && len(names) > 1:
		return fmt.Errorf("%s: which stage's? the run has %s; write %s/%s", word, strings.Join(names, ", "), names[0], word)
	case !cut:
		stage = names[0]
	}
	for _, sp := range spans {
		found := false
		for i := range r.Tasks {
			t := &r.Tasks[i]
			if r.Stages[t.Stage] == stage && t.Index >= sp.from && t.Index <= sp.to {
				chosen[i], found = true, true
			}
		}
		if !found {
			return fmt.Errorf("%s: there is no such task; stage %s has tasks 0 to %d", word, stage, r.tasksOf(stage)-1)
		}
	}
	return nil
}

// stagesWithTasks returns the names of the stages whose results are the run's.
func (r *Run) stagesWithTasks() (names []string) {
	for i := range r.Tasks {
		if name := r.Stages[r.Tasks[i].Stage]; len(names) == 0 || names[len(names)-1] != name {
			names = append(names, name)
		}
	}
	return names
}

func (r *Run) tasksOf(stage string) (n int) {
	for i := range r.Tasks {
		if r.Stages[r.Tasks[i].Stage] == stage {
			n = max(n, r.Tasks[i].Index+1)
		}
	}
	return n
}

// parseSpans reads a list of indices: 3, 7-9, 5-, separated by commas.
func parseSpans(text string) (all []span, err error) {
	for item := range strings.SplitSeq(text, ",") {
		from, to, ranged := strings.Cut(item, "-")
		sp := span{to: math.MaxInt}
		if sp.from, err = parseIndex(from); err != nil {
			return nil, err
		}
		switch {
		case !ranged:
			sp.to = sp.from
		case to != "":
			if sp.to, err = parseIndex(to); err != nil {
				return nil, err
			}
		}
		if sp.to < sp.from {
			return nil, fmt.Errorf("%s ends before it begins", item)
		}
		all = append(all, sp)
	}
	return all, nil
}

func parseIndex(text string) (int, error) {
	if n, err := strconv.ParseUint(text, 10, 31); err == nil {
		return int(n), nil
	}
	return 0, fmt.Errorf("%q is no index of a task", text)
}
