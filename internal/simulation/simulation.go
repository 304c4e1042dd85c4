// Package simulation compares policies on a workload. It takes a [Request], whose parts are written as in package
// grammar, and returns a [Result] for reports and programs.
//
// The simulator is package sim. This package adds a policy for each class of slots, the progress reports that each
// policy receives, deadlines, the bound of any policy, and the reports.
package simulation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tailcut/tailcut/internal/grammar"
	"github.com/tailcut/tailcut/internal/portfolio"
	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// Request is a question. A field that is left out has its default.
type Request struct {
	Workload *trace.Workload // Run gives it its classes of slots, and deadlines
	Policies []string        // specifications; A/B is a policy for each class of slots; default fifo
	Slot     string          // duration: slots of policies that decide by slots and do not say theirs
	Live     bool            // policies are as programs that run real tasks have them, see policy.Live
	Runs     int             // of each policy; default 1; with Until the most, default MostRuns
	Until    float64         // run until intervals are this share of the mean flow time or less; 0 for Runs runs
	Seed     uint64          // of run 0

	Machines int          // 1 to 2^24; unused with a Cluster
	Slots    string       // of a machine, see parseSlots; default 1; unused with a Cluster
	Cluster  *sim.Cluster // of several sites
	Speed    float64      // of the machines; default 1
	Failures string       // of machines, see sim.ParseFaults, or a file for sim.LoadOutages; default none
	Limits   sched.Limits // default sched.DefaultLimits

	Service       string  // how long attempts last, see sim.ParseService; default resample, or recorded with a Cluster
	LaunchDelay   string  // a duration, or a law of seconds; default 0s
	Overheads     string  // beside it, see sim.ParseOverheads; default none
	Progress      string  // that policies are told, see sim.ParseProgress; default Auto
	Noise         float64 // relative error of the remaining time that reports imply
	NoiseKind     string  // Independent, which is the default, or Persistent
	DeadlineSlack float64 // jobs without a deadline get so many times what they take alone; default none

	// What differs between repetitions: Luck, which is the default, NewWorkload, or Both. Redraw gives the workload of
	// a seed for the latter two; without it jobs are drawn from those of the workload, see trace.Workload.Resample.
	Replicate string
	Redraw    func(seed uint64) (*trace.Workload, error)

	// A duration: inputs move between the sites of the Cluster within it before their job, see sim.Cluster.PlaceData.
	// Default none.
	PlaceData string

	Origin   Origin // for the manifest
	NoTiming bool   // results have no wall time, so that the same request gives the same bytes

	Cut string // jobs that are left out of all figures, see CutUsage; default none
	By  string // what divides jobs into classes that have figures of their own, see ByUsage; default nothing

	Intervals bool // the report for people gets a table of all intervals

	Jobs io.Writer // gets a CSV line for each job of each run, in order; nil for none
	Tick func(tasks int)

	Watch sim.Watch // sees every step of the only run of the only policy; nil for nobody

	Warn func(field, text string) // is told before the runs of what may make them endless; nil for nobody
}

// Result is what came of a [Request].
type Result struct {
	*sim.Comparison
	Workload        *trace.Workload
	Policies        []string // as they were called
	Told            []string // by policy: what it was told of progress; "unused" if it does not use it
	Durations       []string // by policy: what it takes the durations of attempts from, see policy.Told
	Machines, Slots int      // Slots of all machines together
	LaunchDelay     string   // a span or a law of seconds; "" if none was asked for
	Failures        string   // of machines; "" if none were asked for
	Sizes           string   // of machines, if they differ; else ""
	Overheads       string   // as asked for; "" if none are
	Money           string   // the unit of the cluster's prices; "" if nothing has a price
	LowerBound      float64  // of the mean flow time of any policy in seconds; 0 if nothing is known
	Manifest        *Manifest
	Until           float64        // see Request
	NoTiming        bool           // see Request
	Intervals       bool           // the report for people has a table of all intervals
	told            bool           // policies, when attempts start after the launch delay
	uses            []bool         // by policy: progress
	draws           bool           // durations, failures or reports are drawn for all attempts, also for originals
	Portfolios      []*Portfolio   // by policy; nil for those that are none
	Cut             *CutFigures    // nil if none was asked for
	By              string         // see Request
	Classes         []string       // of jobs, see sim.Comparison.Class
	PlaceData       string         // see Request
	Placement       *sim.Placement // of data, before the jobs; nil if none was asked for
	hint            string         // of a warm-up that nobody asked to cut
}

func wrong(field, format string, args ...any) error {
	return grammar.Wrong(field, fmt.Errorf(format, args...))
}

