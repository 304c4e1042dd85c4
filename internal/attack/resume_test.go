//go:build linux

package attack

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// prose writes so many bytes of random words, for a test to map slowly.
func prose(t *testing.T, size int) string {
	t.Helper()
	draw := rand.New(rand.NewPCG(6, 5))
	var text bytes.Buffer
	for text.Len() < size {
		text.WriteString(strconv.FormatUint(draw.Uint64N(1000), 36))
		text.WriteString([]string{" ", " ", " ", "\n"}[draw.IntN(4)])
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "prose"), text.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return dir
}

// hunt kills so many attempts of the story at random, unless it is told to stop: originals, clones, whatever is found.
func (s *story) hunt(seed uint64, most int, stop <-chan struct{}) {
	draw := rand.New(rand.NewPCG(seed, 2))
	for most > 0 {
		select {
		case <-stop:
			return
		case <-time.After(time.Duration(draw.Int64N(int64(time.Second)))):
		}
		paths, _ := filepath.Glob("/proc/[0-9]*")
		for _, i := range draw.Perm(len(paths)) {
			env, _ := os.ReadFile(filepath.Join(paths[i], "environ"))
			args, _ := os.ReadFile(filepath.Join(paths[i], "cmdline"))
			if bytes.Contains(env, []byte(mark+"="+s.name)) && bytes.HasSuffix(args, []byte("\x00attempt\x00")) {
				pid, _ := strconv.Atoi(filepath.Base(paths[i]))
				_ = syscall.Kill(pid, syscall.SIGKILL)
				most--
				break
			}
		}
	}
}

// resumed returns where the attempts of a run began that did not begin at the beginning, as fractions of their tasks, from its journal: what is not
// a task's first attempt tells at once where it begins.
func (s *story) resumed() (from []float64) {
	s.t.Helper()
	r, err := trace.OpenJournalReader(filepath.Join(s.out, "_tailcut", "journal"))
	if err != nil {
		s.t.Fatal(err)
	}
	fresh := map[sched.AttemptID]bool{}
	for {
		b, err := r.Next()
		if errors.Is(err, io.EOF) {
			return from
		}
		if err != nil {
			s.t.Fatal(err)
		}
		for _, f := range b.Facts {
			if f.Kind == sched.AttemptProgress && fresh[f.Attempt] {
				delete(fresh, f.Attempt)
				if f.Progress > 0 {
					from = append(from, f.Progress)
				}
			}
		}
		for _, d := range b.Decisions {
			if d.Kind == sched.Launch && d.From > 0 {
				fresh[d.Attempt] = true
			}
		}
	}
}

// Clones that go on in the middle of slow map tasks, while originals, clones and engines are killed: the same bytes as without any of it.
func TestResumeThroughDeaths(t *testing.T) {
	input := prose(t, 12<<20)
	whole := filepath.Join(t.TempDir(), "whole")
	if out, err := exec.Command(tailcut, "run", "wordcount", input, "--output", whole, "--policy", "fifo").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want, err := os.ReadFile(filepath.Join(whole, "part-00000"))
	if err != nil {
		t.Fatal(err)
	}
	var total atomic.Int64
	t.Run("seed", func(t *testing.T) { // returns when all are done
		for seed := range seeds {
			t.Run(strconv.Itoa(seed), func(t *testing.T) {
				t.Parallel()
				s := newStory(t)
				stop := make(chan struct{})
				if seed%3 > 0 { // in one story of three only engines die
					go s.hunt(uint64(seed), math.MaxInt, stop)
				}
				s.window = 3 * time.Second
				s.run(seed%2, "run", "wordcount", input, "--policy", "srew:preempt=true,slot=600ms", "--slots", "3", "--split-size", "2MiB",
					"--retries", "1000", "--disturb", "slow=0.4,factor=80", "--seed", strconv.Itoa(seed))
				close(stop)
				s.check()
				got, err := os.ReadFile(filepath.Join(s.out, "part-00000"))
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("%d bytes of counts, %v; want %d that are the same", len(got), err, len(want))
				}
				from := s.resumed()
				total.Add(int64(len(from)))
				t.Logf("resumed at %s", strings.Trim(fmt.Sprintf("%.2f", from), "[]"))
			})
		}
	})
	if total.Load() < leastResumed { // when what happens is left to chance; see TestOnlyResumedFinish
		t.Errorf("%d attempts in %d stories went on in the middle, expected %d at least", total.Load(), seeds, leastResumed)
	}
}

