package live

import (
	"time"

	"github.com/tailcut/tailcut/sched"
)

// Attempt names an attempt to an executor.
type Attempt struct {
	ID      sched.AttemptID
	Stage   int // position in the job
	Index   int // of the task in its stage
	Number  int // attempts of the task launched before; unique in the run with Stage and Index, across restarts too
	Machine sched.MachineID
	Clone   bool
	Work    int // how often what attempts do had changed when it was launched, see Run.Works

	// What to go on from: what attempt number Source of the task had saved when it said that it was that far. 0 is the
	// beginning.
	From   float64
	Source int
}

// Report is what an executor has to say about an attempt.
type Report struct {
	At      time.Time
	Attempt sched.AttemptID
	// AttemptDone, AttemptFailed, AttemptDoomed, AttemptProgress; AttemptBegan: it has begun at At, which may be some
	// time ago; AttemptRefused: it could not begin, for want of room on its machine; or MachineLost: the attempt is
	// gone, and it is not to blame
	Kind sched.EventKind
	// AttemptProgress: fraction of the task's work done; in a resumable stage, of what is saved for others to go on
	// from
	Progress float64
	Note     string // AttemptFailed, AttemptDoomed, AttemptRefused: why, for the user
	// AttemptFailed, AttemptDoomed: the machine lacked something, which may be why. If other attempts ran there it
	// counts as AttemptRefused.
	Short bool
	Exit  int // exit status, or 128 plus the signal

	// AttemptDone, where edges of the job are measured: what each of its readers will read of the output.
	Bytes int64

	// AttemptDone: when the work began for which it was launched; zero if that is not known.
	Began time.Time

	// AttemptDone: the whole output, if it is small enough for the journal to keep. Nil means that the executor keeps
	// it.
	Output []byte
}

// Executor starts and ends attempts. The loop calls it from one goroutine; who made it closes it, after the loop.
type Executor interface {
	// Start begins an attempt, soon and without waiting for it. When the attempt ends by itself there is exactly one
	// report, done, failed, doomed, refused, or lost with its machine; done means that its output is durable, or in the
	// report, and nothing of it runs any more. A machine that is lost takes with it all that runs there, and can be
	// used again at once.
	Start(Attempt)
	// Kill ends an attempt and drops its output. It does not wait. A report that was on its way may still come.
	Kill(sched.AttemptID)
	// Commit makes the output of a finished attempt the result of its task, atomically. It is repeated after a crash,
	// and then does nothing if it was done. output is that of the report of its end, which the journal has kept; nil if
	// it had none.
	Commit(a Attempt, output []byte) error
	// Clean drops what attempts have left that were not committed. It is called once, after the commits of an earlier
	// engine have been repeated and before the first Start.
	Clean() error
	// Reports returns the channel of reports. It is never closed.
	Reports() <-chan Report
	// Publish makes the results of all tasks the result of the job, after the last Commit. It is repeated after a
	// crash.
	Publish() error
	// Close ends whatever still runs and waits for it. Nothing is called after it. An error tells what may still run.
	Close() error
}
