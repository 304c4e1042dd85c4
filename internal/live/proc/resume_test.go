//go:build linux

package proc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/mapreduce"
	"github.com/tailcut/tailcut/internal/strides"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// relay lets each attempt but a task's third hand over to a successor as soon as it has reported progress of its own.
type relay struct {
	keep bool // the successor runs beside the attempt, which is not killed
	far  []sched.AttemptID
}

func (p *relay) Observe(v *sched.View, ev *sched.Event) {
	if ev.Kind == sched.AttemptProgress && v.Rows().Alive(ev.Attempt) {
		if a := v.Attempt(ev.Attempt); a.Number < 2 && ev.Progress > a.From && v.Task(ev.Task).Live == 1 {
			p.far = append(p.far, ev.Attempt)
		}
	}
}

func (p *relay) Decide(v *sched.View, act *sched.Actions) {
	for _, id := range p.far {
		if !v.Rows().Alive(id) {
			continue
		}
		if a := v.Attempt(id); p.keep {
			_, _ = act.Launch(a.Task, 0, min(0.999, a.Progress+0.05), sched.Cloning) // where the original will be when the clone is there
		} else {
			_ = act.Kill(id, sched.Replaced)
		}
	}
	p.far = p.far[:0]
	for s, ok := v.WaitingStage(0); ok; s, ok = v.WaitingStage(s + 1) {
		for t, ok := v.PendingTask(s, 0); ok && v.FreeSlots() > 0; t, ok = v.PendingTask(s, t+1) {
			if _, err := act.Launch(t, 0, v.Task(t).Saved, sched.Original); err != nil {
				panic(err)
			}
		}
	}
}

// life is what a journal says of an attempt: where it began, and how far it is known to have come.
type life struct {
	task     sched.TaskID
	from, to float64
	won      bool
}

// lives reads the attempts of the first stage.
func lives(t *testing.T, journal string) (all []*life) {
	t.Helper()
	r, err := trace.OpenJournalReader(journal)
	if err != nil {
		t.Fatal(err)
	}
	byID := map[sched.AttemptID]*life{}
	for {
		b, err := r.Next()
		if err != nil {
			return all
		}
		for _, f := range b.Facts {
			if l := byID[f.Attempt]; l != nil && f.Kind == sched.AttemptProgress {
				if l.to == 0 {
					l.from = f.Progress // said before anything is done, by all but the task's first
				}
				l.to = f.Progress
			}
		}
		for _, d := range b.Decisions {
			switch {
			case d.Kind == sched.Launch && d.Stage == 0:
				l := &life{task: d.Task}
				all = append(all, l)
				byID[d.Attempt] = l
				if d.Number == 0 {
					l.to = 1e-300 // begins at the beginning, without a word
				}
			case d.Kind == sched.Commit && d.Stage == 0:
				byID[d.Attempt].to, byID[d.Attempt].won = 1, true
			case d.Kind == sched.Kill:
				delete(byID, d.Attempt) // what it says before it is dead is of no use to its successor, which is there already
			}
		}
	}
}

// runRelay counts the words of a folder and returns the part.
func runRelay(t *testing.T, input string, p sched.Policy, disturb Disturb) (part []byte, journal string, s *live.Summary) {
	t.Helper()
	root := t.TempDir()
	job := jobfile.Job{MapReduce: &mapreduce.Request{Operator: mapreduce.Operator{Name: "wordcount"}, Inputs: []string{input}, SplitSize: 4 << 20, Reducers: 1}}
	plan, err := job.Plan(t.Context(), "/")
	if err != nil {
		t.Fatal(err)
	}
	work, err := json.Marshal(plan.Work)
	if err != nil {
		t.Fatal(err)
	}
	f := Folders{Root: filepath.Join(root, "private")}
	if err := os.Mkdir(f.Root, 0o777); err != nil {
		t.Fatal(err)
	}
	run, err := live.Create(f.Journal(), &trace.JournalHeader{
		Run: fmt.Sprintf("relay-%d-%d", os.Getpid(), time.Now().UnixNano()), Started: time.Now(), Policy: "relay", Limits: sched.NoLimits(),
		Machines: []trace.JournalMachine{{Name: "local", Slots: 4}}, Job: plan.Spec, Stages: plan.Stages, Command: []byte("{}"), Work: work,
	}, p)
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(root, "out")
	e, err := New(Config{Folders: f, Out: out, Work: plan.Work, Stages: len(plan.Stages), Run: run.Header.Run, Disturb: disturb})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(run.Loop(t.Context(), e, live.Watcher{}), e.Close()); err != nil {
		t.Fatal(err)
	}
	if s = run.Summary(); s.State != "succeeded" {
		t.Fatalf("the run %s", s.State)
	}
	part, err = os.ReadFile(filepath.Join(out, "part-00000"))
	if err != nil {
		t.Fatal(err)
	}
	return part, f.Journal(), s
}

