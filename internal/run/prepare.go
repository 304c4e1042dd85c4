package run

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/live/proc"
	"github.com/tailcut/tailcut/internal/live/remote"
	"github.com/tailcut/tailcut/internal/past"
	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// Prepared is a job made ready: its folder is claimed and its input cut into tasks. Whoever drives it, one run or a
// server that has many, opens its executor, tells it what happens, and lets it finish.
type Prepared struct {
	*Engine
	Header *trace.JournalHeader // of its journal, as if it were alone

	works     []*jobfile.Work // what attempts did, and do now: the last
	left      sched.Time      // from the start, or the submission, to the deadline; 0 without one
	foresight foresight
	news      *news // nil if nobody wants any

	// An executor is opened beside the loop, which meanwhile tells of attempts that were never begun.
	ears sync.Mutex
	log  *joblog
	told func(*live.Record) // tells the executor of attempts that have ended

	// Of a job of a server.
	submitted *Submission
	exec      *proc.Executor // once it was opened
	past      *earlier       // nil until the executor is opened
}

// begin makes a new job ready, in a folder that is claimed.
func (e *Engine) begin(ctx context.Context) (*trace.JournalHeader, error) {
	if err := e.spoolAs(ctx, newRunName()); err != nil {
		return nil, err
	}
	plan, err := e.plan(ctx)
	if err != nil {
		e.withdraw()
		return nil, err
	}
	work, err := json.Marshal(plan.Work)
	if err != nil {
		return nil, err
	}
	asked, err := e.asked()
	if err != nil {
		return nil, err
	}
	return &trace.JournalHeader{
		Version: e.o.Version, Run: e.folders.Run, Started: time.Now(), Policy: e.Policy, Seed: e.Seed, Limits: e.Limits, Waits: plan.Waits,
		Machines: e.machines(), ClassNames: e.classes(), Network: e.sites.network(),
		Job: plan.Spec, Stages: plan.Stages, Command: asked, Work: work,
	}, nil
}

// spoolAs gives the run its name, clears the folder of other runs, and keeps standard input there. A client of a server
// has done so before the server begins.
func (e *Engine) spoolAs(ctx context.Context, name string) error {
	if e.folders.Run != "" {
		return nil
	}
	if err := e.folders.Retire(); err != nil {
		return Failure{err}
	}
	e.folders.Run = name
	err := e.spool(ctx)
	if err != nil {
		e.withdraw()
	}
	return err
}

// asked is what was asked for, as journals keep it.
func (e *Engine) asked() ([]byte, error) { return json.Marshal(e.Request.outline()) }

// plan cuts the job into tasks, and adds what is known of their durations. Attempts that run no commands work in the
// root folder.
func (e *Engine) plan(ctx context.Context) (*jobfile.Plan, error) {
	if err := e.checkClasses(); err != nil {
		return nil, err
	}
	p, err := e.cut(ctx)
	if err != nil {
		return nil, err
	}
	classify(&p.Spec, p.Work, e.classes())
	p.Spec.MaxFailed = e.mayFail(&p.Spec)
	if err := e.sites.place(ctx, p, e.Whereabouts, e.Seed); err != nil {
		return p, err
	}
	p.Spec.Value, p.Spec.Late = e.Value, e.Late
	if e.Deadline != "" {
		if p.Spec.Deadline, err = deadlineAt(e.Deadline, time.Now()); err != nil {
			return nil, fmt.Errorf("--deadline: %w", err)
		}
	}
	return p, e.estimate(ctx, p)
}

// estimate adds what a law or earlier runs of the name say of durations. A history that cannot be read stops what was
// promised by it.
func (e *Engine) estimate(ctx context.Context, p *jobfile.Plan) error {
	if e.Law != "" {
		return byLaw(&p.Spec, e.Law)
	}
	if e.history == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, past.Soon)
	defer cancel()
	kept, err := past.ReadFile(ctx, e.history)
	if err != nil && e.Deadline != "" {
		return err
	} else if err != nil {
		e.warn("the policy is not told how long earlier runs took", err)
		return nil
	}
	for i, name := range p.Stages {
		st := &p.Spec.Stages[i]
		st.Mean, st.SD = kept.EstimateFor(name, st.Tasks, p.Work.InputBytes())
	}
	return nil
}

// lawEnd is where a law is cut off whose mean or standard deviation is infinite: no policy reckons with those.
const lawEnd = 0.999

