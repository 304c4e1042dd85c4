package live

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// hasty runs machines at a speed.
type hasty struct {
	nervous
	speed float64
}

func (*hasty) Paces() bool { return true }

func (p *hasty) Decide(v *sched.View, act *sched.Actions) {
	if err := act.Pace(p.speed); err != nil {
		panic(err)
	}
	p.nervous.Decide(v, act)
}

// A policy that sets the speed of machines is refused before anything is done, but what a simulation wrote down of it can be replayed.
func TestPaceRefused(t *testing.T) {
	path, h := journalPath(t), header(1, 0, 3)
	if _, err := Create(path, h, &hasty{}); !errors.Is(err, ErrPaces) {
		t.Errorf("Create: %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("there is a journal")
	}
	core, err := newCore(h, &hasty{speed: 1.5})
	if err != nil {
		t.Fatal(err)
	}
	j, err := trace.CreateJournal(path, h)
	if err != nil {
		t.Fatal(err)
	}
	b := trace.Batch{Facts: []sched.Event{{Kind: sched.MachineJoined}, {Kind: sched.JobArrived}}}
	if b.Decisions, err = core.Advance(0, b.Facts); err != nil || !slices.Contains(b.Decisions, sched.Decision{Kind: sched.Pace, Speed: 1.5}) {
		t.Fatalf("decisions %+v, %v", b.Decisions, err)
	}
	if err := errors.Join(j.Append(&b, false), j.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, func(*trace.JournalHeader) (sched.Policy, error) { return &hasty{}, nil }); !errors.Is(err, ErrPaces) {
		t.Errorf("Open: %v", err)
	}
	replay := func(speed float64) error {
		r, err := trace.OpenJournalReader(path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Replay(r, always(&hasty{speed: speed}), nil)
		return err
	}
	if err := replay(1.5); err != nil {
		t.Error(err)
	}
	if err := replay(2); err == nil || !strings.Contains(err.Error(), "the journal has pace 1.5, the replay pace 2") {
		t.Errorf("at another speed: %v", err)
	}
}
