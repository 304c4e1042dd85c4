package remote

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/sched"
)

// fake is a program that notes what it is told, and an executor that reports each attempt done as often as it is told to.
type fake struct {
	mu      sync.Mutex
	deeds   []string
	repeats int
	endless bool // a check of a result
	reports chan live.Report
}

func (f *fake) did(what string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.deeds = append(f.deeds, what)
}

func (f *fake) Plan(_ context.Context, r *Request) (*jobfile.Plan, error) {
	f.did("plan " + r.Output)
	return &jobfile.Plan{Spec: sched.JobSpec{Stages: []sched.StageSpec{{Tasks: 3}}}, Stages: []string{"x"}, Work: &jobfile.Work{Dir: r.Dir}}, nil
}

func (f *fake) Check(_ context.Context, _ *Request, c *Check) (Standing, error) {
	switch {
	case c.Force:
		return Standing{}, Fail(errors.New("the store is down"))
	case c.Run == "":
		return Standing{}, errors.New("it is taken")
	}
	return Standing{Claimed: true, Tidied: true}, nil
}

func (f *fake) Verify(ctx context.Context, r *Request, seen func(done, total int64)) (*Verified, error) {
	for i := range int64(1000) {
		seen(i, 1000)
	}
	if f.endless {
		<-ctx.Done()
		f.did("verify cut short")
		return nil, ctx.Err()
	}
	return &Verified{Run: "r", Parts: 3, Bytes: 1000, Mistakes: []Mistake{{"part-00001", "missing"}}}, nil
}

func (f *fake) Open(_ context.Context, _ *Request, o *Open) (live.Executor, error) {
	f.did("open " + o.Run + " " + o.Work.Dir)
	return f, nil
}

func (f *fake) Tidy(_ context.Context, _ *Request, run string) error {
	f.did("tidy " + run)
	return nil
}

func (f *fake) Start(a live.Attempt) {
	f.did("start")
	go func() {
		for range f.repeats {
			f.reports <- live.Report{Attempt: a.ID, Kind: sched.AttemptDone}
		}
		if a.Number > 0 {
			f.reports <- live.Report{Attempt: a.ID, Kind: sched.AttemptBegan, At: time.Now().Add(-time.Hour)}
			f.reports <- live.Report{Attempt: a.ID, Kind: sched.AttemptBegan, At: time.Now().Add(time.Hour)}
		}
	}()
}
func (f *fake) Kill(sched.AttemptID)              { f.did("kill") }
func (f *fake) Commit(live.Attempt, []byte) error { f.did("commit"); return nil }
func (f *fake) Clean() error                      { f.did("clean"); return nil }
func (f *fake) Publish() error                    { return errors.New("no room") }
func (f *fake) Close() error                      { f.did("close"); return nil }
func (f *fake) Reports() <-chan live.Report       { return f.reports }

// talk connects an engine with a program.
func talk(t *testing.T, f *fake) (*Peer, func() error) {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := Serve(t.Context(), f, inR, outW)
		outW.Close()
		ended <- err
	}()
	wait := func() error { return <-ended }
	p, err := connect(inW, outR, wait, &Request{Output: "s3://b/out", Dir: "/here"})
	if err != nil {
		t.Fatal(err)
	}
	return p, func() error { outR.Close(); inR.Close(); return nil }
}

// Every call arrives, its error comes back, and whose fault it is.
func TestCalls(t *testing.T) {
	f := &fake{repeats: 1, reports: make(chan live.Report)}
	p, _ := talk(t, f)
	plan, err := p.Plan()
	if err != nil || plan.Spec.Stages[0].Tasks != 3 || plan.Work.Dir != "/here" {
		t.Fatal(plan, err)
	}
	if err := p.Clean(); err == nil || !strings.Contains(err.Error(), "before a run is open") {
		t.Error("clean before open:", err)
	}
	var failed Failure
	if standing, err := p.Check(Check{Run: "r"}); err != nil || standing != (Standing{Claimed: true, Tidied: true}) {
		t.Error("check of its own:", standing, err)
	}
	told := 0
	v, err := p.Verify(func(done, total int64) { told++ })
	if d := cmp.Diff(&Verified{Run: "r", Parts: 3, Bytes: 1000, Mistakes: []Mistake{{"part-00001", "missing"}}}, v); err != nil || d != "" {
		t.Error("verify:", err, d)
	}
	if told < 1 || told > 100 { // the call takes less than 20 s
		t.Errorf("it is told %d times how far that is, want some five times a second", told)
	}
	if _, err := p.Check(Check{}); err == nil || err.Error() != "it is taken" || errors.As(err, &failed) {
		t.Error("check:", err)
	}
	if _, err := p.Check(Check{Force: true}); err == nil || err.Error() != "the store is down" || !errors.As(err, &failed) {
		t.Error("check with force:", err)
	}
	if err := p.Open(Open{Run: "r", Work: plan.Work}); err != nil {
		t.Fatal(err)
	}
	p.Start(live.Attempt{ID: 7})
	if r := <-p.Reports(); r.Attempt != 7 || r.Kind != sched.AttemptDone || time.Since(r.At) > time.Minute {
		t.Errorf("report %+v", r)
	}
	p.Kill(7)
	if err := errors.Join(p.Commit(live.Attempt{}, nil), p.Clean(), p.Tidy("r")); err != nil {
		t.Error(err)
	}
	if err := p.Publish(); err == nil || err.Error() != "no room" || !errors.As(err, &failed) {
		t.Error("publish:", err)
	}
	if err := errors.Join(p.Close(), p.Hangup()); err != nil {
		t.Error(err)
	}
	want := []string{"plan s3://b/out", "open r /here", "start", "kill", "commit", "clean", "tidy r", "close"}
	if d := cmp.Diff(want, f.deeds); d != "" {
		t.Errorf("deeds (-want +got):\n%s", d)
	}
}

