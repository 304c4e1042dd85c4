package policy

import (
	"fmt"
	"strings"

	"github.com/tailcut/tailcut/sched"
)

// NewPerClass builds a policy for a cluster with so many classes of slots: from one specification, of which each class
// gets a policy of its own, or from one for each class, in their order, with "/" between them, such as fifo/fair.
// Without classes (0 or 1) it is New. A policy that sets the speed of the machines, which is one for all classes, is an
// error then.
func NewPerClass(spec string, seed uint64, classes int) (sched.Policy, error) {
	specs, err := splitClasses(spec, max(1, classes))
	if err != nil {
		return nil, err
	}
	all := make([]sched.Policy, len(specs))
	for k, s := range specs {
		if all[k], err = New(s, seed); err != nil {
			return nil, err
		}
		if len(specs) > 1 && sched.Paces(all[k]) {
			return nil, fmt.Errorf("%s sets the speed of all machines and cannot serve one of several classes of slots", s)
		}
	}
	if len(all) == 1 {
		return all[0], nil
	}
	return sched.PerClass(all...), nil
}

// ProgressPerClass tells whether one of the policies that NewPerClass would build uses progress, see UsesProgress, or
// returns its error.
func ProgressPerClass(spec string, classes int) (bool, error) {
	specs, err := splitClasses(spec, max(1, classes))
	progress := false
	for _, s := range specs {
		uses, err := UsesProgress(s)
		if err != nil {
			return false, err
		}
		progress = progress || uses
	}
	return progress, err
}

func splitClasses(spec string, classes int) ([]string, error) {
	specs := strings.Split(spec, "/")
	if len(specs) == 1 {
		for len(specs) < classes {
			specs = append(specs, spec)
		}
	}
	if len(specs) != classes {
		return nil, fmt.Errorf("%q: expected one policy, or one for each of %d classes of slots, got %d", spec, classes, len(specs))
	}
	return specs, nil
}