// Auto is the default of Request.Progress: policies that use progress get reports, 20 in the mean task's duration.
const Auto = "auto"

// What differs between repetitions: the random draws of durations, failures and reports, the jobs, or both.
const (
	Luck        = "luck"
	NewWorkload = "workload"
	Both        = "both"
)

// Kinds of errors of reports: each report has one of its own, or all of an attempt's have the same.
const (
	Independent = "independent"
	Persistent  = "persistent"
)

// reportsPerTask is how many reports of an attempt there are by default, if it takes as long as the mean task.
const reportsPerTask = 20

// question is a request that has been read.
type question struct {
	*Request
	slots    slotsPerMachine
	drivers  bool // have slots that nobody asked for, and the last class
	options  sim.Options
	policies []sim.Candidate
	uses     []bool   // by policy: progress
	told     []string // by policy: what it is told of progress
	law      []string // by policy: what it takes durations from
	full     []string // by policy: it, with all its parameters
	pilots   pilots
	cut      cut
	by       *grouping
	lag      sched.Time // of PlaceData
	paces    bool       // one of the policies sets the speed of the machines, so that no bound is known
	loose    string     // the first policy that chooses no sites, and so may have no jobs whose data is not everywhere
}

// Check finds what is wrong with a request, but for its workload and what only fits others. What it returns is a
// [grammar.FieldError].
func (r *Request) Check() error {
	_, err := r.read()
	return err
}

// Run runs every policy as often as asked for; run k meets the same luck under each. It fails with a
// [grammar.FieldError], with [sim.ErrStuck], with the error of a write to Jobs, or if ctx is cancelled.
func (r *Request) Run(ctx context.Context) (*Result, error) {
	q, err := r.read()
	if err != nil {
		return nil, err
	}
	if r.Workload == nil {
		return nil, wrong("workload", "expected one")
	}
	hash := r.Workload.Hash()
	if err := q.fit(); err != nil {
		return nil, err
	}
	placement, err := q.place()
	if err != nil {
		return nil, err
	}
	r = q.Request
	bound, err := q.bound()
	if err != nil {
		return nil, err
	}
	e := sim.Experiment{Workload: r.Workload, Policies: q.policies, Runs: r.Runs, Options: q.options, SameLuck: r.Replicate == NewWorkload}
	if q.redraws() {
		e.Redraw = q.redraw
	}
	if err := q.decideCut(ctx, e); err != nil {
		return nil, err
	}
	compared, hint, err := q.runAll(ctx, &e)
	if err != nil {
		return nil, err
	}
	res := &Result{
		Comparison: compared, Workload: r.Workload, Told: q.told, Durations: q.law, Machines: r.Machines, Slots: q.slots.of(r.Machines), LowerBound: bound, uses: q.uses,
		Until: r.Until, Intervals: r.Intervals, NoTiming: r.NoTiming, draws: q.draws(), Cut: q.cut.figures(r.Workload), By: r.By, hint: hint,
		PlaceData: r.PlaceData, Placement: placement,
	}
	if !q.cut.none() {
		res.LowerBound = 0 // is of all jobs
	}
	if q.by != nil {
		res.Classes = q.by.labels
	}
	if q.options.Wait != nil || q.options.LaunchDelay > 0 {
		res.LaunchDelay, res.told = r.LaunchDelay, q.options.Wait != nil
	}
	if q.options.Faults != (sim.Faults{}) || len(q.options.Outages) > 0 {
		res.Failures = r.Failures
	}
	if q.slots.sizes != nil {
		res.Sizes = r.Slots
	}
	if q.options.Overheads != (sim.Overheads{}) {
		res.Overheads = r.Overheads
	}
	if r.Cluster != nil {
		res.Money = moneyOf(r.Cluster)
		res.Machines, res.Slots = r.Cluster.Machines(), r.Cluster.Slots()
	}
	for i := range q.policies {
		res.Policies = append(res.Policies, q.policies[i].Name)
	}
	res.Portfolios = q.pilots.all(len(q.policies))
	res.Manifest = q.manifest(hash, res.Runs, res.Machines, res.Slots)
	return res, nil
}