// An engine that is busy asking does not keep the program from reporting, however much, and hears all of it.
func TestReportsWhileCalling(t *testing.T) {
	const starts, repeats = 50, 200
	f := &fake{repeats: repeats, reports: make(chan live.Report)}
	p, _ := talk(t, f)
	if err := p.Open(Open{Run: "r", Work: &jobfile.Work{}}); err != nil {
		t.Fatal(err)
	}
	for i := range starts {
		p.Start(live.Attempt{ID: sched.AttemptID(i)})
	}
	for range starts * repeats {
		<-p.Reports()
	}
	if err := p.Hangup(); err != nil {
		t.Error(err)
	}
	if last := f.deeds[len(f.deeds)-1]; last != "close" {
		t.Errorf("the last deed after the engine is gone is %s", last)
	}
}

// An engine that is gone while something is done for it needs it no more.
func TestEngineGone(t *testing.T) {
	f := &fake{endless: true, reports: make(chan live.Report)}
	p, _ := talk(t, f)
	begun, ended := make(chan struct{}), make(chan error)
	go func() {
		var once sync.Once
		_, err := p.Verify(func(int64, int64) { once.Do(func() { close(begun) }) })
		ended <- err
	}()
	<-begun
	if err := p.in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil {
		t.Error("the check has come to an end")
	}
	if d := cmp.Diff([]string{"verify cut short"}, f.deeds); d != "" {
		t.Errorf("deeds (-want +got):\n%s", d)
	}
}

// A program that ends is noticed, by who waits and by who asks.
func TestProgramEnds(t *testing.T) {
	p, end := talk(t, &fake{reports: make(chan live.Report)})
	if err := end(); err != nil {
		t.Fatal(err)
	}
	<-p.Gone()
	var failed Failure
	if err := p.Clean(); !errors.As(err, &failed) {
		t.Error(err)
	}
}

// No line makes the program panic.
func FuzzServe(f *testing.F) {
	f.Add(`{"do":"request","request":{}}` + "\n" + `{"do":"open","open":{"run":"r","work":{}}}` + "\n" + `{"do":"start","attempt":{}}{"do":"close"}`)
	f.Add(`{"do":"tidy"}`)
	f.Add(`{"do":"request","request":{}}{"do":"open","open":{}}{"do":"kill"}`)
	f.Fuzz(func(t *testing.T, text string) {
		_ = Serve(t.Context(), &fake{reports: make(chan live.Report)}, strings.NewReader(text), io.Discard)
	})
}

// When an attempt began may be some time ago, but not to come: clocks of nodes may be ahead.
func TestBeginnings(t *testing.T) {
	f := &fake{reports: make(chan live.Report)}
	p, _ := talk(t, f)
	if err := p.Open(Open{Run: "r", Work: &jobfile.Work{}}); err != nil {
		t.Fatal(err)
	}
	p.Start(live.Attempt{ID: 7, Number: 1})
	past, future := <-p.Reports(), <-p.Reports()
	if ago := time.Since(past.At); past.Kind != sched.AttemptBegan || ago < time.Hour || ago > time.Hour+time.Minute {
		t.Errorf("an hour ago is %v ago", ago)
	}
	if ago := time.Since(future.At); ago < 0 || ago > time.Minute {
		t.Errorf("in an hour is %v ago", ago)
	}
	if err := p.Hangup(); err != nil {
		t.Error(err)
	}
}