// byLaw adds what a law says to all stages: its mean and its standard deviation.
func byLaw(spec *sched.JobSpec, law string) error {
	l, err := laws.Parse(law)
	if err == nil && math.IsInf(laws.StdDev(l), 1) {
		l, err = laws.Truncate(l, 0, l.Quantile(lawEnd))
	}
	if err != nil {
		return Mistakes{{Field: "law", Problem: err}}
	}
	for i := range spec.Stages {
		spec.Stages[i].Mean, spec.Stages[i].SD = sched.FromSeconds(l.Mean()), sched.FromSeconds(laws.StdDev(l))
	}
	return nil
}

// cut cuts the job into tasks where its input can be read.
func (e *Engine) cut(ctx context.Context) (*jobfile.Plan, error) {
	if e.cloud != nil {
		p, err := e.cloud.Plan()
		return p, theirs(err)
	}
	if err := e.checkFolders(); err != nil {
		return nil, err
	}
	job := e.job()
	if job.MapReduce != nil {
		apart, err := e.sites.apart(ctx)
		if err != nil {
			return nil, err
		}
		with := *job.MapReduce
		with.Shuffle, with.Apart, job.MapReduce = with.Shuffle || e.shuffles(), apart, &with
	}
	return job.Plan(ctx, cmp.Or(e.Dir, "/"))
}

// prepared is the job of a header, whose attempts did and do these works.
func (e *Engine) prepared(h *trace.JournalHeader, works [][]byte) (*Prepared, error) {
	p := &Prepared{Engine: e, Header: h, left: h.Job.Deadline, told: func(*live.Record) {}}
	for _, text := range works {
		w := &jobfile.Work{}
		if err := json.Unmarshal(text, w); err != nil {
			return nil, fmt.Errorf("%s: work: %w", e.folders.Journal(), err)
		}
		p.works = append(p.works, w)
	}
	if mr := p.work().MapReduce; mr != nil {
		mr.MaxLine = e.o.MaxLine // may be another when the run is taken up
	}
	var err error
	p.foresight, err = newForesight(e.Law)
	return p, err
}

// work is what attempts do now.
func (p *Prepared) work() *jobfile.Work { return p.works[len(p.works)-1] }

// Open returns what starts the attempts of the job, and opens its log of attempts.
func (p *Prepared) Open() (executor live.Executor, err error) {
	if p.server != nil {
		if p.published() {
			return published{}, nil
		}
		p.letGo() // of what an executor had whose results could not be published
		if err := p.takeFolder(); err != nil {
			return nil, err
		}
	}
	log, err := openJoblog(p.o.Joblog, p.works, p.Header)
	if err != nil {
		return nil, err
	}
	if executor, err = p.executor(); err != nil {
		return nil, errors.Join(err, log.close())
	}
	p.hear(log, teller(executor))
	if p.server != nil {
		if err := p.goOn(executor); err != nil {
			return nil, err
		}
	}
	return executor, nil
}

func (p *Prepared) executor() (live.Executor, error) {
	stages := len(p.Header.Stages)
	if p.cloud != nil {
		return p.cloud, theirs(p.cloud.Open(remote.Open{Run: p.Header.Run, Work: p.work(), Limits: p.limits(stages)}))
	}
	var err error
	p.exec, err = proc.New(proc.Config{
		Host: p.host(), Env: p.env, Folders: p.folders, Out: p.out, Work: p.work(), Works: p.works, Stages: stages, Run: p.Header.Run,
		Lock: p.lock, Limits: p.limits(stages), Disturb: p.disturb, Stderr: p.o.Stderr, Slower: p.sites.slower(p.Header), Measure: p.sites != nil,
	})
	if err != nil {
		return nil, Failure{err}
	}
	return p.exec, nil
}

// Tick takes notice of how the job stands, a few times a second, and tells those who want to know of it.
func (p *Prepared) Tick(v *sched.View, id sched.JobID) *Standing {
	atRisk := p.foresight.look(v, id)
	s := p.Standing(v, id)
	if atRisk {
		p.news.atRisk(s)
	}
	p.news.tick(s)
	return s
}

// hear says who is told of the ends of attempts, and returns the log that was told before.
func (p *Prepared) hear(log *joblog, told func(*live.Record)) (before *joblog) {
	p.ears.Lock()
	defer p.ears.Unlock()
	before, p.log, p.told = p.log, log, told
	return before
}

// Ended takes notice of the end of an attempt. It waits for no disk.
func (p *Prepared) Ended(r *live.Record, last live.Report) {
	p.ears.Lock()
	log, told := p.log, p.told
	p.ears.Unlock()
	told(r)
	log.ended(r, last)
}

// FailedLine is what is said of the end of an attempt while the job goes on; "" for nothing.
func (p *Prepared) FailedLine(r *live.Record, last live.Report) string {
	if r.End != live.Failed {
		return ""
	}
	return fmt.Sprintf("%s attempt %d failed: %s", taskName(p.Header.Stages, r), r.Number, last.Note)
}
