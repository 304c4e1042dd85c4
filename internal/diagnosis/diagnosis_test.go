package diagnosis

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/internal/history"
)

// stage makes a stage of attempts that all succeeded, on hosts by turns.
func stage(name string, hosts int, seconds ...float64) *history.StageRecord {
	st := &history.StageRecord{Stage: name, Tasks: len(seconds)}
	for i, s := range seconds {
		st.Succeeded = append(st.Succeeded, history.Observation{Seconds: s, Host: int32(i % hosts)})
	}
	return st
}

// tail returns n durations of which the last few are far longer.
func tail(n, long int) (seconds []float64) {
	for i := range n {
		s := 1 + float64(i%7)/100
		if i >= n-long {
			s *= 30
		}
		seconds = append(seconds, s)
	}
	return seconds
}

var hosts = []string{"a", "b", "c", "d", "e"}

func worldly() Request {
	skewed := stage("skewed", 5, tail(40, 4)...)
	for i := range skewed.Succeeded {
		o := &skewed.Succeeded[i]
		o.Bytes = int64(1e6 * o.Seconds)
	}
	slow := stage("slow", 5, tail(40, 0)...)
	for i := range slow.Succeeded {
		if o := &slow.Succeeded[i]; hosts[o.Host] == "c" {
			o.Seconds *= 40
		}
	}
	coarse := stage("coarse", 5, tail(40, 4)...)
	coarse.Resolution = 100
	failed := &history.StageRecord{Stage: "failed", Tasks: 3, Failed: 3}
	r := Defaults()
	r.Log, r.Hosts = "log", hosts
	r.Stages = []*history.StageRecord{
		stage("few", 5, tail(9, 1)...), stage("even", 5, tail(40, 0)...), stage("small", 5, tail(40, 2)...), skewed, slow, coarse, failed, stage("large", 5, tail(400, 40)...),
	}
	return r
}

// Every verdict, for the reason that it is for; and first what is worth it, by the time saved, then the longest.
func TestExplain(t *testing.T) {
	d, err := Explain(context.Background(), worldly())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]Verdict{
		"few": FewTasks, "even": LightTail, "small": Replicate, "skewed": DataSkew, "slow": SlowHost, "coarse": LightTail, "failed": FewTasks, "large": Replicate,
	}
	var saved float64
	for i, s := range d.Stages {
		if s.Verdict != want[s.Stage] || (s.Reason == "") != (s.Verdict == Replicate) || (s.Latency != nil) != (s.Verdict != FewTasks) {
			t.Errorf("%s: %s (%s), expected %s", s.Stage, s.Verdict, s.Reason, want[s.Stage])
		}
		if worth := s.Verdict == Replicate; worth != (i < 2) {
			t.Errorf("%s is number %d", s.Stage, i)
		} else if worth {
			saved += *s.Saved
		}
		if i == 1 && *s.Saved > *d.Stages[0].Saved || i > 2 && s.Longest > d.Stages[i-1].Longest {
			t.Errorf("%s is behind %s", s.Stage, d.Stages[i-1].Stage)
		}
	}
	if math.Abs(saved-d.Saved) > 1e-9 || d.Schema != "tailcut.plan.explain/v2" {
		t.Errorf("%s saves %g, its stages %g", d.Schema, d.Saved, saved)
	}
}

// Thresholds are data: with others the same stages get other verdicts.
func TestThresholds(t *testing.T) {
	for name, c := range map[string]struct {
		change func(t *Thresholds)
		want   Verdict
	}{
		"few":    {func(t *Thresholds) { t.Tasks = 9 }, Replicate},
		"even":   {func(t *Thresholds) { t.Saving = 0 }, Replicate},
		"small":  {func(t *Thresholds) { t.Saving = 0.99 }, LightTail},
		"skewed": {func(t *Thresholds) { t.Spread = 100 }, Replicate},
		"slow":   {func(t *Thresholds) { t.SlowTasks = 20 }, Replicate},
	} {
		r := worldly()
		c.change(&r.Thresholds)
		d, err := Explain(context.Background(), r)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range d.Stages {
			if s.Stage == name && s.Verdict != c.want {
				t.Errorf("%s: %s (%s), expected %s", name, s.Verdict, s.Reason, c.want)
			}
		}
	}
}

