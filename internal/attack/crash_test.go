//go:build linux

package attack

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// tailcut is the binary under test, scratch a folder for all that the tests make and no single one owns.
var tailcut, scratch string

func TestMain(m *testing.M) {
	if code, done := apart(); done {
		os.Exit(code)
	}
	if signal.Ignored(os.Interrupt) { // as in the background of a script: our processes would inherit that, and not all end
		signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	}
	dir, err := os.MkdirTemp("", "tailcut-e2e")
	if err != nil {
		panic(err)
	}
	scratch, tailcut = dir, filepath.Join(dir, "tailcut")
	if out, err := exec.Command("go", "build", "-o", tailcut, "github.com/tailcut/tailcut/cmd/tailcut").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// apart runs the tests in a mount namespace of their own, where root can have one, so that whatever they mount goes with them, however they end.
func apart() (code int, done bool) {
	const inside = "TAILCUT_E2E_APART"
	if os.Getuid() != 0 || os.Getenv(inside) != "" {
		return 0, false
	}
	cmd := exec.Command(os.Args[0], os.Args[1:]...)
	cmd.Env = append(os.Environ(), inside+"=yes")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	runtime.LockOSThread() // whose end the signal tells
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		return 0, false
	}
	if err := cmd.Wait(); err != nil && cmd.ProcessState.ExitCode() < 0 {
		fmt.Fprintln(os.Stderr, err)
		return 2, true
	}
	return cmd.ProcessState.ExitCode(), true
}

// mark is a variable that all processes of one story inherit.
const mark = "TAILCUT_E2E"

// story is one run of the tool to its end through many deaths.
type story struct {
	t      *testing.T
	name   string
	draw   *rand.Rand
	out    string
	window time.Duration // within which an engine dies
	late   bool          // an engine died after the result was published and before it had tidied up
}

func newStory(t *testing.T) *story {
	h := fnv.New64a()
	_, _ = io.WriteString(h, t.Name())
	return &story{
		t: t, name: fmt.Sprintf("%x-%d", h.Sum64(), os.Getpid()), draw: rand.New(rand.NewPCG(h.Sum64(), 1)), out: filepath.Join(t.TempDir(), "out"), window: window,
	}
}

// run repeats a command until it ends by itself, and kills it so many times before. Nothing that it started may linger.
func (s *story) run(deaths int, args ...string) {
	s.t.Helper()
	args = slices.Insert(args, 1, "--output", s.out)
	for i := 0; ; i++ {
		cmd := exec.Command(tailcut, args...)
		cmd.Env = append(os.Environ(), mark+"="+s.name)
		var said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &said, &said
		if err := cmd.Start(); err != nil {
			s.t.Fatal(err)
		}
		var deadly *time.Timer
		if i < deaths {
			deadly = time.AfterFunc(time.Duration(s.draw.Int64N(int64(s.window))), func() { _ = cmd.Process.Kill() })
		}
		err := cmd.Wait()
		if deadly != nil {
			deadly.Stop()
		}
		s.alone(3 * time.Second)
		if err == nil {
			s.t.Logf("%d engines", i+1)
			return
		}
		if i > 0 && bytes.Contains(said.Bytes(), []byte("holds a finished result")) {
			s.late = true
			return
		}
		if i >= deaths || cmd.ProcessState.ExitCode() >= 0 {
			s.t.Fatalf("engine %d: %v\n%s", i+1, err, said.Bytes())
		}
	}
}

// alone waits until nothing of the story lives.
func (s *story) alone(atMost time.Duration) {
	s.t.Helper()
	if guards, others := outlived(s.name, atMost, nil); len(guards)+len(others) > 0 {
		s.t.Fatalf("processes of a dead engine linger: guards %v, others %v", guards, others)
	}
}

// check holds the journal against a fresh core, and returns the attempts that it says have won: stage and index to number.
func (s *story) check() map[[2]int]int {
	s.t.Helper()
	if out, err := exec.Command(tailcut, "replay", s.out).CombinedOutput(); err != nil {
		s.t.Errorf("replay: %v\n%s", err, out)
	}
	names, err := filepath.Glob(filepath.Join(s.out, "_tailcut", "*"))
	if err != nil || !s.late && slices.ContainsFunc(names, func(n string) bool { return filepath.Base(n) == "attempts" || filepath.Base(n) == "done" }) {
		s.t.Errorf("left of the run: %v", names)
	}
	r, err := trace.OpenJournalReader(filepath.Join(s.out, "_tailcut", "journal"))
	if err != nil {
		s.t.Fatal(err)
	}
	won := map[[2]int]int{}
	for {
		b, err := r.Next()
		if errors.Is(err, io.EOF) {
			return won
		}
		if err != nil {
			s.t.Fatal(err)
		}
		for _, d := range b.Decisions {
			if d.Kind != sched.Commit {
				continue
			}
			index := int(d.Task)
			for _, st := range r.Header.Job.Stages[:d.Stage] {
				index -= st.Tasks
			}
			task := [2]int{int(d.Stage), index}
			if _, twice := won[task]; twice {
				s.t.Errorf("task %v was committed twice", task)
			}
			won[task] = int(d.Number)
		}
	}
}

