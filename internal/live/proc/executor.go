package proc

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/tailcut/tailcut/internal/disk"
	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/mapreduce"
	"github.com/tailcut/tailcut/internal/strides"
	"github.com/tailcut/tailcut/sched"
)

// Config describes an executor.
type Config struct {
	Folders Folders
	Out     string // where results are published
	Work    *jobfile.Work
	Works   []*jobfile.Work // what attempts did earlier in the run, and do now; nil if that is the same
	Stages  int
	Lock    *os.File         // of the run's folder, from LockRun; nil if nobody else can come to work there
	Run     string           // unique name of the run, found in the environment of all its processes
	Limits  []jobfile.Limits // of the stages; those that are missing have none
	Disturb Disturb
	Stderr  StderrKept // "" for KeepFailed

	Host *Host    // that starts the processes, for as long as the executor is open; nil for one of its own
	Env  []string // NAME=value, that all attempts find in theirs; nil for this program's

	// Slower tells how many times longer an attempt computes for the place where it is, at least 1; nil where all
	// places are alike.
	Slower func(live.Attempt) float64
	// Measure has the reports of all attempts that are done say how much is read of their results, and not those alone
	// that write for a shuffle.
	Measure bool
}

// Executor runs attempts as processes. It implements live.Executor.
type Executor struct {
	cfg     Config
	work    work
	host    *Host
	tag     string // with which TAILCUT_RUN of this executor's processes begins: RUN, and the host's
	env     environment
	threads int            // that an attempt is expected to need
	workers sync.WaitGroup // one per attempt

	spares spares
	feeds  feeds
	saves  saves
	limits limits
	inline []bool // by stage: small outputs go into the journal
	won    winners

	resumable []bool // by stage: attempts can go on from what others have saved

	paths map[string]string // of programs that were looked up; the keeper's

	logs *logs

	patience time.Duration // that Close has with what was killed

	mu    sync.Mutex
	procs map[sched.AttemptID]*process
	left  int // bytes of output that may still go into the journal
}

var _ live.Executor = (*Executor)(nil)

// New ends what an earlier engine of the run has left and makes ready to start attempts. A run that has no folder yet
// had no engine.
func New(cfg Config) (*Executor, error) {
	if _, err := os.Lstat(cfg.Folders.attempts()); err == nil {
		sweep(cfg.Run)
	}
	_, unsaved := os.Lstat(cfg.Folders.allSaved())
	if err := cfg.Folders.create(cfg.Stages); err != nil {
		return nil, err
	}
	e := &Executor{
		cfg: cfg, work: work{cfg.Work}, host: cfg.Host, threads: threadsOfArray, procs: map[sched.AttemptID]*process{}, paths: map[string]string{},
		limits: newLimits(cfg.Limits, cfg.Stages), won: make(winners, cfg.Stages), resumable: work{cfg.Work}.resumable(cfg.Stages), saves: saves{folders: cfg.Folders, tasks: map[[2]int]map[place]*strides.Stride{}},
		inline: work{cfg.Work}.inline(cfg.Stages), left: inlineTotal, spares: spares{root: cfg.Folders.attempts()}, patience: 5 * time.Second,
	}
	e.saves.left = unsaved == nil
	if e.host == nil {
		var err error
		if e.host, err = newHost(cfg.Run); err != nil {
			return nil, err
		}
	}
	if cfg.Env == nil {
		cfg.Env = os.Environ()
	}
	if cfg.Work.MapReduce != nil {
		e.threads = threadsOfAttempt
	}
	e.tag, e.env, e.spares.held = cfg.Run+"/"+e.host.tag, newEnvironment(cfg.Env), e.held
	e.logs = e.serveLogs()
	if e.limits.watched() {
		e.host.watch.add(e)
	}
	return e, nil
}

// Reports returns the channel of reports, which is the host's.
func (e *Executor) Reports() <-chan live.Report { return e.host.Reports() }

// Start lets the attempt begin its life. What is made for it in folders is made here, and not by the keeper, which a
// disk that hangs must not hold up.
func (e *Executor) Start(a live.Attempt) {
	p := &process{of: e, attempt: a, dir: e.cfg.Folders.Attempt(a), fate: e.cfg.Disturb.fate(a), ended: make(chan struct{}), most: e.cfg.Stderr.mostOf()}
	if e.cfg.Slower != nil {
		p.fate.factor *= e.cfg.Slower(a)
	}
	e.mu.Lock()
	e.procs[a.ID] = p
	e.mu.Unlock()
	e.workers.Add(1)
	p.unready = e.prepare(p)
	e.host.keeper.order(func() { e.enter(p) })
}