// read reads what can be read without the workload.
func (r *Request) read() (*question, error) {
	q := &question{Request: r, slots: slotsPerMachine{each: []int{1}}, options: sim.Options{
		Machines: r.Machines, Cluster: r.Cluster, Seed: r.Seed, Speed: r.Speed, Limits: r.Limits, Model: sim.Resample, Tick: r.Tick, Watch: r.Watch,
	}}
	if r.Cluster != nil {
		q.options.Machines, q.options.Model = r.Cluster.Machines(), sim.Intrinsic
	}
	o := &q.options
	if o.Speed == 0 {
		o.Speed = 1
	}
	if o.Limits == (sched.Limits{}) {
		o.Limits = sched.DefaultLimits()
	}
	switch {
	case r.Cluster != nil && o.Machines > 1<<24:
		return nil, wrong("cluster", "expected at most 2^24 machines")
	case o.Machines < 1 || o.Machines > 1<<24:
		return nil, wrong("machines", "expected a number between 1 and %d, not %d", 1<<24, o.Machines)
	case r.Runs < 0 || r.Runs > 1<<20:
		return nil, wrong("runs", "expected a number between 1 and %d, not %d", 1<<20, r.Runs)
	case r.Watch != nil && (r.Runs > 1 || len(r.Policies) > 1):
		return nil, wrong("attempts-out", "expected one policy and one repetition, got %d and %d", max(1, len(r.Policies)), max(1, r.Runs))
	case r.Replicate != "" && r.Replicate != Luck && r.Replicate != NewWorkload && r.Replicate != Both:
		return nil, wrong("replicate", "expected %s, %s or %s, not %q", Luck, NewWorkload, Both, r.Replicate)
	case !(r.Until >= 0) || r.Until >= 1:
		return nil, wrong("until", "expected a share between 0 and 100 %%, such as 2%%, not %v", r.Until)
	case !(r.Noise >= 0) || math.IsInf(r.Noise, 0):
		return nil, wrong("progress-noise", "expected a number of at least 0, not %v", r.Noise)
	case r.NoiseKind != "" && r.NoiseKind != Independent && r.NoiseKind != Persistent:
		return nil, wrong("progress-error", "expected %s or %s, not %q", Independent, Persistent, r.NoiseKind)
	case r.NoiseKind == Persistent && r.Noise == 0:
		return nil, wrong("progress-error", "expected --progress-noise beside it")
	case !(o.Speed > 0) || math.IsInf(o.Speed, 0):
		return nil, wrong("speed-factor", "expected a positive number, not %v", o.Speed)
	}
	if slot, err := time.ParseDuration(r.Slot); r.Slot != "" && (err != nil || slot < 0) {
		return nil, wrong("slot", "expected a duration such as 5s, not %q", r.Slot)
	}
	for _, part := range []struct {
		field, text string
		read        func(text string) error
	}{
		{"slots-per-machine", r.Slots, q.readSlots},
		{"launch-delay", r.LaunchDelay, q.readDelay},
		{"overheads", r.Overheads, func(text string) (err error) { o.Overheads, err = sim.ParseOverheads(text); return err }},
		{"failures", r.Failures, q.readFailures},
		{"service", r.Service, func(text string) (err error) { o.Model, err = sim.ParseService(text); return err }},
		{"progress", r.Progress, q.readProgress},
		{"cut", r.Cut, q.cut.read},
		{"place-data", r.PlaceData, q.readPlace},
		{"by", r.By, func(text string) (err error) { q.by, err = parseBy(text); return err }},
	} {
		if part.text == "" {
			continue
		}
		if err := part.read(part.text); err != nil {
			return nil, grammar.Wrong(part.field, err)
		}
	}
	q.drivers = r.Workload != nil && r.Cluster == nil && q.slots.drive(r.Workload, o.Machines)
	o.Progress.Noise, o.Progress.Persists = r.Noise, r.NoiseKind == Persistent
	o.Slots, o.More, o.Sizes = q.slots.each[0], q.slots.each[1:], q.slots.sizes
	specs := r.Policies
	if len(specs) == 0 {
		specs = []string{"fifo"}
	}
	for _, spec := range specs {
		if err := q.add(spec); err != nil {
			return nil, grammar.Wrong("policy", err)
		}
	}
	return q, nil
}

// draws tells whether something is drawn for each attempt or machine, so that no two runs are equal for certain.
func (q *question) draws() bool {
	o := &q.options
	name, _, _ := strings.Cut(q.Service, ":")
	return q.redraws() || q.Cluster != nil || name != "" && name != "resample" && name != "recorded" || o.Faults != (sim.Faults{}) || o.Wait != nil ||
		o.Overheads != (sim.Overheads{}) || q.Noise > 0 || o.Progress.Odd != (sim.Oddity{})
}

