package database

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/past"
	"github.com/tailcut/tailcut/internal/promise"
	"github.com/tailcut/tailcut/sched"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 123_000, time.UTC)

// job makes a job of a stage of tasks that was submitted some hours after noon: task i took i seconds, and each third
// was overtaken by a clone after half of that.
func job(name string, hours, tasks int) *past.JobRecord {
	at := noon.Add(time.Duration(hours) * time.Hour)
	c := &past.AttemptColumns{}
	add := func(task, number int, ran sched.Time, end live.End, clone bool) {
		c.Task, c.Number, c.Began, c.Ran = append(c.Task, task), append(c.Number, number), append(c.Began, sched.Second*sched.Time(number)), append(c.Ran, ran)
		c.From, c.End, c.Clone = append(c.From, 0), append(c.End, end), append(c.Clone, clone)
	}
	for i := range tasks {
		ran := sched.Time(i+1) * sched.Second
		if i%3 == 2 {
			add(i, 0, ran/2, live.Lost, false)
			add(i, 1, ran/3, live.Won, true)
			continue
		}
		add(i, 0, ran, live.Won, false)
	}
	j := &past.JobRecord{
		Run: fmt.Sprintf("%s-%d", name, hours), Name: name, State: past.Succeeded, Policy: "spark", Slots: 8, Submitted: at, Started: at.Add(time.Second),
		Ended: at.Add(time.Minute), Deadline: at.Add(time.Hour), Output: "/out", Command: "abc", Spec: &sched.JobSpec{Stages: []sched.StageSpec{{Tasks: tasks}}},
		Stages:   []past.StageRecord{{PastStage: c.Sample("tasks", tasks), Class: "map", ShuffleBytes: 77, Lives: c}},
		Attempts: c.Len(), Clones: tasks / 3, Fruitful: 12.5, Fruitless: 3.25,
	}
	for k := range 2 {
		p := promise.Promise{Made: at.Add(time.Duration(k) * time.Second)}
		for i := range promise.Levels {
			p.Ends = append(p.Ends, at.Add(time.Duration(50+i)*time.Second))
		}
		j.Promises = append(j.Promises, p)
	}
	return j
}

func open(t testing.TB, path string, l Limits) *Database {
	t.Helper()
	d, err := Open(context.Background(), path, l)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestWhatIsKeptComesBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "folder with ? and #", "history.db")
	d := open(t, path, DefaultLimits)
	a, b := job("nightly", 0, 7), job("other", 1, 3)
	a.ClassSlots = "map=4,shuffle=4"
	a.Stages[0].Lives.Bytes = []int64{0, 1 << 40, 0, 0, 5, 6, 7, 0, 8}
	for _, j := range []*past.JobRecord{a, b, a} { // twice is once
		if err := d.Add(t.Context(), j); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	d = open(t, path, DefaultLimits)
	defer d.Close()
	got, err := d.Jobs(t.Context(), &past.Query{Attempts: true})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]*past.JobRecord{b, a}, got); diff != "" {
		t.Error(diff)
	}
	got, err = d.Jobs(t.Context(), &past.Query{Name: "night*", Since: noon, Until: noon.Add(time.Hour), State: past.Succeeded})
	if err != nil || len(got) != 1 || got[0].Stages[0].Lives != nil || got[0].Name != "nightly" {
		t.Errorf("%v, %+v", err, got)
	}
	p, err := d.Past(t.Context(), "nightly", 0)
	if err != nil || len(p.Runs) != 1 || p.Runs[0].Seconds != 60 || len(p.Runs[0].Stages[0].Durations) != 7 || len(p.Runs[0].Stages[0].Cut) != 2 {
		t.Errorf("%v, %+v", err, p)
	}
	names, err := d.Names(t.Context())
	want := []past.NameRecord{
		{Name: "nightly", Jobs: 1, Succeeded: 1, Last: a.Submitted, MeanFlow: 60, Attempts: 9, Clones: 2, Fruitful: 12.5, Fruitless: 3.25},
		{Name: "other", Jobs: 1, Succeeded: 1, Last: b.Submitted, MeanFlow: 60, Attempts: 4, Clones: 1, Fruitful: 12.5, Fruitless: 3.25},
	}
	if diff := cmp.Diff(want, names); err != nil || diff != "" {
		t.Error(err, diff)
	}
	kept, err := d.Kept(t.Context(), &past.Query{Name: "nightly"})
	if err != nil || len(kept) != 2 || kept[0].First || !kept[1].First || !kept[1].Ended.Equal(a.Ended) {
		t.Errorf("%v, %+v", err, kept)
	}
	if diff := cmp.Diff(a.Promises[0], kept[1].Promised); diff != "" {
		t.Error(diff)
	}
}
