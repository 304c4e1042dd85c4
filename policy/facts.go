package policy

import (
	"cmp"
	"slices"
)

// Fact is a line about a policy for people who choose one.
type Fact struct{ Name, Text string }

// durations explains what Told returns.
var durations = map[string]string{
	"finished": "those of the stage that have won", "all": "all of the stage, running ones included",
	"known": "mean and deviation that the workload states, otherwise those of the attempts that have won",
}

// Facts describes a policy in a few lines, the same on its page and on the terminal.
func Facts(e *Entry) []Fact {
	told, _ := Told(e.Name) // of a name of the registry there is no error
	facts := []Fact{
		{"family", string(e.Family)}, {"clones", cmp.Or(e.Clones, "none")}, {"progress reports", reports(e)}, {"durations of attempts", durations[told]},
		{"idle slots", "may leave slots free while tasks wait"}, {"cost of an event", e.Cost}, {"source", e.Source},
	}
	if e.WorkConserving {
		facts[4].Text = "leaves no slot free while a task waits"
	}
	return slices.DeleteFunc(facts, func(f Fact) bool { return f.Text == "" })
}

// reports says whether a policy uses reports of progress.
func reports(e *Entry) string {
	switch {
	case e.Progress:
		return "decides by them"
	case e.ProgressIf != nil:
		return "used with some parameters"
	default:
		return "not used"
	}
}
