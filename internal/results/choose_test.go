package results

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// twoStages has three tasks of map and two of a stage that is called like an index.
func twoStages() *Run {
	r := &Run{Stages: []string{"map", "7"}}
	for i := range 5 {
		r.Tasks = append(r.Tasks, Result{Stage: i / 3, Index: i % 3, State: Done, output: fmt.Appendf(nil, "%d\n", i)})
	}
	return r
}

func TestChoose(t *testing.T) {
	sole := &Run{Stages: []string{"tasks"}, Tasks: make([]Result, 12)}
	for i := range sole.Tasks {
		sole.Tasks[i].Index = i
	}
	for _, c := range []struct {
		run   *Run
		words string
		want  string // or the beginning of the error
	}{
		{sole, "", "0 1 2 3 4 5 6 7 8 9 10 11"},
		{sole, "3", "3"},
		{sole, "9-7", `expected tasks such as 3, 7-9 or tasks/3, not "9-7": 9-7 ends before it begins`},
		{sole, "7-9 3,5 8", "3 5 7 8 9"},
		{sole, "10-", "10 11"},
		{sole, "tasks/2-3", "2 3"},
		{sole, "tasks", "0 1 2 3 4 5 6 7 8 9 10 11"},
		{sole, "12", "12: there is no such task; stage tasks has tasks 0 to 11"},
		{sole, "-1", `expected tasks such as 3, 7-9 or tasks/3, not "-1"`},
		{sole, "map/1", `unknown stage "map"`},
		{twoStages(), "map/0 7/1", "map/0 7/1"},
		{twoStages(), "7", "7/0 7/1"},
		{twoStages(), "1", "1: which stage's? the run has map, 7; write map/1"},
		{twoStages(), "mop", `unknown stage "mop"`},
		{twoStages(), "map/", `expected tasks such as 3, 7-9 or map/3, not "map/"`},
	} {
		t.Run(c.words, func(t *testing.T) {
			tasks, err := c.run.Choose(strings.Fields(c.words))
			var names []string
			for _, task := range tasks {
				names = append(names, c.run.NameOf(task))
			}
			got := strings.Join(names, " ")
			if err != nil {
				got = err.Error()
			}
			if got != c.want && !(err != nil && strings.HasPrefix(got, c.want)) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func FuzzChoose(f *testing.F) {
	for _, word := range []string{"3", "1-2", "map/1,2-", "7/0", "/", "-", "99999999999999999999"} {
		f.Add(word)
	}
	f.Fuzz(func(t *testing.T, word string) {
		tasks, err := twoStages().Choose([]string{word})
		if err == nil && len(tasks) == 0 {
			t.Errorf("%q names nothing and is no error", word)
		}
	})
}

// However a text is cut into pieces, what comes out is each of its lines behind the tag.
func TestTagged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("ab\n")), 0, 40, -1).Draw(t, "text")
		want := ""
		for line := range strings.Lines(text) {
			want += "T\t" + line
		}
		var out bytes.Buffer
		w := &Tagged{W: &out, Tag: []byte("T\t")}
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			if k, err := w.Write([]byte(rest[:n])); k != n || err != nil {
				t.Fatal(k, err)
			}
			rest = rest[n:]
		}
		if out.String() != want {
			t.Errorf("got %q, want %q", out.String(), want)
		}
	})
}

func TestPrintSkipsWhatIsNotDone(t *testing.T) {
	r := twoStages()
	r.Tasks[1].State = Failed
	tasks, err := r.Choose(nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := (&UnfinishedError{Done: 4, Tasks: 5, Failed: 1}).Error(); r.Complete(tasks) == nil || r.Complete(tasks).Error() != want {
		t.Errorf("got %v, want %s", r.Complete(tasks), want)
	}
	var out bytes.Buffer
	if err := r.Print(&out, tasks, nil); err != nil || out.String() != "0\n2\n3\n4\n" {
		t.Errorf("got %q, %v", out.String(), err)
	}
}
