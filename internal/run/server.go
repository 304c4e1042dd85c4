package run

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/tailcut/tailcut/internal/disk"
	"github.com/tailcut/tailcut/internal/grammar"
	"github.com/tailcut/tailcut/internal/inputs"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/live/proc"
	"github.com/tailcut/tailcut/internal/mapreduce"
	"github.com/tailcut/tailcut/internal/past"
	"github.com/tailcut/tailcut/internal/promise"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// Server is what the jobs of a server have in common.
type Server struct {
	Dir     string // its folder, by which it is told from others
	Place   string // where it listens
	Version string
	Started time.Time // wall clock at second 0 of its engine
	Host    *proc.Host
	Memory  int64     // bytes that the attempts of all jobs may set aside together; 0 for no limit
	Log     io.Writer // gets warnings

	// As they are now; for summaries, and for the journals that ended jobs are left with.
	Policy   string
	Seed     uint64
	Limits   sched.Limits
	Machines []trace.JournalMachine
	Classes  []string // names of the classes of slots, by sched.Class; nil if all slots are alike

	Alive  func(run string) bool      // tells whether the job of a run is coming, or has not ended
	Coming func(run string, yes bool) // hears of jobs that are ready, or withdrawn; nil for nobody
	// Claims hears of folders before they are claimed, so that a crash loses none; nil for nobody.
	Claims  func(run, output string) error
	History past.History // takes in jobs that have ended; nil for nobody
	// Promises returns what a job was promised; nil for nothing.
	Promises func(sched.JobID) []promise.Promise
}

// engine settles what a submission asks for.
func (s *Server) engine(sub *Submission) (*Engine, error) {
	if err := sub.check(); err != nil {
		return nil, err
	}
	o := Options{
		Job: sub.Job, Dir: cmp.Or(sub.Dir, "/"), Slots: s.slots(), Seed: s.Seed, Limits: s.Limits,
		Priority: sub.Priority, Weight: sub.Weight, After: sub.After, Deadline: sub.Deadline, Value: sub.Value, Late: sub.Late, Law: sub.Law, Name: sub.Name, History: sub.History, Output: sub.Output,
		Timeout: sub.Timeout, Memory: sub.Memory, Nice: sub.Nice, MaxLine: sub.MaxLine, Notify: sub.Notify, Joblog: sub.Joblog, Stderr: sub.Stderr,
		Force: sub.Force, ResumeChanged: sub.ResumeChanged, Again: sub.Again, Version: s.Version, Log: s.Log,
	}
	var blocks *inputs.Blocks
	if p := o.Job.Piped(); p != nil && p.File == "" {
		if blocks = o.Job.Array.Stages[0].Blocks; blocks == nil || sub.Run == "" {
			return nil, Mistakes{{Field: "job", Problem: errors.New("expected standard input to be in the output folder, as 'tailcut submit --pipe' leaves it there")}}
		}
		o.Job = o.Job.WithBlocks(nil)
	}
	e, err := New(o)
	var wrong *grammar.FieldError
	if errors.As(err, &wrong) {
		return nil, Mistakes{wrong}
	}
	if err != nil {
		return nil, err
	}
	e.server, e.blocks, e.folders.Run, e.env = s, blocks, sub.Run, sub.Env
	e.Policy, e.odd = s.Policy, "" // it fits a server, and need not fit a run
	return e, s.checkMemory(e)
}

func (s *Server) slots() (n int) {
	for _, m := range s.Machines {
		n += m.Slots
	}
	return max(1, min(n, MostSlots))
}

// Prepare makes a job of a submission ready: it claims the output folder and cuts the input into tasks. What is wrong
// with the submission's fields are Mistakes; another error that is no Failure is the user's, too.
func (s *Server) Prepare(ctx context.Context, sub *Submission) (*Prepared, error) {
	e, err := s.engine(sub)
	if err != nil {
		return nil, err
	}
	if err := e.checkClasses(); err != nil {
		return nil, err
	}
	if err := e.checkJoblog(); err != nil {
		return nil, err
	}
	lock, err := e.take()
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	h, err := e.beginOrGoOn(ctx)
	if err != nil {
		return nil, err
	}
	e.waitForMemory(&h.Job)
	p, err := e.prepared(h, [][]byte{h.Work})
	if err != nil {
		return nil, err
	}
	classify(&h.Job, p.work(), s.Classes)
	p.submitted, h.Started = sub, s.Started
	s.coming(h.Run, true) // while the folder is locked
	if err := s.claim(p); err != nil {
		s.coming(h.Run, false)
		return nil, Failure{err}
	}
	return p, nil
}

// claim claims the folder of a job.
func (s *Server) claim(p *Prepared) error {
	if s.Claims != nil {
		if err := s.Claims(p.Header.Run, p.out); err != nil {
			return err
		}
	}
	return (&Claimed{Run: p.Header.Run, Server: s.Dir, Place: s.Place}).write(p.folders.Root)
}

