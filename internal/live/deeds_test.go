package live

import (
	"context"
	"strings"
	"testing"
	"time"
)

// hang is a disk that does not answer until it is let go.
type hang struct {
	at   string // open, or a deed of an executor
	run  string // of the job on it
	free chan struct{}
}

func (h *hang) reach(run, at string) {
	if run == h.run && at == h.at {
		<-h.free
	}
}

// hung returns a farm in which job "bad" has its folder on a disk that hangs.
func hung(t *testing.T, at string, slots int) (*farm, *hang) {
	f, h := newFarm(t, slots), &hang{at: at, run: "bad"}
	f.fate = func(j *Job, a Attempt) fate { return fate{takes: 10 * ms, inline: at != "commit"} }
	f.broken = func(j *Job) error { h.reach(j.Run, "open"); return nil }
	f.harm = func(run, deed string) error { h.reach(run, deed); return nil }
	return f, h
}

// A disk that hangs holds up the job whose folder is there, wherever it hangs. Others come to their end, it can be
// cancelled, and when the disk answers it goes on where it was.
func TestHungDisk(t *testing.T) {
	for _, at := range []string{"open", "start", "commit", "publish"} {
		for _, cancelled := range []bool{false, true} {
			name := at
			if cancelled {
				name += ", cancelled"
			}
			t.Run(name, func(t *testing.T) {
				f, h := hung(t, at, 4)
				tale(t, f, func(t *testing.T) {
					h.free = make(chan struct{})
					ctx, cancel := context.WithCancel(t.Context())
					s := f.start(ctx)
					bad := s.submit(t, jobOf("bad", 3, 2))
					time.Sleep(ms)
					for _, run := range []string{"a", "b"} {
						s.submit(t, jobOf(run, 8, 1))
					}
					time.Sleep(time.Second)
					if got := s.states(t); got["a"] != "succeeded" || got["b"] != "succeeded" || got["bad"] != "running" {
						t.Errorf("%v", got)
					}
					want := "succeeded"
					if cancelled && at != "publish" {
						if err := s.Cancel(ctx, bad); err != nil {
							t.Error(err)
						}
						want = "cancelled"
						if got := s.states(t); got["bad"] != want {
							t.Errorf("cancelled, it is %v", got["bad"])
						}
						if o, _ := f.end("bad"); o != nil {
							t.Error("its end is told although its folder is not tidied up")
						}
						var left int
						if err := s.Look(ctx, func(x Sight) { left = s.live() }); err != nil || left > 0 {
							t.Errorf("%d slots are in use, %v", left, err)
						}
					}
					close(h.free)
					time.Sleep(time.Second)
					o, _ := f.end("bad")
					if got := s.states(t); got["bad"] != want || o == nil || o.Succeeded() != (want == "succeeded") || o.Failure != nil {
						t.Errorf("%v, %+v", got, o)
					}
					if n := len(f.disk("bad").result); want == "succeeded" && n != 5 {
						t.Errorf("%d results are published", n)
					}
					cancel()
					s.stop(t)
				})
			})
		}
	}
}

// An engine that is to end does not wait for ever for a disk that hangs: it says which job that is of. The next engine
// goes on with it.
func TestHungDiskAtTheEnd(t *testing.T) {
	for _, at := range []string{"open", "start", "commit", "publish"} {
		t.Run(at, func(t *testing.T) {
			f, h := hung(t, at, 4)
			tale(t, f, func(t *testing.T) {
				h.free = make(chan struct{})
				ctx, cancel := context.WithCancel(t.Context())
				s := f.start(ctx)
				s.submit(t, jobOf("bad", 3, 2))
				time.Sleep(time.Second)
				cancel()
				begun := time.Now()
				err := <-s.ended
				if took := time.Since(begun); took > patience+time.Second {
					t.Errorf("it took %v", took)
				}
				if err == nil || !strings.Contains(err.Error(), "job 0 (bad)") {
					t.Errorf("it ended with %v", err)
				}
				close(h.free)
				time.Sleep(time.Second)
				if o, _ := f.end("bad"); at != "publish" && o != nil {
					t.Errorf("%+v", o)
				}
				ctx, cancel = context.WithCancel(t.Context())
				s = f.start(ctx)
				time.Sleep(time.Second)
				o, _ := f.end("bad")
				if n := len(f.disk("bad").result); o == nil || !o.Succeeded() || n != 5 {
					t.Errorf("%d results, %+v", n, o)
				}
				cancel()
				s.stop(t)
			})
		})
	}
}