// tail is the exponent of the heaviest law that attempts last or wait by.
func (q *question) tail() float64 {
	tail := sim.ServiceTail(q.Service, q.Workload)
	if q.redraws() {
		tail = min(tail, sim.WorkloadTail(q.Workload))
	}
	if q.options.Wait != nil {
		tail = min(tail, laws.TailExponent(q.options.Wait))
	}
	return tail
}

// readFailures reads how machines fail by chance, or the file that says when.
func (q *question) readFailures(text string) (err error) {
	o := &q.options
	if text == "none" || strings.Contains(text, "=") {
		o.Faults, err = sim.ParseFaults(text)
	} else if o.Outages, err = sim.LoadOutages(text, o.Machines); errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("expected none, mtbf=SPAN,mttr=SPAN,rack=N, or a file: %w", err)
	}
	return err
}

func (q *question) readSlots(text string) (err error) {
	q.slots, err = parseSlots(text, q.options.Machines)
	return err
}

// readDelay reads a duration that every attempt takes, of which nobody is told, or a law.
func (q *question) readDelay(text string) error {
	o := &q.options
	if d, err := time.ParseDuration(text); err == nil {
		if o.LaunchDelay = sched.Time(d); d < 0 {
			return fmt.Errorf("expected a duration of at least 0, not %v", d)
		}
		return nil
	}
	law, err := laws.Parse(text)
	switch {
	case err != nil:
		return fmt.Errorf("expected a duration such as 2s, or a law of seconds: %w", err)
	case q.Cluster != nil:
		return errors.New("expected a duration; a law of delays does not work with the sites of --cluster")
	case law.Quantile(0) < 0:
		return fmt.Errorf("expected a law of at least 0 seconds, not from %v", law.Quantile(0))
	}
	o.Wait = law
	return nil
}

func (q *question) readProgress(text string) (err error) {
	if text != Auto {
		q.options.Progress, err = sim.ParseProgress(text)
		q.options.Progress.Loud = true
	}
	return err
}

// add adds a policy as the experiment needs it, or a portfolio. It is called what the user calls it.
func (q *question) add(given string) error {
	specs := portfolio.Split(given)
	var members []policyOf
	for _, spec := range specs {
		m, err := q.policyOf(spec)
		if err != nil {
			return err
		}
		members = append(members, m)
	}
	all := members[0]
	c := sim.Candidate{Name: given, New: all.make}
	if len(members) > 1 {
		if q.Cluster != nil || len(q.slots.each) > 1 {
			return fmt.Errorf("%s: expected one class of slots and no sites for a portfolio", given)
		}
		for _, m := range members[1:] {
			all.paces, all.uses, all.law = all.paces || m.paces, all.uses || m.uses, all.law+"+"+m.law
			all.full += "+" + m.full
		}
		if all.paces {
			return fmt.Errorf("%s: a policy that sets the speed of the machines cannot be one of several", given)
		}
		c.Steer = q.steered(len(q.policies), specs, members)
	}
	q.law = append(q.law, all.law)
	q.full = append(q.full, all.full)
	q.paces = q.paces || all.paces
	if q.loose == "" && !all.confines {
		q.loose = given
	}
	q.uses = append(q.uses, all.uses)
	q.policies = append(q.policies, c)
	return nil
}

// policyOf is what is to be known of a policy.
type policyOf struct {
	make  func(seed uint64) (sched.Policy, error)
	law   string // what it takes durations from
	full  string // it, with all its parameters
	uses  bool   // progress
	paces bool

	confines bool // see sched.Confiner
}

func (q *question) policyOf(given string) (p policyOf, err error) {
	specs := strings.Split(given, "/")
	for k := range specs {
		if q.Slot != "" {
			specs[k], err = policy.WithDefault(specs[k], "slot", q.Slot)
		}
		if q.Live && err == nil {
			specs[k], err = policy.Live(specs[k])
		}
		if err != nil {
			return p, err
		}
	}
	if p.law, err = policy.Told(strings.Join(specs, "/")); err != nil {
		return p, err
	}
	classes := len(q.slots.each)
	if q.drivers {
		if len(specs) == 1 {
			specs = slices.Repeat(specs, classes-1)
		}
		specs = append(specs, "fifo")
	}
	spec := strings.Join(specs, "/")
	if p.uses, err = policy.ProgressPerClass(spec, classes); err != nil {
		return p, err
	}
	built, err := policy.NewPerClass(spec, 0, classes)
	if err != nil {
		return p, err
	}
	p.paces, p.confines = sched.Paces(built), sched.Confines(built)
	p.full = fullOf(strings.Join(specs, "/"))
	p.make = func(seed uint64) (sched.Policy, error) {
		p, err := policy.NewPerClass(spec, seed, classes)
		if err == nil && q.Cluster != nil {
			policy.Tell(p, q.Cluster.Law) // for truth=true
		}
		return p, err
	}
	return p, nil
}