func (s *Server) coming(run string, yes bool) {
	if s.Coming != nil {
		s.Coming(run, yes)
	}
}

// waitForMemory has the attempts wait that need memory, where a server has them wait for it.
func (e *Engine) waitForMemory(spec *sched.JobSpec) {
	for i, l := range e.limits(len(spec.Stages)) {
		spec.Stages[i].Waits = e.server.Memory > 0 && l.Memory > 0
	}
}

// checkMemory refuses an attempt that the server never has memory for.
func (s *Server) checkMemory(e *Engine) error {
	for _, l := range e.limits(e.stages()) {
		if s.Memory > 0 && l.Memory > s.Memory {
			return Mistakes{{Field: "memory", Problem: fmt.Errorf("%s for one attempt is more than the %s that the server gives to all", grammar.FormatSize(l.Memory), grammar.FormatSize(s.Memory))}}
		}
	}
	return nil
}

// JournalJob is what the engine of the server is given of a job.
func (p *Prepared) JournalJob() (*trace.JournalJob, error) {
	outline := *p.submitted
	outline.Job = p.job().Outline()
	asked, err := json.Marshal(&outline)
	if err != nil {
		return nil, err
	}
	h := p.Header
	j := &trace.JournalJob{
		Name: cmp.Or(p.o.Name, p.o.Job.Name), Run: h.Run, Submitted: time.Now(), Spec: h.Job, Tried: p.tried, Stages: h.Stages, Command: asked, Work: h.Work,
		Output: p.out,
	}
	j.Spec.Priority, j.Spec.Weight = p.o.Priority, p.o.Weight
	if l := p.o.Job.Loss; l != nil && l.Soon {
		after := l.Allowed(tasksOf(&h.Job))
		j.Halt = &after
	}
	return j, nil
}

// Withdraw gives the folder of a job back that was not taken in.
func (p *Prepared) Withdraw() {
	p.warn("the output folder is not given back", p.giveBack())
	p.server.coming(p.Header.Run, false)
}

// giveBack gives the folder of a job back of which nothing has run, and removes what was made for it. The lock keeps
// others from taking a folder that goes.
func (p *Prepared) giveBack() error {
	lock, err := proc.LockRun(p.folders)
	if errors.Is(err, fs.ErrNotExist) { // somebody has removed it
		return nil
	}
	if err != nil {
		return err
	}
	defer lock.Close()
	err = (&Claimed{}).release(p.folders.Root)
	if isMissing(p.folders.Journal()) {
		p.withdraw()
	}
	return err
}

// Reopen makes a job ready again that an engine has taken in, maybe long ago. The folder is not looked at.
func (s *Server) Reopen(j *trace.JournalJob) (*Prepared, error) {
	sub := &Submission{}
	if err := json.Unmarshal(j.Command, sub); err != nil {
		return nil, fmt.Errorf("job %s: %w", j.Name, err)
	}
	(&Request{Job: sub.Job}).recall(j.Work)
	e, err := s.engine(sub)
	if err != nil {
		return nil, err
	}
	e.folders.Run = j.Run
	asked, err := e.asked()
	if err != nil {
		return nil, err
	}
	p, err := e.prepared(&trace.JournalHeader{
		Version: s.Version, Run: j.Run, Started: s.Started, Policy: e.Policy, Seed: s.Seed, Limits: s.Limits, Machines: s.Machines,
		Job: j.Spec, Stages: j.Stages, Command: asked, Work: j.Work,
	}, [][]byte{j.Work})
	if err != nil {
		return nil, err
	}
	p.submitted = sub
	if j.Spec.Deadline > 0 {
		p.left = j.Spec.Deadline - sched.Time(j.Submitted.Sub(s.Started))
	}
	return p, nil
}

// mine tells whether the output folder is still the job's.
func (p *Prepared) mine() (bool, error) {
	c, err := ReadClaimed(p.folders.Root)
	return c != nil && c.Run == p.Header.Run && c.Server == p.server.Dir, err
}

// published tells whether the results of the job are in the output folder, as of one whose end an earlier server did
// not note.
func (p *Prepared) published() bool {
	if !p.complete() {
		return false
	}
	m, err := mapreduce.ReadManifest(p.manifest())
	return err == nil && m.Run == p.Header.Run
}

// published is the executor of a job whose results are: there is nothing to do.
type published struct{}

func (published) Start(live.Attempt)                {}
func (published) Kill(sched.AttemptID)              {}
func (published) Commit(live.Attempt, []byte) error { return nil }
func (published) Clean() error                      { return nil }
func (published) Reports() <-chan live.Report       { return nil }
func (published) Publish() error                    { return nil }
func (published) Close() error                      { return nil }