// forest writes a few MB of text into files and folders of many kinds and returns its path.
func forest(t *testing.T) (root string) {
	t.Helper()
	root = t.TempDir()
	draw := rand.New(rand.NewPCG(20, 26))
	spaces := []string{" ", " ", " ", "\n", "\n", "\t", "\r\n", "\v", "\f", "  \n"}
	for file := range 60 {
		var text bytes.Buffer
		for range draw.IntN(25) * draw.IntN(1000) { // some are empty
			word := strconv.FormatUint(draw.Uint64N(1<<draw.IntN(20)), 36)
			if draw.IntN(50) == 0 {
				word += "\xff\x00é"
			}
			text.WriteString(word)
			text.WriteString(spaces[draw.IntN(len(spaces))])
		}
		if file%3 == 0 { // no newline at the end: the word is not glued to the next file's first
			text.WriteString("end")
		}
		path := filepath.Join(root, strconv.Itoa(file%7), strconv.Itoa(file%3), fmt.Sprintf("file %d.txt", file))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// shellCount counts the words below a folder by the shell, as docs/howto/run.md has it. A file's beginning with white space gives sort an empty word.
const shellCount = `find "$0" -type f -exec sh -c 'for f; do cat "$f"; echo; done' _ {} + |
	tr -s ' \t\n\v\f\r' '\n' | LC_ALL=C sort | uniq -c | sed -E 's/^ *([0-9]+) (.*)$/\2\t\1/; /^\t/d'`

// The promise: the same bytes as the shell's, whatever dies when.
func TestWordCountThroughDeaths(t *testing.T) {
	root := forest(t)
	shell := exec.Command("sh", "-c", shellCount, root)
	shell.Env = append(os.Environ(), "LC_ALL=C") // bytes are bytes to sed, too
	want, err := shell.Output()
	if err != nil || len(want) == 0 {
		t.Fatalf("%d bytes from the shell, %v", len(want), err)
	}
	for _, name := range policies(policy.Names()) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStory(t)
			s.run(deaths, "run", "wordcount", root, "--policy", name, "--slots", "2", "--split-size", splitSize, "--reducers", "3",
				"--disturb", "slow=0.2,factor=4,fail=0.05")
			won := s.check()
			if len(won) < 10 {
				t.Errorf("the journal commits %d tasks", len(won))
			}
			if got := merge(t, s.out, 3); !bytes.Equal(got, want) {
				t.Errorf("%d bytes of counts that differ from the shell's %d", len(got), len(want))
			}
		})
	}
}

// merge returns the lines of all parts in order, and checks that every part is in order and that there are no others.
func merge(t *testing.T, out string, parts int) []byte {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(out, "[^_]*"))
	if err != nil || len(names) != parts {
		t.Errorf("published: %v, %v", names, err)
	}
	if _, err := os.Stat(filepath.Join(out, "_SUCCESS")); err != nil {
		t.Error(err)
	}
	var all []string
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(string(text), "\n")
		lines = lines[:len(lines)-1]
		if !slices.IsSortedFunc(lines, byKey) {
			t.Errorf("%s is out of order", name)
		}
		all = append(all, lines...)
	}
	slices.SortFunc(all, byKey)
	return []byte(strings.Join(all, ""))
}

func byKey(a, b string) int {
	ka, _, _ := strings.Cut(a, "\t")
	kb, _, _ := strings.Cut(b, "\t")
	return strings.Compare(ka, kb)
}

// Every task of an array job has the output and the files of one attempt, the one that the journal names.
func TestArrayThroughDeaths(t *testing.T) {
	for _, name := range policies(policy.Names()) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStory(t)
			s.run(deaths, "run", "--tasks", strconv.Itoa(tasks), "--policy", name, "--slots", "3", "--disturb", "slow=0.2,factor=4,fail=0.05", "--",
				"sh", "-c", `echo half >$TAILCUT_OUTPUT/attempt; sleep 0.05; echo $TAILCUT_ATTEMPT >$TAILCUT_OUTPUT/attempt; echo task {} attempt $TAILCUT_ATTEMPT`)
			won := s.check()
			for i := range tasks {
				number, ok := won[[2]int{0, i}]
				part := filepath.Join(s.out, fmt.Sprintf("part-%05d", i))
				for path, want := range map[string]string{
					part: fmt.Sprintf("task %d attempt %d\n", i, number), filepath.Join(part+".files", "attempt"): fmt.Sprintf("%d\n", number),
				} {
					if got, err := os.ReadFile(path); !ok || err != nil || string(got) != want {
						t.Errorf("%s is %q, %v; want %q", filepath.Base(path), got, err, want)
					}
				}
			}
		})
	}
}
