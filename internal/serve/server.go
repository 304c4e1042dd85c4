package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/tailcut/tailcut/internal/door"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/past"
	"github.com/tailcut/tailcut/internal/run"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// Config says what a server is.
type Config struct {
	Dir      string // its journal and lists; nobody else may enter it
	Socket   string // path, "" for none
	Listen   string // loopback address and port, "" for none
	Machines []trace.JournalMachine
	Classes  []string // names of the classes of slots, by sched.Class
	Policy   string   // that decides, at first
	Others   []string // with which it is a portfolio; nil for none
	Seed     uint64
	Limits   sched.Limits
	Memory   int64         // bytes that attempts may need together, 0 for no bound
	Keep     int           // jobs that are over and still listed
	KeepFor  time.Duration // since their end
	Archive  string        // folder of segments of the journal that are not needed any more, "" to remove them
	Version  string
	Page     http.Handler // what browsers see; nil for nothing
	History  past.History // what became of jobs; nil: nothing is kept
	Log      io.Writer    // one line for what a user should know
}

// Workshop makes jobs ready, runs their attempts, and brings in their results. Open, Ended and Standing are called on
// the loop's goroutine.
type Workshop interface {
	// Prepare makes a submission ready.
	Prepare(ctx context.Context, sub *run.Submission) (*Ready, error)
	// Open returns the executor of a job.
	Open(*live.Job) (live.Executor, error)
	// Ended takes notice of the end of an attempt, and returns what is said of it; "" for nothing.
	Ended(*live.Job, *live.Record, live.Report) string
	// Standing tells how a job stands. It is called now and then for jobs that run.
	Standing(*sched.View, *live.Job) *run.Standing
	// Finish does what remains when a job is over. It is repeated after an error, and after a restart.
	Finish(context.Context, *live.Over) (*Outcome, error)
	// Reports returns the channel on which all executors report.
	Reports() <-chan live.Report
	// Close ends whatever still runs.
	Close() error
}

// Ready is a job that is ready to be taken in.
type Ready struct {
	Job   *trace.JournalJob
	After []string // names or ids of jobs that have to succeed before
	Drop  func()   // undoes what was done for it, if it is not taken in
}

// Outcome is what came of a job.
type Outcome struct {
	State  State           // how it has ended, if not as the engine says
	Why    string          // it failed
	Result json.RawMessage // as 'tailcut run --format json' prints it
}

// Server is many jobs on the slots of one machine.
type Server struct {
	cfg      Config
	shop     Workshop
	engine   *live.Engine
	jobs     *register
	claims   *claims
	news     *news
	watchers *watchers
	times    *times
	lock     *os.File
	sockets  []socket
	began    time.Time
	stopped  context.Context // done when the server ends
	retire   retirement
	past     past.History
	forecast *forecast
	wonders  sync.Mutex // held while a past is simulated

	mu       sync.Mutex
	policy   string
	rivals   *rivals    // nil where one policy decides
	handing  sync.Mutex // held while another policy is made to decide
	draining bool
	busy     map[sched.AttemptID]struct{} // attempts that run
}

// socket is a listener and who may come in by it.
type socket struct {
	net.Listener
	door func(http.Handler) http.Handler
}