// relayTask is a task that only an attempt can finish that goes on in its middle, and only once it may. What begins at the beginning saves half and
// waits for its end.
const relayTask = `
if [ $TAILCUT_RESUME_OFFSET = 0 ]; then
	echo $$ >$PIDS/$TAILCUT_ATTEMPT
	echo first >$TAILCUT_OUTPUT/0
	echo 0.5 10 >$TAILCUT_PROGRESS
	exec sleep 1000
fi
until test -e $PIDS/finish; do sleep 0.02; done
echo second >$TAILCUT_OUTPUT/10
echo by $TAILCUT_ATTEMPT`

// halfway reads from the journal which attempts of the only task, by number, began at the beginning and have saved half, and which went on from there,
// since an engine took over, which is counted from 1. Those that have ended since are among them.
func (s *story) halfway(engine int) (saved, resumed []int) {
	r, err := trace.OpenJournalReader(filepath.Join(s.out, "_tailcut", "journal"))
	if err != nil {
		return nil, nil // the engine is not that far
	}
	launched := map[sched.AttemptID]sched.Decision{}
	for {
		b, err := r.Next()
		if err != nil {
			if engine > 0 {
				return nil, nil
			}
			return saved, resumed
		}
		for _, f := range b.Facts {
			d, ok := launched[f.Attempt]
			switch {
			case f.Kind == sched.MachineStopped:
				engine-- // each engine begins with it
				saved, resumed = nil, nil
			case !ok || f.Kind != sched.AttemptProgress:
			case f.Progress == 0: // clones say so before they have done anything, and those that were to go on but found nothing saved
				d.From = 0
				launched[f.Attempt] = d
			case d.From == 0:
				saved = append(saved, int(d.Number))
			default:
				resumed = append(resumed, int(d.Number))
			}
		}
		for _, d := range b.Decisions {
			if d.Kind == sched.Launch {
				launched[d.Attempt] = d
			}
		}
	}
}

// Whatever dies at the worst moment, attempts go on from what others have saved: the test waits until the journal says that original and clone have
// saved half, kills the original, for a task whose clone has failed is cloned no more, waits until a successor has gone on from there, and kills the
// engine. The next one goes on from there at once, and is killed, too. What the first saved is all that was ever saved.
func TestOnlyResumedFinish(t *testing.T) {
	s := newStory(t)
	pids := t.TempDir()
	engine := 0
	await := func(what string, done func(saved, resumed []int) bool) {
		t.Helper()
		for end := time.Now().Add(20 * time.Second); !done(s.halfway(engine)); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("waited in vain: %s", what)
			}
		}
	}
	for engine = 1; engine <= 3; engine++ {
		cmd := exec.Command(tailcut, "run", "--output", s.out, "--tasks", "1", "--resumable", "--slots", "2", "--retries", "9", "--policy", "srew:preempt=true",
			"--", "sh", "-c", relayTask)
		cmd.Env = append(os.Environ(), mark+"="+s.name, "PIDS="+pids)
		var said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &said, &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill() })
		if engine == 1 {
			await("original and clone have saved half", func(saved, _ []int) bool { return len(saved) == 2 })
			saved, _ := s.halfway(engine)
			text, err := os.ReadFile(filepath.Join(pids, strconv.Itoa(slices.Min(saved))))
			if err != nil {
				t.Fatal(err)
			}
			pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
			if err != nil {
				t.Fatal(err)
			}
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
		await("a successor has gone on", func(_, resumed []int) bool { return len(resumed) > 0 })
		if saved, _ := s.halfway(engine); engine > 1 && len(saved) > 0 {
			t.Errorf("engine %d: attempts %v began at the beginning", engine, saved)
		}
		if engine < 3 {
			_ = cmd.Process.Kill()
		} else if err := os.WriteFile(filepath.Join(pids, "finish"), nil, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); (err == nil) != (engine == 3) {
			t.Fatalf("engine %d: %v\n%s", engine, err, said.Bytes())
		}
		s.alone(3 * time.Second)
	}
	number := s.check()[[2]int{}]
	got, err := os.ReadFile(filepath.Join(s.out, "part-00000"))
	if want := fmt.Sprintf("first\nsecond\nby %d\n", number); err != nil || string(got) != want {
		t.Errorf("the part is %q, %v; want %q", got, err, want)
	}
	if from := s.resumed(); len(from) < 3 {
		t.Errorf("attempts went on from %v, want one for each engine", from)
	}
}
