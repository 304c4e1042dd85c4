package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"

	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/sched"
)

// Peer is a program as the engine sees it. Once a run is open it implements live.Executor. It is for one goroutine.
type Peer struct {
	in      io.WriteCloser
	wait    func() error
	answers chan *answer
	reports chan live.Report
	gone    chan struct{} // closed when there are no more answers

	mu     sync.Mutex
	news   *sync.Cond    // of what follows
	queue  []live.Report // that the engine has not taken yet: it may be waiting for an answer
	broken error         // why there are no more answers
	seen   func(done, total int64)
}

var _ live.Executor = (*Peer)(nil)

// Start starts a program and tells it what is asked for. Its standard error is the caller's.
func Start(cmd *exec.Cmd, req *Request) (*Peer, error) {
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return connect(in, out, cmd.Wait, req)
}

// connect speaks to a program whose end wait waits for.
func connect(in io.WriteCloser, out io.Reader, wait func() error, req *Request) (*Peer, error) {
	p := &Peer{in: in, wait: wait, answers: make(chan *answer, 1), reports: make(chan live.Report, 1024), gone: make(chan struct{})}
	p.news = sync.NewCond(&p.mu)
	go p.listen(json.NewDecoder(out))
	go p.deliver()
	_, err := p.call(&call{Do: "request", Request: req})
	return p, err
}

// listen sorts answers from reports until the program says no more.
func (p *Peer) listen(from *json.Decoder) {
	defer close(p.gone)
	defer close(p.answers)
	for {
		a := &answer{}
		if err := from.Decode(a); err != nil {
			p.mu.Lock()
			p.broken = err
			p.mu.Unlock()
			p.news.Signal()
			return
		}
		if a.Seen != nil {
			p.mu.Lock()
			tell := p.seen
			p.mu.Unlock()
			if tell != nil {
				tell(a.Seen.Done, a.Seen.Total)
			}
			continue
		}
		if a.Report == nil {
			p.answers <- a
			continue
		}
		a.Report.At = withMonotonic(a.Report)
		p.mu.Lock()
		p.queue = append(p.queue, *a.Report)
		p.mu.Unlock()
		p.news.Signal()
	}
}

// withMonotonic returns when something was reported, with a monotonic reading: now, but an attempt may have begun some
// time ago.
func withMonotonic(r *live.Report) time.Time {
	now := time.Now()
	if r.Kind == sched.AttemptBegan {
		return now.Add(min(0, r.At.Sub(now)))
	}
	return now
}

// deliver hands reports to the engine.
func (p *Peer) deliver() {
	for {
		p.mu.Lock()
		for len(p.queue) == 0 && p.broken == nil {
			p.news.Wait()
		}
		some := p.queue
		p.queue = nil
		p.mu.Unlock()
		if len(some) == 0 {
			return
		}
		for _, r := range some {
			select {
			case p.reports <- r:
			case <-p.gone:
				return
			}
		}
	}
}

// Gone returns a channel that is closed when the program has ended or speaks no more.
func (p *Peer) Gone() <-chan struct{} { return p.gone }

// call says something and waits for the answer.
func (p *Peer) call(c *call) (*answer, error) {
	line, err := encode(c)
	if err == nil {
		_, err = p.in.Write(line)
	}
	if err != nil {
		return nil, Failure{p.why(err)}
	}
	a, ok := <-p.answers
	switch {
	case !ok:
		return nil, Failure{p.why(nil)}
	case a.Failed:
		return nil, Failure{errors.New(a.Error)}
	case a.Error != "":
		return nil, errors.New(a.Error)
	}
	return a, nil
}

// why tells why the program does not answer.
func (p *Peer) why(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken != nil && p.broken != io.EOF {
		err = p.broken
	}
	if err != nil {
		return fmt.Errorf("tailcut-cloud does not answer: %w", err)
	}
	return errors.New("tailcut-cloud exited")
}

// Plan cuts the job into tasks.
func (p *Peer) Plan() (*jobfile.Plan, error) {
	a, err := p.call(&call{Do: "plan"})
	if err != nil {
		return nil, err
	}
	if a.Plan == nil || a.Plan.Work == nil {
		return nil, Failure{errors.New("tailcut-cloud returned no plan")}
	}
	return a.Plan, nil
}

// Check finds out whether a run may have the output, and how far it is if it has it already.
func (p *Peer) Check(c Check) (Standing, error) {
	a, err := p.call(&call{Do: "check", Check: &c})
	if err != nil || a.Standing == nil {
		return Standing{}, err
	}
	return *a.Standing, nil
}

// Verify compares the result in the output with its manifest. How many bytes it has read it tells now and then; seen
// may be nil.
func (p *Peer) Verify(seen func(done, total int64)) (*Verified, error) {
	p.mu.Lock()
	p.seen = seen
	p.mu.Unlock()
	a, err := p.call(&call{Do: "verify"})
	if err == nil && a.Verified == nil {
		err = Failure{errors.New("tailcut-cloud did not return the result of the check")}
	}
	if err != nil {
		return nil, err
	}
	return a.Verified, nil
}

// Open takes up a run.
func (p *Peer) Open(o Open) error {
	_, err := p.call(&call{Do: "open", Open: &o})
	return err
}

// Tidy removes what a run needs no more that has succeeded and is not open, or closed again.
func (p *Peer) Tidy(run string) error {
	_, err := p.call(&call{Do: "tidy", Open: &Open{Run: run}})
	return err
}

// Hangup ends the program and all attempts, and waits for it.
func (p *Peer) Hangup() error {
	err := p.in.Close()
	for range p.answers { // there is no caller any more
	}
	return errors.Join(err, p.wait())
}

// Reports implements live.Executor.
func (p *Peer) Reports() <-chan live.Report { return p.reports }

// Start implements live.Executor. That the program is gone is told by the next call that can fail.
func (p *Peer) Start(a live.Attempt) { _, _ = p.call(&call{Do: "start", Attempt: &a}) }

// Kill implements live.Executor.
func (p *Peer) Kill(id sched.AttemptID) { _, _ = p.call(&call{Do: "kill", Kill: &id}) }

// Commit implements live.Executor. Programs keep outputs themselves.
func (p *Peer) Commit(a live.Attempt, _ []byte) error {
	_, err := p.call(&call{Do: "commit", Attempt: &a})
	return err
}

// Clean implements live.Executor.
func (p *Peer) Clean() error {
	_, err := p.call(&call{Do: "clean"})
	return err
}

// Publish implements live.Executor.
func (p *Peer) Publish() error {
	_, err := p.call(&call{Do: "publish"})
	return err
}

// Close implements live.Executor.
func (p *Peer) Close() error {
	_, err := p.call(&call{Do: "close"})
	return err
}