// newServer takes up the server of a folder, or begins one, with the workshop that shop makes.
func newServer(cfg Config, shop func(*Server) (Workshop, error)) (*Server, error) {
	s := &Server{cfg: cfg, news: newNews(), watchers: newWatchers(), began: time.Now(), policy: cfg.Policy, busy: map[sched.AttemptID]struct{}{}, past: cfg.History, forecast: newForecast(cfg.History)}
	s.rivals = newRivals(cfg.policies(), len(cfg.Classes))
	if s.past == nil {
		s.past = past.None{}
	}
	if err := s.open(shop); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// open takes the folder, the sockets, and what is on the disk, in this order: nothing is read that another server
// writes, and no process is ended that is another's.
func (s *Server) open(shop func(*Server) (Workshop, error)) (err error) {
	if err := os.MkdirAll(s.cfg.Dir, 0o700); err != nil {
		return err
	}
	if s.lock, err = lockFile(filepath.Join(s.cfg.Dir, "lock"), fmt.Sprintf("another server works in %s; name another --dir", s.cfg.Dir)); err != nil {
		return err
	}
	if err := os.Chmod(s.cfg.Dir, 0o700); err != nil { // the journal holds the environment of jobs
		return err
	}
	if err := s.checkArchive(); err != nil {
		return err
	}
	if err := s.listen(); err != nil {
		return err
	}
	archive, over, err := openArchive(filepath.Join(s.cfg.Dir, "ended.jsonl"))
	if err != nil {
		return err
	}
	if s.claims, err = openClaims(filepath.Join(s.cfg.Dir, "claims")); err != nil {
		return errors.Join(err, archive.file.Close())
	}
	s.jobs = newRegister(archive, over, s.cfg.Keep, s.cfg.KeepFor)
	if s.shop, err = shop(s); err != nil {
		return err
	}
	s.engine, err = live.OpenEngine(live.Config{
		Folder: filepath.Join(s.cfg.Dir, "journal"), Archive: s.cfg.Archive, Version: s.cfg.Version,
		Policy: s.cfg.Policy, Seed: s.cfg.Seed, Limits: s.cfg.Limits, Policies: policiesOf, Machines: s.cfg.Machines,
		ClassNames: s.cfg.Classes, Fit: s.fitClasses,
		Open: s.shop.Open, Reports: s.shop.Reports, Finish: s.finish,
		Watch: live.Observer{Changed: s.changed, Launched: s.launched, Ended: s.attemptEnded, Short: s.short},
	})
	if err != nil {
		return s.damaged(err)
	}
	s.times = newTimes(s)
	for _, j := range s.engine.Jobs() {
		if s.jobs.add(int64(j.ID), j.JournalJob) == nil { // it is over, and the last server did not come to this
			s.retire.add(j.ID)
			continue
		}
		s.times.takeUp(s, j)
	}
	return s.claims.clear(s.cfg.Dir, s.jobs.alive)
}

// checkArchive makes the folder of old segments, and refuses one to which none can be moved.
func (s *Server) checkArchive() error {
	if s.cfg.Archive == "" {
		return nil
	}
	if err := os.MkdirAll(s.cfg.Archive, 0o700); err != nil {
		return err
	}
	probe := filepath.Join(s.cfg.Dir, "lock.probe")
	there := filepath.Join(s.cfg.Archive, ".probe")
	err := os.WriteFile(probe, nil, 0o600)
	if err == nil {
		err = os.Rename(probe, there)
	}
	_, _ = os.Remove(probe), os.Remove(there)
	if errors.Is(err, syscall.EXDEV) {
		return fmt.Errorf("--archive %s: expected a folder on the file system of --dir %s", s.cfg.Archive, s.cfg.Dir)
	}
	return err
}

// damaged says of a journal with which no server can go on what is lost, and how to begin anew. Ids begin anew as well,
// so the list of ended jobs cannot stay.
func (s *Server) damaged(err error) error {
	if !errors.Is(err, trace.ErrCorrupt) {
		return err
	}
	return fmt.Errorf("%w; put it back from a copy, or begin anew with: %s (jobs that waited or ran have to be submitted again, published results stay)",
		err, run.PasteWords([]string{"mv", s.cfg.Dir, s.cfg.Dir + ".damaged"}))
}

func (s *Server) listen() error {
	if s.cfg.Socket != "" {
		l, err := listenUnix(s.cfg.Socket)
		if err != nil {
			return err
		}
		s.sockets = append(s.sockets, socket{l, open})
	}
	if s.cfg.Listen != "" {
		token, err := readToken(s.TokenFile())
		if err != nil {
			return err
		}
		l, err := door.Listen(s.cfg.Listen)
		if err != nil {
			return err
		}
		s.sockets = append(s.sockets, socket{l, door.Token(token, tokenFound, l.Addr())})
	}
	return nil
}

// TokenFile is the file with the token that clients bring who do not come by the socket.
func (s *Server) TokenFile() string { return filepath.Join(s.cfg.Dir, "token") }

// Addresses returns where the server listens.
func (s *Server) Addresses() (all []string) {
	for _, l := range s.sockets {
		at := l.Addr().String()
		if l.Addr().Network() == "tcp" {
			at = "http://" + at
		}
		all = append(all, at)
	}
	return all
}

// Run runs jobs until ctx is done, or until nothing runs any more of a server that drains. Then it ends what runs; the
// next server of the folder launches it again.
func (s *Server) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s.stopped = ctx
	front := newFront(s, routes(), s.cfg.Page)
	var all sync.WaitGroup
	failed := make(chan error, len(s.sockets))
	for _, l := range s.sockets {
		all.Go(func() {
			if err := door.Serve(ctx, l, l.door(front.mux)); err != nil {
				failed <- err
				stop()
			}
		})
	}
	all.Go(func() { s.retire.run(ctx, s.engine) })
	all.Go(func() { s.takeUp(ctx) })
	all.Go(func() { s.notice(ctx) })
	all.Go(func() { s.forecast.run(ctx, s) })
	err := s.engine.Loop(ctx)
	stop()
	all.Wait()
	if said := s.rivals.regrets(); said != "" {
		s.say("%s", said)
	}
	select {
	case broken := <-failed:
		err = errors.Join(err, broken)
	default:
	}
	return errors.Join(err, s.close())
}

