package diagnosis

import (
	"context"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/internal/durations"
	"github.com/tailcut/tailcut/internal/replay"
)

// The page begins with what it is about and a picture of the stage by host, as it ran and as it would run, and has the
// settings to copy.
func TestPageOfASparkLog(t *testing.T) {
	from := durations.Log{Path: "../../docs/data/nightly-spark-log.gz"}
	r := Defaults()
	var err error
	if r.Stages, r.Hosts, err = from.Stages(); err != nil {
		t.Fatal(err)
	}
	r.Log, r.Application, r.Again = from.Name(), from.Course.Application, replay.New(from.Name(), r.Stages, from.Course, 0)
	d, err := Explain(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Page(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	runs := p.Sections[0].Timelines[0].Runs
	if len(runs) != 2 || len(runs[0].Bars) != 160 || runs[1].End >= runs[0].End {
		t.Fatalf("%d runs, the first of %d attempts and %g s, want 160 before and a faster one after", len(runs), len(runs[0].Bars), runs[0].End)
	}
	won, clones := map[string]int{}, 0
	for _, b := range runs[1].Bars {
		if !b.Wasted {
			won[b.Label]++
		}
		if b.Clone {
			clones++
		}
		if b.Start < 0 || b.End < b.Start || b.End > runs[1].End {
			t.Errorf("task %s from %g to %g of %g", b.Label, b.Start, b.End, runs[1].End)
		}
	}
	if len(won) != 160 || clones == 0 {
		t.Errorf("%d tasks have results, with %d clones", len(won), clones)
	}
	var b strings.Builder
	if err := p.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, want := range []string{"nightly-report</h1>", "<svg class=\"timeline\"", ">worker-7</text>", "<pre>spark.speculation=true\n", "4 of 4 slow tasks ran on worker-7"} {
		i := strings.Index(b.String()[at:], want)
		if i < 0 {
			t.Fatalf("no %q, or not in its place", want)
		}
		at += i
	}
}
