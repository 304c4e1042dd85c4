package nights

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tailcut/tailcut/internal/diagnosis"
	"github.com/tailcut/tailcut/internal/history"
	"github.com/tailcut/tailcut/internal/history/historytest"
)

// Days in milliseconds, and when the first night begins.
const (
	aDay  = 24 * 3600 * 1000
	first = int64(1_700_000_000_000)
)

// night is a night of three stages: of the first all tasks are alike, of the second other tasks are slow every night, of
// the third always the same. From the tenth night on the first takes half as long again.
func night(n int) *historytest.Spark {
	rng := rand.New(rand.NewPCG(7, uint64(n)))
	s := &historytest.Spark{Name: time.UnixMilli(first + int64(n)*aDay).UTC().Format("nightly-20060102"), ID: fmt.Sprintf("app-%d", n), Began: first + int64(n)*aDay, Executors: 5, Cores: 8, Between: 500}
	typical := 10_000.
	if n >= 10 {
		typical *= 1.5
	}
	add := func(name string, slow func(i int) bool, typical float64) {
		st := historytest.SparkStage{Name: name}
		for i := range 80 {
			ms := typical * (0.95 + 0.1*rng.Float64())
			if slow(i) {
				ms *= 8
			}
			st.Tasks = append(st.Tasks, historytest.SparkTask{Millis: int64(ms), Deserialize: 5, Bytes: 1 << 20})
		}
		s.Stages = append(s.Stages, st)
	}
	add("load", func(int) bool { return false }, typical)
	add("join", func(int) bool { return rng.Float64() < 0.04 }, 8000)
	add("write", func(i int) bool { return i == 17 || i == 60 }, 6000)
	return s
}

// folder writes nights into files.
func folder(t *testing.T, nights int) string {
	t.Helper()
	dir := t.TempDir()
	for n := range nights {
		var log bytes.Buffer
		if err := night(n).Write(&log); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("app-%02d", n)), log.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func read(t *testing.T, since time.Time, paths ...string) *Application {
	t.Helper()
	all, err := Read(context.Background(), Query{Paths: paths, Since: since, Each: diagnosis.Defaults, Tell: func(string) {}})
	if err != nil || len(all) != 1 {
		t.Fatal(len(all), err)
	}
	return all[0]
}

func compared(t *testing.T, since time.Time, paths ...string) *Answer {
	t.Helper()
	a := read(t, since, paths...)
	return compareAll(a.Runs, a.Began)
}

func stage(t *testing.T, a *Answer, name string) *Recognised {
	t.Helper()
	i := slices.IndexFunc(a.Stages, func(s *Recognised) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("no stage %s", name)
	}
	return a.Stages[i]
}

// The same tasks every night are skew though they read no more than others; others each night are chance. The change
// is found, and nothing else is said to have changed.
func TestNights(t *testing.T) {
	dir := folder(t, 12)
	of := read(t, time.Time{}, dir)
	a, err := Explain(context.Background(), of.Runs, of.Began)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Runs) != 12 || a.Application != "nightly-20231125" || a.Recent != 7 {
		t.Errorf("%d runs of %s, %d recent", len(a.Runs), a.Application, a.Recent)
	}
	for name, want := range map[string]Verdict{"load": Even, "join": Chance, "write": Skew} {
		if s := stage(t, a, name); s.Verdict != want || s.Runs != 12 || s.Tasks != 80 {
			t.Errorf("%s: %+v, expected %s", name, s, want)
		}
	}
	if s := stage(t, a, "write"); !slices.Equal(s.Always, []int32{17, 60}) || s.Same != 24 || s.Slow != 24 {
		t.Errorf("write: tasks %v, %d of %d again", s.Always, s.Same, s.Slow)
	}
	if s := stage(t, a, "join"); len(s.Always) > 0 {
		t.Errorf("join: tasks %v", s.Always)
	}
	// clones help the second stage, and the last one not any more, since it is known
	if a.Settings == nil || !a.Settings.Sure || *a.Settings.Low > a.Settings.Saved || *a.Settings.High < a.Settings.Saved {
		t.Errorf("settings %+v", a.Settings)
	}
	for _, s := range a.Last.Stages {
		if s.Name == "write" && (s.Verdict == diagnosis.Replicate || s.Causes[0].Cause != diagnosis.Skew) {
			t.Errorf("write alone: %s, %+v", s.Verdict, s.Causes)
		}
	}
	var text bytes.Buffer
	if err := a.WriteText(&text, 0); err != nil || !strings.Contains(text.String(), "tasks 17, 60 are slow in most runs") {
		t.Errorf("%v\n%s", err, &text)
	}
}

