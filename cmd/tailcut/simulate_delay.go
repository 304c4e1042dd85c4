package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/sched"
)

// settleDelay reads --launch-delay: a duration that every attempt takes, of which nobody is told, or a law.
func (f *simulateFlags) settleDelay() error {
	o := &f.options
	if d, err := time.ParseDuration(f.launchDelay); err == nil {
		if o.LaunchDelay = sched.Time(d); d < 0 {
			return fmt.Errorf("expected a duration of at least 0, not %v", d)
		}
		return nil
	}
	law, err := laws.Parse(f.launchDelay)
	switch {
	case err != nil:
		return fmt.Errorf("expected a duration such as 2s, or a law of seconds: %w", err)
	case f.cluster != nil:
		return errors.New("expected a duration, since --cluster has sites; attempts that fetch data have no law of delays")
	case law.Quantile(0) < 0:
		return fmt.Errorf("expected a law of at least 0 seconds, not from %v", law.Quantile(0))
	}
	o.Wait = law
	return nil
}

// delayLaw returns the law of launch delays for outputs, "" if there is none.
func (f *simulateFlags) delayLaw() string {
	if f.options.Wait == nil {
		return ""
	}
	return f.launchDelay
}

// printDelay says how long attempts wait.
func (s *simulation) printDelay(w io.Writer) {
	if s.delayLaw() != "" {
		fmt.Fprintf(w, "Launch delay: %s seconds before each attempt begins; policies are told when it does.\n", s.delayLaw())
	}
}