// A slow map task that is handed over from attempt to attempt is mapped once: each goes on exactly where what was saved ends, and the result is
// that of a run in which nothing happens. With the original left alive, clones begin at or before the fraction that the policy asked for, never
// beyond what is saved.
func TestHandOver(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 1))
	var text bytes.Buffer
	for text.Len() < 8<<20 {
		fmt.Fprint(&text, draw.IntN(1000), []string{" ", "\n"}[draw.IntN(2)])
	}
	input := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(input, text.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	want, _, _ := runRelay(t, input, &relay{}, Disturb{Factor: 1})
	for _, keep := range []bool{false, true} {
		t.Run(fmt.Sprintf("keep=%v", keep), func(t *testing.T) {
			got, journal, s := runRelay(t, input, &relay{keep: keep}, Disturb{Slow: 1, Factor: 15})
			for factor := 30.; s.Resumed == 0 && factor <= 120; factor *= 2 { // on a busy machine the original may end before its clone goes on
				got, journal, s = runRelay(t, input, &relay{keep: keep}, Disturb{Slow: 1, Factor: factor})
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%d bytes of counts, want %d that are the same", len(got), len(want))
			}
			all := lives(t, journal)
			reached, resumed := map[sched.TaskID]float64{}, 0
			for _, l := range all {
				known := reached[l.task] // before this attempt, of an earlier one; later progress of an original that goes on is not above 1
				if l.from > 0 {
					resumed++
				}
				if !keep && l.from != known {
					t.Errorf("task %d goes on at %v, and %v was saved", l.task, l.from, known)
				}
				if keep && l.from > known {
					t.Errorf("task %d goes on at %v, beyond %v", l.task, l.from, known)
				}
				reached[l.task] = max(known, l.to)
			}
			if resumed == 0 || resumed != s.Resumed {
				t.Errorf("%d attempts went on in the middle, the summary says %d", resumed, s.Resumed)
			}
		})
	}
}

// A command that says how far it is hands over to an attempt that goes on there. What it has said no more about is not handed over, and neither are lines
// that make no sense.
func TestCommandResumes(t *testing.T) {
	work := &jobfile.Work{Dir: t.TempDir(), Array: &jobfile.Array{Stages: []jobfile.Stage{{Name: "s", Tasks: 1, Resumable: true, Command: []string{"sh", "-c", `
		cd $TAILCUT_OUTPUT
		if [ $TAILCUT_ATTEMPT = 0 ]; then
			echo a >0; echo 0.25 7 >$TAILCUT_PROGRESS
			echo lost >7; echo 0.3 7 >$TAILCUT_PROGRESS   # the offset does not grow
			echo 0.2 9 >$TAILCUT_PROGRESS                 # the fraction falls
			echo 0.4 >$TAILCUT_PROGRESS                   # no offset
			sleep 0.1
			echo b >7; echo 0.5 10 >$TAILCUT_PROGRESS
			sleep 0.1
			echo 0.75 20 >$TAILCUT_PROGRESS               # there is no file 10
			sleep 0.1
			ln -s 0 10; echo 0.8 21 >$TAILCUT_PROGRESS    # it is a link
			sleep 0.1
			rm 10; mkfifo 10; echo 0.85 22 >$TAILCUT_PROGRESS
			sleep 0.1
			touch said; sleep 100
		fi
		ls | tr '\n' ' '
		echo from $TAILCUT_RESUME_OFFSET
		echo c >$TAILCUT_RESUME_OFFSET; echo note >note`}}}}}
	r := newRigOf(t, nil, work, 1)
	first := r.begin(0, 0, 0)
	for _, want := range []float64{0.25, 0.5} {
		if rep := r.report(); rep.Kind != sched.AttemptProgress || rep.Progress != want {
			t.Fatalf("%+v, want progress %v", rep, want)
		}
	}
	eventually(t, "all is said", 10*time.Second, func() bool {
		_, err := os.Stat(filepath.Join(r.f.Attempt(first), "said"))
		return err == nil
	})
	r.Kill(first.ID)
	r.next++
	a := live.Attempt{ID: r.next, Number: 1, From: 0.5, Source: 0}
	r.Start(a)
	if rep := r.report(); rep.Attempt != a.ID || rep.Progress != 0.5 {
		t.Errorf("%+v, want that the attempt begins at 0.5", rep)
	}
	if rep := r.end(a); rep.Kind != sched.AttemptDone {
		t.Fatalf("%+v", rep)
	}
	r.commit(a)
	if _, err := os.Stat(r.f.saved(0, 0)); err == nil {
		t.Error("what was saved is still there after the commit")
	}
	if err := r.Publish(); err != nil {
		t.Fatal(err)
	}
	part, _ := os.ReadFile(filepath.Join(r.out, "part-00000"))
	if want := "a\nb\nc\n0 7 from 10\n"; string(part) != want {
		t.Errorf("the part is %q, want %q", part, want)
	}
	if note, err := os.ReadFile(filepath.Join(r.out, "part-00000.files", "note")); err != nil || string(note) != "note\n" {
		t.Errorf("the other file is %q, %v", note, err)
	}
}

// What an attempt says to have saved after its task is done comes too late: nothing appears in a folder that is being removed.
func TestSavedTooLate(t *testing.T) {
	dir := t.TempDir()
	from := filepath.Join(dir, "run")
	if err := os.WriteFile(from, []byte("work"), 0o666); err != nil {
		t.Fatal(err)
	}
	s := saves{tasks: map[[2]int]map[place]*strides.Stride{}}
	a := live.Attempt{Index: 3}
	early, late := &strides.Stride{Fraction: 0.25, Path: filepath.Join(dir, "saved", "0.0")}, &strides.Stride{Fraction: 0.5, Path: filepath.Join(dir, "saved", "10.0")}
	if !s.add(a, early, from) || s.find(live.Attempt{Index: 3, From: 0.25}) != early {
		t.Error("what was saved in time is not kept")
	}
	if !s.drop(0, 3) {
		t.Error("there was nothing to drop")
	}
	if err := os.RemoveAll(filepath.Dir(early.Path)); err != nil {
		t.Fatal(err)
	}
	if s.add(a, late, from) || s.find(live.Attempt{Index: 3, From: 0.5}) != nil {
		t.Error("what was saved too late is kept")
	}
	if _, err := os.Stat(filepath.Dir(late.Path)); err == nil {
		t.Error("the folder is there again")
	}
	if s.drop(0, 4) {
		t.Error("a task that has saved nothing had something to drop")
	}
}