// takeFolder locks the folder of a job that a server has, for as long as its executor is open.
func (p *Prepared) takeFolder() error {
	switch mine, err := p.mine(); {
	case err != nil:
		return Failure{err}
	case !mine:
		return Failure{p.gone()}
	}
	lock, err := proc.LockRun(p.folders)
	if err != nil {
		return Failure{err}
	}
	p.lock = lock
	return nil
}

// gone says that a job has lost its folder.
func (p *Prepared) gone() error {
	why := "was taken away from the job, by --force or by hand"
	if isMissing(p.folders.Root) {
		why = "was removed before the job was over"
	}
	return &proc.Gone{Why: fmt.Sprintf("%s: the folder %s; submit the same again", p.out, why)}
}

// Lasting tells whether results that could not be published never will be: there is nothing to wait for.
func Lasting(err error) bool {
	return errors.As(err, new(*proc.Gone)) || errors.Is(err, fs.ErrNotExist)
}

// Finish tidies up after a job of a server that is over and whose executor is closed, leaves in the folder what that of
// a run has, tells those who want to know, and gives the folder back. It can be repeated.
func (p *Prepared) Finish(ctx context.Context, over *live.Over) (*Result, error) {
	defer p.letGo()
	c := p.courseOver(over)
	mine, err := p.mine()
	if err != nil {
		return nil, err
	}
	if !mine && !p.lost(over) { // the second time, and the folder may be another's by now
		return p.resultOf(c), nil
	}
	p.warn("not all that was started has ended", over.Ended)
	res, failed := p.outcome(ctx, over, c)
	if !mine {
		failed = Failure{p.gone()}
		res.Error = failed.Error()
	}
	begun := c.Attempts > 0
	if begun && mine {
		if err := p.leave(over); err != nil {
			return nil, Failure{err}
		}
	}
	if p.news == nil {
		var err error
		p.news, err = p.newNews()
		p.warn("nobody is notified", err)
	}
	p.news.ended(ctx, standingAtEnd(c.Summary), res, failed)
	p.warn("the job is not in the history", p.keepServed(ctx, over, c))
	if !mine {
		return res, nil
	}
	if !begun && p.exec == nil { // nothing is to be gone on with
		p.letGo()
		return res, p.giveBack()
	}
	return res, (&Claimed{}).release(p.folders.Root)
}

// lost tells whether a job has failed because its folder is not its own any more.
func (p *Prepared) lost(over *live.Over) bool {
	switch removed := isMissing(p.folders.Root); over.State {
	case sched.JobSucceeded:
		return over.Failure != nil && Lasting(over.Failure)
	case sched.JobStopped: // else it gave the folder back, and the server was killed before it could say so
		return over.Failure != nil && removed
	default:
		return removed
	}
}

// outcome is what came of a job, and why it is none.
func (p *Prepared) outcome(ctx context.Context, over *live.Over, c *course) (*Result, error) {
	if over.Failure == nil {
		return p.finish(ctx, c)
	}
	failed := over.Failure
	if Full(failed) {
		failed = fmt.Errorf("%w; make room on the disk of %s and submit the same again: finished tasks are kept", failed, p.out)
	}
	c.State = "failed"
	res := p.resultOf(c)
	res.Error = failed.Error()
	return res, Failure{failed}
}

// leave leaves a journal of the job in its folder, for who looks there and for a run that goes on.
func (p *Prepared) leave(over *live.Over) error {
	c, err := ReadClaimed(p.folders.Root)
	if err != nil {
		return err
	}
	half := p.folders.Journal() + ".left"
	if !c.Left { // else the journal in place may be what the job leaves
		if err := p.writeLeft(half, over); err != nil {
			return err
		}
		c.Left = true
		if err := c.write(p.folders.Root); err != nil {
			return err
		}
	}
	if err := os.Rename(half, p.folders.Journal()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return disk.SyncFolder(p.folders.Root)
}

// writeLeft writes the journal that the job leaves, with its attempts before its submission.
func (p *Prepared) writeLeft(path string, over *live.Over) (err error) {
	if p.past == nil {
		if p.past, err = p.before(); err != nil {
			return err
		}
	}
	h := *p.Header
	if h.Started = over.Job.Submitted; len(p.past.Records) > 0 {
		h.Started = p.past.begun
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return over.Leave(path, &h, p.past.Lived)
}

// letGo closes what is open of a job.
func (p *Prepared) letGo() {
	p.warn("the log of attempts is not whole", p.hear(nil, func(*live.Record) {}).close())
	if p.lock != nil {
		p.lock.Close()
		p.lock = nil
	}
}

// host is what the executors of a server share; nil for a run of its own.
func (p *Prepared) host() *proc.Host {
	if p.server == nil {
		return nil
	}
	return p.server.Host
}
