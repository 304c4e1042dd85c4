package main

import (
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tailcut/tailcut/internal/grammar"
	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/run"
)

// runLimits are the flags that say how much may run.
type runLimits struct {
	slots   slots
	timeout timeout
	memory  memory
	memfree memory
	load    load
	delay   delay
	nice    int
}

const (
	timeoutUsage = "an attempt that runs for a longer `time` fails: 10m, or 300% of the median of its stage"
	niceUsage    = "niceness of attempts, from 1 to 19: they let other programs go first"
)

// addLimits adds them. Those of the machine are the server's where there is one.
func (f *runFlags) addLimits(cmd *cobra.Command) {
	l := &f.limits
	group(cmd, "Limits", func(fl *pflag.FlagSet) {
		if isSubmit(cmd) {
			fl.Var(&l.timeout, "timeout", timeoutUsage)
			fl.Var(&l.memory, "memory", "`size` of memory per attempt, such as 2GiB: it starts when the server has that much; one that uses more fails")
			wholeVar(fl, &l.nice, "nice", 0, niceUsage)
			return
		}
		fl.VarP(&l.slots, "slots", "j", "concurrent attempts: `N`, 80%, +2 or -1 of the cores, or a number for each class such as map=4,shuffle=2 (default: all cores; 10 with --on kubernetes)")
		fl.Var(&l.timeout, "timeout", timeoutUsage)
		fl.Var(&l.memory, "memory", "`size` of memory per attempt, such as 2GiB: only as many start as fit; one that uses more fails")
		fl.Var(&l.memfree, "memfree", "start nothing while less memory than this `size` is free")
		fl.Var(&l.load, "load", "start nothing while `N` or more processes run or wait for a disk; 80% is of the cores")
		fl.Var(&l.delay, "delay", "`time` between the starts of two attempts, such as 0.5 or 2s")
		wholeVar(fl, &l.nice, "nice", 0, niceUsage)
		rare(fl, "memfree", "load", "delay", "nice")
	})
}

// into adds the limits to the options of a run.
func (l *runLimits) into(o *run.Options) {
	o.Slots, o.Classes, o.SlotsFile, o.SlotsOfPC = l.slots.N, l.slots.Classes, l.slots.File, l.slots.OfPC
	o.Timeout, o.Memory, o.Nice = jobfile.Timeout(l.timeout), int64(l.memory), l.nice
	o.MemFree, o.Load, o.Delay = int64(l.memfree), float64(l.load), time.Duration(l.delay)
}

// slots is a flag that says how many attempts run at once. Its zero value stands for the default.
type slots struct {
	run.Slots
	text string
}

func (s *slots) Type() string   { return "slots" }
func (s *slots) String() string { return s.text }
func (s *slots) Set(text string) (err error) {
	s.text = text
	s.Slots, err = run.ParseSlots(text)
	return err
}

// timeout is a flag that bounds attempts. Its zero value is no bound.
type timeout jobfile.Timeout

func (t *timeout) Type() string { return "time" }
func (t *timeout) String() string {
	if *t == (timeout{}) {
		return ""
	}
	return jobfile.Timeout(*t).String()
}
func (t *timeout) Set(text string) error { return (*jobfile.Timeout)(t).UnmarshalText([]byte(text)) }

// memory is a flag in bytes. Its zero value is no bound.
type memory int64

func (m *memory) Type() string { return "size" }
func (m *memory) String() string {
	if *m == 0 {
		return ""
	}
	return grammar.FormatSize(int64(*m))
}
func (m *memory) Set(text string) error {
	n, err := grammar.ParseSize(text)
	*m = memory(n)
	return err
}

// load is a flag in processes. Its zero value is no bound.
type load float64

func (x *load) Type() string { return "N" }
func (x *load) String() string {
	if *x == 0 {
		return ""
	}
	return strconv.FormatFloat(float64(*x), 'g', -1, 64)
}
func (x *load) Set(text string) error {
	n, err := run.ParseLoad(text)
	*x = load(n)
	return err
}

// delay is a flag that is a duration; a number alone is in seconds.
type delay time.Duration

func (d *delay) Type() string { return "time" }
func (d *delay) String() string {
	if *d == 0 {
		return ""
	}
	return time.Duration(*d).String()
}
func (d *delay) Set(text string) error {
	t, err := jobfile.ParseDuration(text)
	*d = delay(t)
	return err
}