// Kill ends an attempt. Its folder is removed once nothing of it runs.
func (e *Executor) Kill(id sched.AttemptID) {
	e.mu.Lock()
	p := e.procs[id]
	e.mu.Unlock()
	if p != nil {
		p.kill(byEngine)
		e.passOver(e.need(p) > 0)
	}
}

// passOver lets go of attempts that were killed while they waited for memory, if there may be any.
func (e *Executor) passOver(any bool) {
	if any {
		e.host.keeper.order(e.host.ledger.serve)
	}
}

// Commit renames the attempt's folder to its task's, or keeps an output that the journal has until it is published.
func (e *Executor) Commit(a live.Attempt, output []byte) error {
	e.won.add(a, output)
	if e.resumable[a.Stage] && e.saves.drop(a.Stage, a.Index) {
		if err := mapreduce.RemoveAll(e.cfg.Folders.saved(a.Stage, a.Index)); err != nil {
			return err
		}
	}
	if output == nil {
		if err := e.held(); err != nil {
			return err
		}
		return e.cfg.Folders.commit(a)
	}
	return nil
}

// Clean drops the folders of attempts that did not win.
func (e *Executor) Clean() error {
	e.mu.Lock()
	e.left -= e.won.size()
	e.mu.Unlock()
	return e.cfg.Folders.clean()
}

// Publish makes the results visible in the output folder. What may still be at work has no business there.
func (e *Executor) Publish() error {
	sweep(e.tag)
	if err := e.held(); err != nil {
		return err
	}
	parts := append(e.work.parts(e.cfg.Folders, e.won, e.cfg.Works), e.stderrParts()...)
	return mapreduce.Publish(e.cfg.Out, e.cfg.Run, e.cfg.Folders.Draft(), parts)
}

// Close ends what runs and waits for it. What does not die although it was killed, as in the middle of a call to a file
// server that does not answer, is not waited for longer than some seconds: the error names it.
func (e *Executor) Close() error {
	e.host.watch.drop(e)
	e.mu.Lock()
	needs := false
	for _, p := range e.procs {
		p.kill(byEngine)
		needs = needs || e.need(p) > 0
	}
	e.mu.Unlock()
	e.passOver(needs)
	err := e.wait()
	sweep(e.tag)
	e.logs.close()
	e.feeds.close()
	if e.cfg.Host == nil {
		e.host.Close()
	}
	return err
}

// wait waits for the ends of all attempts, and returns an error if it has to give up.
func (e *Executor) wait() error {
	done := make(chan struct{})
	go func() { e.workers.Wait(); close(done) }()
	enough := time.NewTicker(e.patience)
	defer enough.Stop()
	var deaf <-chan live.Report
	if e.cfg.Host == nil {
		deaf = e.host.reports // nobody else listens any more
	}
	for {
		select {
		case <-deaf:
		case <-done:
			e.spares.close()
			return nil
		case <-enough.C: // only files are removed, or synced, where no process is left
			if left := e.undead(); len(left) > 0 {
				return fmt.Errorf("killed and not dead after %v: process %s", e.patience, strings.Join(left, ", "))
			}
		}
	}
}

// undead returns the ids of the leaders that have not ended, in order.
func (e *Executor) undead() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var pids []int
	for _, p := range e.procs {
		select {
		case <-p.ended:
		default:
			if pid := p.leader(); pid != 0 { // it has begun
				pids = append(pids, pid)
			}
		}
	}
	slices.Sort(pids)
	var left []string
	for _, pid := range pids {
		left = append(left, fmt.Sprint(pid))
	}
	return left
}

// mark is TAILCUT_RUN of an attempt's processes.
func (e *Executor) mark(a live.Attempt) string { return e.tag + "/" + AttemptName(a) }

// prepare makes the attempt's folder and files, and finds out what is to be started.
func (e *Executor) prepare(p *process) error {
	err := e.held()
	if err != nil {
		return err
	}
	if p.folder, err = e.spares.takeFolder(p.dir); err != nil {
		return err
	}
	p.last, p.slot = e.saves.find(p.attempt), e.host.slots.take()
	cmd, err := e.work.command(e.host.self, e.cfg.Folders, p.attempt, p.slot, p.dir, p.last, e.cfg.Disturb.Pace)
	if err != nil {
		return err
	}
	p.cwd, p.args = cmp.Or(cmd.Dir, e.cfg.Work.Dir), cmd.Args
	p.env = e.env.with(append(cmd.Env, runVariable+"="+e.mark(p.attempt), "TAILCUT_PROGRESS=/dev/fd/3"))
	if p.path = cmd.Path; p.path == "" {
		if p.path, err = e.find(p.cwd, cmd.Args[0]); err != nil {
			return noProgram{cmd.Args[0], err}
		}
	}
	if p.stdout, err = e.spares.takeOut(); err != nil {
		return err
	}
	p.show(p.stdout)
	if cmd.Block != nil {
		if p.feed, err = e.feeds.open(cmd.Block, e.cfg.Folders.Stdin()); err != nil {
			return err
		}
	}
	return p.open(cmd.Stdin, e.host.null)
}

