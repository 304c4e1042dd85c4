package serve

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// DefaultPolicy is what a server decides by unless it is told otherwise: the job with the least left to do first,
// which keeps short jobs from waiting behind long ones, and clones only of tasks that take three times the median,
// which seldom does harm and needs no reports of progress.
const DefaultPolicy = "spark:order=srpt"

// FitPolicy returns the specification of a policy as a server uses it: on slots of several classes, or of one. The
// notice says what is left of a policy that lacks something here, "" for nothing.
func FitPolicy(spec string, classes int) (fitted, notice string, err error) {
	parts := strings.Split(cmp.Or(spec, DefaultPolicy), "/")
	for i, part := range parts {
		if part, err = policy.Live(part); err != nil {
			return "", "", err
		}
		odd, err := policy.Fit(part, policy.Place{Name: "a server", Jobs: true, Classes: classes > 1})
		if err != nil {
			return "", "", err
		}
		notice = cmp.Or(notice, odd)
		if parts[i], err = policy.Canonical(part); err != nil {
			return "", "", err
		}
	}
	fitted = strings.Join(parts, "/")
	p, err := policy.NewPerClass(fitted, 0, classes)
	if err != nil {
		return "", "", err
	}
	if sched.Paces(p) {
		return "", "", live.ErrPaces
	}
	return fitted, notice, nil
}

// policiesOf builds the policy of a journal, for the classes of slots that its machines have.
func policiesOf(h *trace.JournalHeader) (sched.Policy, error) {
	return policy.NewPerClass(h.Policy, h.Seed, h.Classes())
}

// ParseSlots reads how many slots a server has, 8 or map=4,shuffle=2, and returns the names of the classes and a
// machine for each.
func ParseSlots(text string) (classes []string, machines []trace.JournalMachine, err error) {
	for i, part := range strings.Split(text, ",") {
		class, number, named := strings.Cut(part, "=")
		if !named {
			class, number = "", part
		}
		n, err := strconv.Atoi(number)
		switch {
		case err != nil || n < 1 || n > mostSlots || named && class == "" || !named && strings.Contains(text, ","):
			return nil, nil, fmt.Errorf("expected a number from 1 to %d, or one for each class such as map=4,shuffle=2, not %q", mostSlots, text)
		case i == sched.Classes:
			return nil, nil, fmt.Errorf("expected at most %d classes of slots", sched.Classes)
		}
		for _, other := range classes {
			if other == class {
				return nil, nil, fmt.Errorf("class %s stands there twice", class)
			}
		}
		classes = append(classes, class)
		machines = append(machines, trace.JournalMachine{Name: cmp.Or(class, "local"), Class: sched.Class(i), Slots: n})
	}
	return classes, machines, nil
}

// mostSlots bounds the slots of a class.
const mostSlots = 1 << 16