// A third of the tasks run on each of three hosts, and one host is slow every night. Where that is the one with the same
// tasks on it in three nights of four, it is chance; in eight of eight it is their data, though they are slow together.
func TestSlowTogether(t *testing.T) {
	for _, c := range []struct {
		slow string // by night, the third of the tasks that is on the slow host
		host bool   // whether they are known to be on a slow host
		want Verdict
	}{{"0120", true, Chance}, {"0010", true, Chance}, {"0010", false, Skew}, {"00000000", true, Skew}} {
		s := &Recognised{Tasks: 30}
		nights := make([]diagnosis.Request, len(c.slow))
		for n := range nights {
			nights[n] = diagnosis.Defaults()
			m := member{night: n, record: &history.StageRecord{Tasks: 30}}
			m.slower = &diagnosis.Slower{Over: map[int32]float64{}, OnSlow: map[int32]bool{}, Hosts: 3}
			for i := range int32(30) {
				if i%3 == int32(c.slow[n]-'0') {
					m.slower.Over[i], m.slower.OnSlow[i] = 7, c.host
				}
			}
			s.members = append(s.members, m)
		}
		s.compare(nights)
		if s.Verdict != c.want || s.Slow != 10*len(nights) || (c.want == Chance) != (len(s.Always) == 0) {
			t.Errorf("%s: %s, of %d slow tasks %v are always", c.slow, s.Verdict, s.Slow, s.Always)
		}
	}
}

// More nights narrow the interval, and two are too few to be sure of the settings.
func TestConfidenceGrows(t *testing.T) {
	dir := folder(t, 9)
	wide := 2.
	for _, n := range []int{2, 4, 9} {
		since := time.UnixMilli(first + int64(9-n)*aDay - 1000)
		s := stage(t, compared(t, since, dir), "write")
		if s.Runs != n || !(s.High-s.Low < wide) {
			t.Errorf("%d nights: %v to %v after %v", s.Runs, s.Low, s.High, wide)
		}
		wide = s.High - s.Low
	}
}

// What changed shows between the last week and the time before.
func TestChange(t *testing.T) {
	for _, c := range []struct {
		nights int
		since  int64
		recent int
		change bool
	}{{17, 0, 7, true}, {11, 4, 1, true}, {10, 0, 7, false}} {
		dir := folder(t, c.nights)
		a := compared(t, time.UnixMilli(first+c.since*aDay-1000), dir)
		if a.Recent != c.recent {
			t.Errorf("%d nights: %d recent, expected %d", c.nights, a.Recent, c.recent)
		}
		for _, s := range a.Stages {
			if sure := s.Change != nil && s.Change.sure(); sure != (c.change && s.Name == "load") {
				t.Errorf("%d nights from %d: %s has changed: %v, %+v", c.nights, c.since, s.Name, sure, s.Change)
			}
		}
		if s := stage(t, a, "load"); c.change && (s.Change.Low > 0.5 || s.Change.High < 0.5 || *s.Change.Bytes != 0) {
			t.Errorf("%d nights: %+v", c.nights, s.Change)
		}
	}
}

// A History Server gives the same as the folder, for files and for rolling logs.
func TestServer(t *testing.T) {
	dir := folder(t, 3)
	archive := func(w io.Writer, n int) {
		z := zip.NewWriter(w)
		name := fmt.Sprintf("app-%02d", n)
		if n == 1 {
			name = "eventlog_v2_app-1/events_1_app-1"
			_, _ = z.Create("eventlog_v2_app-1/appstatus_app-1")
		}
		f, _ := z.Create(name)
		text, _ := os.ReadFile(filepath.Join(dir, fmt.Sprintf("app-%02d", n)))
		_, _ = f.Write(text)
		_ = z.Close()
	}
	var asked string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/v1/applications":
			asked = r.URL.Query().Get("minDate")
			fmt.Fprint(w, `[{"id":"app-0","attempts":[{}]},{"id":"app-1","attempts":[{"attemptId":"2"},{"attemptId":"1"}]},{"id":"app-2","attempts":[{}]}]`)
		case "/api/v1/applications/app-0/logs":
			archive(w, 0)
		case "/api/v1/applications/app-1/2/logs":
			archive(w, 1)
		case "/api/v1/applications/app-2/logs":
			archive(w, 2)
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	logs, err := Fetch(context.Background(), server.URL+"/", time.UnixMilli(first), t.TempDir())
	if err != nil || len(logs) != 3 || asked != "2023-11-14T22:13:20.000GMT" {
		t.Fatalf("%v, %v, since %s", logs, err, asked)
	}
	a, b := compared(t, time.Time{}, logs...), compared(t, time.Time{}, dir)
	if len(a.Runs) != 3 || stage(t, a, "join").Wall != stage(t, b, "join").Wall {
		t.Errorf("%+v, %+v", a.Runs, b.Runs)
	}
	if _, err := Fetch(context.Background(), server.URL+"/elsewhere", time.Time{}, t.TempDir()); err == nil || !strings.Contains(err.Error(), "expected a History Server, got 404") {
		t.Error(err)
	}
}

// A server may not name a folder outside of the one that it is given.
func TestServerOutside(t *testing.T) {
	for _, id := range []string{"..", "../x", "/x", "a/b", "."} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, `[{"id":%q}]`, id) }))
		if _, err := Fetch(context.Background(), server.URL, time.Time{}, t.TempDir()); err == nil || !strings.Contains(err.Error(), "expected the id of an application") {
			t.Errorf("%s: %v", id, err)
		}
		server.Close()
	}
}

// A pipe in a folder of logs is no log: nobody waits for a writer.
func TestPipeInFolder(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Skip(err)
	}
	q := Query{Paths: []string{dir}}
	if logs, err := q.logs(); err != nil || len(logs) != 0 {
		t.Errorf("%q, %v", logs, err)
	}
}