// spawn starts the attempt's process.
func (e *Executor) spawn(p *process) error {
	defer p.files.close()
	if p.killed() {
		return errKilled
	}
	if err := cmp.Or(p.unready, e.host.crowd.admit(e.threads)); err != nil {
		return err
	}
	return p.start(e.host.descriptors)
}

// errKilled is what becomes of an attempt that the engine killed before it began. Nobody is told.
var errKilled = errors.New("killed")

// find looks a program up as a shell would that is in the working directory dir: once.
func (e *Executor) find(dir, name string) (string, error) {
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return name, nil
	}
	if path, ok := e.paths[name]; ok {
		return path, nil
	}
	for _, folder := range filepath.SplitList(e.env.get("PATH")) {
		if path, err := exec.LookPath(filepath.Join(folder, name)); err == nil && filepath.IsAbs(folder) {
			e.paths[name] = path
			return path, nil
		}
	}
	return "", exec.ErrNotFound
}

// begin starts an attempt and has it kept, or tells why it could not, and returns which. Like ended, it is called on
// the keeper's thread.
func (e *Executor) begin(p *process) bool {
	if err := e.spawn(p); err != nil {
		if p.verdict = unborn(err); p.verdict.kind == sched.AttemptRefused {
			if never := e.host.crowd.hopeless(err, ownThreads, familyThreads); never != nil {
				p.verdict, err = verdict{kind: sched.AttemptDoomed}, never
			}
		}
		go e.finish(p, 127, err.Error(), nil)
		return false
	}
	e.host.crowd.enter(e.threads)
	e.bound(p)
	if p.fate.factor > 1 {
		go p.slow(p.fate.factor)
	}
	if p.fate.fails {
		p.timers = append(p.timers, time.AfterFunc(p.fate.after, func() { p.kill(byDisturb) }))
	}
	if e.resumable[p.attempt.Stage] && p.attempt.Number > 0 {
		e.tell(p, p.last.Progress()) // not always what the policy asked for
	}
	if p.listen = e.listener(p); e.resumable[p.attempt.Stage] { // what it has saved is linked
		var beside lane
		tell := p.listen
		p.listen = func(line string) { beside.do(func() { tell(line) }) }
	}
	e.host.keeper.keep(p)
	return true
}

// ended takes in the end of an attempt's leader. What makes it wait for the disk is done elsewhere.
func (e *Executor) ended(p *process) {
	exit, note := p.reap()
	if p.teller != nil {
		p.teller.hush()
	}
	e.host.crowd.leave(e.threads)
	defer e.host.ledger.free(p)
	switch p.killer() {
	case byNobody:
		if exit != 0 {
			note = e.judge(p, exit, note)
		}
	case byLimit:
		exit, note = 137, p.why
	case byFeed:
		exit, note = 137, p.feed.failed().Error()
		if errors.Is(p.feed.failed(), errStale) {
			p.verdict = verdict{kind: sched.AttemptDoomed}
		}
	case byDisturb:
		exit, note = 137, "failed on purpose (--disturb)"
	}
	if exit == 0 && p.fate.fails {
		exit, note = 1, "failed on purpose (--disturb)"
	}
	go e.conclude(p, exit, note)
}

// judge finds out what the failure of an attempt means, and returns why it has failed in one line.
func (e *Executor) judge(p *process, exit int, note string) string {
	said := lastLine(p.stderr())
	if e.cfg.Work.MapReduce != nil {
		p.verdict = ofExit(exit)
		if text, ours := strings.CutPrefix(said, saysItself); ours && exit < 128 { // this program itself has said why
			if p.verdict.kind == sched.AttemptDoomed {
				return text
			}
			return cut(text)
		}
	}
	if exit == 128+int(syscall.SIGKILL) {
		note = e.host.crowd.killed(note)
	}
	if said != "" {
		note += ": " + cut(said)
	}
	return note
}