// fit fits question and workload to each other.
func (q *question) fit() error {
	w := q.Workload
	tasks, work := w.Slotted()
	mean := work / float64(max(1, tasks)) / q.options.Speed
	q.tell(mean)
	q.warn(mean)
	if q.Cluster != nil {
		if slices.Contains(w.Classes, trace.Driver) {
			return wrong("cluster", "%s has applications whose drivers take time between stages, and no site has drivers; use machines", w.Name)
		}
		if _, err := q.Cluster.Locate(w); err != nil {
			return grammar.Wrong("cluster", err)
		}
		if err := q.confine(w); err != nil {
			return err
		}
	}
	if err := q.cut.fit(w); err != nil {
		return grammar.Wrong("cut", err)
	}
	if err := q.by.fit(w); err != nil {
		return grammar.Wrong("by", err)
	}
	return q.fitWorkload(w)
}

// confine finds a policy that may not have jobs whose data may not be everywhere.
func (q *question) confine(w *trace.Workload) error {
	if len(w.Rules) == 0 || q.loose == "" {
		return nil
	}
	return grammar.Wrong("policy", policy.Unconfined(q.loose, w.Name))
}

// fitWorkload gives a workload its classes of slots, and deadlines.
func (q *question) fitWorkload(w *trace.Workload) error {
	if err := w.SetClasses(q.slots.names); err != nil {
		return grammar.Wrong("slots-per-machine", err)
	}
	if q.DeadlineSlack != 0 {
		if err := w.SetDeadlines(q.DeadlineSlack); err != nil {
			return grammar.Wrong("deadline-slack", err)
		}
	}
	return checkLate(w)
}

// checkLate refuses jobs that say what becomes of them after a deadline, if none has one.
func checkLate(w *trace.Workload) error {
	late := slices.ContainsFunc(w.Jobs, func(j trace.JobRow) bool { return j.Late != sched.Late{} })
	if late && !slices.ContainsFunc(w.Jobs, func(j trace.JobRow) bool { return j.Deadline > 0 }) {
		return fmt.Errorf("%s: late: no job has a deadline; add a deadline to the workload, or --deadline-slack", w.Name)
	}
	return nil
}

// tell says what each policy is told of progress if the mean task lasts so many seconds. All that use it are told the
// same; the others would not look at it.
func (q *question) tell(mean float64) {
	said := q.Progress
	silent, all := q.silent()
	switch _, err := time.ParseDuration(strings.TrimSpace(said)); {
	case (said == "" || said == Auto) && silent > 0 && silent == all:
		said = "none"
	case said == "" || said == Auto:
		every := sched.FromSeconds(max(1e-3, math.Round(mean/reportsPerTask*1e3)/1e3))
		for i := range q.policies {
			if q.uses[i] {
				q.policies[i].Every = every
			}
		}
		if said = "every " + every.String(); silent > 0 {
			said += fmt.Sprintf(", none from %d of %d stages", silent, all)
		}
	case err == nil:
		said = "every " + q.options.Progress.Every.String()
	}
	if q.Noise > 0 && said != "none" {
		said += fmt.Sprintf(", with errors of %s %%, %s", show.Number(100*q.Noise), cmp.Or(q.NoiseKind, Independent))
	}
	for _, uses := range q.uses {
		told := said
		if !uses && said != "none" {
			told = "unused"
		}
		q.told = append(q.told, told)
	}
}

// silent returns how many stages report nothing, of all but what drivers did.
func (q *question) silent() (silent, all int) {
	for i := range q.Workload.Stages {
		st := &q.Workload.Stages[i]
		if len(q.Workload.Classes) > 0 && q.Workload.Classes[st.Class] == trace.Driver {
			continue
		}
		if all++; st.Silent {
			silent++
		}
	}
	return silent, all
}

// warn tells of machines that fail so often that hardly a task is done before: an attempt of d seconds lives with
// probability exp(-d/mtbf), so that the simulation may never end.
func (q *question) warn(mean float64) {
	const often = 10
	if mtbf := q.options.Faults.MTBF.Seconds(); q.Warn != nil && mtbf > 0 && mean > often*mtbf {
		q.Warn("failures", fmt.Sprintf("a machine fails %s times on average during a mean task of %s; "+
			"few attempts will finish, and the simulation may never end", show.Number(mean/mtbf), show.Seconds(mean)))
	}
}