// close gives up what the server holds.
func (s *Server) close() error {
	var err error
	for _, l := range s.sockets {
		_ = l.Close() // mostly closed already
	}
	if s.shop != nil {
		err = s.shop.Close()
	}
	if s.jobs != nil {
		err = errors.Join(err, s.jobs.archive.file.Close(), s.claims.file.Close())
	}
	if s.lock != nil {
		s.lock.Close()
	}
	return err
}

// takeUp lets start or cancels what waited for jobs that ended just before an earlier server did.
func (s *Server) takeUp(ctx context.Context) {
	for _, e := range s.jobs.entries() {
		s.admit(ctx, e)
	}
}

// say tells the user of the server one line.
func (s *Server) say(format string, args ...any) {
	fmt.Fprintf(s.cfg.Log, "tailcut: "+format+"\n", args...)
}

// retirement has the engine forget jobs that are over, some at once.
type retirement struct {
	mu  sync.Mutex
	ids []sched.JobID
}

func (r *retirement) add(id sched.JobID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ids = append(r.ids, id)
}

// retireEvery is how often jobs are retired.
const retireEvery = 200 * time.Millisecond

func (r *retirement) run(ctx context.Context, engine *live.Engine) {
	every(ctx, retireEvery, func() {
		r.mu.Lock()
		ids := r.ids
		r.ids = nil
		r.mu.Unlock()
		if len(ids) == 0 {
			return
		}
		err := engine.Retire(ctx, ids...)
		if errors.Is(err, live.ErrNotOver) { // one of them is over for everybody else
			ids, err = retireEach(ctx, engine, ids)
		}
		if err != nil { // the next time, or the next server, does it
			r.mu.Lock()
			r.ids = append(ids, r.ids...)
			r.mu.Unlock()
		}
	})
}

// retireEach retires those jobs that can be. What is not over for the engine is asked for again when it ends, or by the
// next server. The error is about the jobs that are left.
func retireEach(ctx context.Context, engine *live.Engine, ids []sched.JobID) (left []sched.JobID, err error) {
	for i, id := range ids {
		if err := engine.Retire(ctx, id); err != nil && !errors.Is(err, live.ErrNotOver) {
			return ids[i:], err
		}
	}
	return nil, nil
}

// every calls a function now and then until ctx is done.
func every(ctx context.Context, period time.Duration, do func()) {
	for tick := time.NewTicker(period); ; {
		select {
		case <-ctx.Done():
			tick.Stop()
			return
		case <-tick.C:
			do()
		}
	}
}