// conclude does what may take time at the end of an attempt: nothing of it runs any more when its output is read or
// becomes a result.
func (e *Executor) conclude(p *process, exit int, note string) {
	p.clean = p.alone && p.folder.untouched()
	var output []byte
	if exit == 0 && p.alone {
		output = e.small(p)
	}
	if output == nil {
		e.expel(p)
	}
	p.progress.close()
	if exit == 0 && output == nil {
		output = e.small(p)
	}
	if exit == 0 && output == nil {
		p.moved = true
		if err := e.complete(p); err != nil {
			p.verdict, exit, note = unfinished(err), 1, err.Error()
		}
	}
	if exit != 0 && p.killer() == byNobody {
		e.crowdedOut(p, exit)
	}
	if exit != 0 && p.killer() == byNobody && !p.verdict.short && p.verdict.kind != sched.AttemptDoomed {
		if said, ok := e.fullDisk(note); ok {
			p.verdict, note = verdict{sched.AttemptDoomed, true}, said
		}
	}
	e.finish(p, exit, note, output)
}

// dying is how long what was killed is given to end before it is looked for elsewhere.
const dying = 50 * time.Millisecond

// expel ends what an attempt has started that left its group before that was killed. Going through all processes of the
// system takes milliseconds, so it is done only where something of the attempt is seen to be left.
func (e *Executor) expel(p *process) {
	for end := time.Now().Add(dying); p.left(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			sweep(e.mark(p.attempt))
			return
		}
	}
}

const (
	inlineMost  = 4 << 10  // bytes of an output that goes into the journal; a file takes as much anyway
	inlineTotal = 64 << 20 // bytes of all such outputs, which the engine holds in memory
)

// complete makes the attempt's output a result, and durable.
func (e *Executor) complete(p *process) error {
	if err := e.held(); err != nil {
		return err
	}
	if err := e.work.assemble(p.attempt.Stage, p.dir, p.stdout.path); err != nil {
		return err
	}
	return mapreduce.SideBySide(2, func(i int) error { // one flush of the disk may do for both
		if i == 0 {
			return disk.SyncFolder(filepath.Dir(p.dir))
		}
		return e.work.sync(p.dir)
	})
}

// small returns the attempt's output if it left no files and wrote so little that the journal can keep it; else nil.
func (e *Executor) small(p *process) []byte {
	if !e.inline[p.attempt.Stage] || !p.clean && !p.folder.empty() {
		return nil
	}
	output := p.stdout.read(inlineMost)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.left < len(output) {
		return nil
	}
	e.left -= len(output)
	return output
}

// finish reports the end of an attempt, unless the engine has killed it, and lets go of what it had.
func (e *Executor) finish(p *process, exit int, note string, output []byte) {
	defer e.workers.Done()
	e.host.slots.give(p.slot)
	p.feed.close()
	rep := live.Report{At: p.at(), Attempt: p.attempt.ID, Kind: sched.AttemptDone, Exit: exit, Output: output, Began: p.began()}
	if exit != 0 {
		rep.Kind, rep.Note, rep.Short = cmp.Or(p.verdict.kind, sched.AttemptFailed), note, p.verdict.short
	} else if e.cfg.Measure || e.work.shuffled(p.attempt.Stage) {
		rep.Bytes = e.work.readOf(p.attempt.Stage, p.dir)
	}
	killed := e.forget(p)
	e.logs.ended(p, exit, note)
	p.show(nil)
	if exit == 0 && !killed {
		e.keepWinners(p)
	}
	switch { // once reported, the next attempt need not wait for the rest
	case killed:
		p.folder.drop()
		e.dropOut(p)
	case exit != 0:
		if rep.Kind != sched.AttemptRefused {
			e.keepStderr(p)
			e.noteFailure(p, exit, note)
		}
		p.folder.drop()
		e.report(rep)
		e.dropOut(p)
	case output != nil:
		e.report(rep)
		e.spares.giveFolder(p.folder, p.clean)
		e.spares.giveOut(p.stdout)
	default:
		e.report(rep)
		e.keepOut(p)
	}
}

// dropOut gives the standard output of an attempt without result to another, unless it may be among what was dropped.
func (e *Executor) dropOut(p *process) {
	if !p.moved {
		e.spares.giveOut(p.stdout)
		return
	}
	p.stdout.handle.Close()
	_ = os.Remove(p.stdout.path)
}

// keepOut lets go of a standard output that is a part of the result; if it is none, another attempt can have the file.
func (e *Executor) keepOut(p *process) {
	if !e.work.keepsStdout() {
		e.spares.giveOut(p.stdout)
		return
	}
	p.stdout.handle.Close()
}

// forget takes the attempt off the list and tells whether the engine killed it.
func (e *Executor) forget(p *process) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.procs, p.attempt.ID)
	return p.killer() == byEngine
}

func (e *Executor) report(r live.Report) { e.host.reports <- r }