// A stage of more tasks than are planned has the same share of stragglers, and one of many values bounds of its error.
func TestLargeStage(t *testing.T) {
	seconds := make([]float64, 2*mostTasks)
	for i := range seconds {
		seconds[i] = math.Pow(1-float64(i)/float64(len(seconds)), -1/1.5)
	}
	r := Defaults()
	r.Stages = []*history.StageRecord{stage("", 5, seconds...)}
	d, err := Explain(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	s := d.Stages[0]
	if s.Verdict != Replicate || s.Off == nil || s.Off.Latency > 0.1 || s.best.Stragglers%2 != 0 || s.best.Stragglers > s.Tasks || s.best.Stragglers == 0 {
		t.Errorf("%+v, %+v", s, s.best)
	}
}

func TestWriters(t *testing.T) {
	r := worldly()
	d, err := Explain(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	var js, csv, all, top bytes.Buffer
	for _, err := range []error{d.WriteJSON(&js), d.WriteCSV(&csv), d.WriteText(&all, 0), d.WriteText(&top, 1)} {
		if err != nil {
			t.Error(err)
		}
	}
	if !json.Valid(js.Bytes()) || strings.Count(csv.String(), "\n") != 1+len(r.Stages) || !strings.Contains(all.String(), "avoid c: 8 of 8 slow tasks ran there") {
		t.Errorf("%s\n%s\n%s", &js, &csv, &all)
	}
	if text := top.String(); !strings.Contains(text, "7 stages more") || !strings.Contains(text, "pay off in 2 of 8 stages") || strings.Contains(text, "small") {
		t.Error(text)
	}
}

// A stage of which nothing succeeded has no median of 0 s.
func TestNothingSucceeded(t *testing.T) {
	r := worldly()
	r.Stages = []*history.StageRecord{{Stage: "failed", Tasks: 3, Failed: 3}, stage("one", 1, 5)}
	d, err := Explain(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := d.WriteText(&text, 0); err != nil {
		t.Fatal(err)
	}
	words := strings.Join(strings.Fields(text.String()), " ")
	for _, want := range []string{"failed 3 - - no attempt succeeded", "one 1 5.00s 5.00s too few tasks: 1 attempt succeeded, at least 10 are needed"} {
		if !strings.Contains(words, want) {
			t.Errorf("%q is not in\n%s", want, &text)
		}
	}
}

func TestExplainEnds(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if d, err := Explain(ctx, worldly()); !errors.Is(err, context.Canceled) || d != nil {
		t.Errorf("%v, %v", d, err)
	}
}

// docs/howto/past-jobs.md says the usual thresholds.
func TestDocumentedThresholds(t *testing.T) {
	text, err := os.ReadFile("../../docs/howto/past-jobs.md")
	if err != nil {
		t.Fatal(err)
	}
	u := Defaults().Thresholds
	said := strings.Join(strings.Fields(string(text)), " ")
	for _, want := range []string{
		fmt.Sprintf("saves at least %g %% of its time", 100*u.Saving),
		fmt.Sprintf("Fewer than %d attempts succeeded", u.Tasks),
		fmt.Sprintf("At least %d tasks took more than twice the median, at least %g %% of them on one machine that ran at most half", u.SlowTasks, 100*u.OnHost),
		fmt.Sprintf("some task read %g times the median", u.Spread), fmt.Sprintf("up to %g %% more machine time", 100*(moreTime-1)),
		fmt.Sprintf("rounded to %d values", roundedTo), fmt.Sprintf("planned as one of %d,000", mostTasks/1000),
	} {
		if !strings.Contains(said, want) {
			t.Errorf("docs/howto/past-jobs.md does not say %q", want)
		}
	}
	if u.Slow != 2 || u.OfHost != 0.5 || u.R2 != 0.5 {
		t.Errorf("%+v, but docs/howto/past-jobs.md says twice the median, half of all tasks and half of the variance", u)
	}
}
