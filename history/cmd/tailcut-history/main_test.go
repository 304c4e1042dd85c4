package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/past"
	"github.com/tailcut/tailcut/sched"
)

// TestMain is the program itself under its name, and under another one that adds jobs and may be killed.
func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case past.Program:
		main()
	case "adder":
		adder(os.Args[1], os.Args[2])
	default:
		os.Exit(m.Run())
	}
}

// install puts this test under both names on PATH.
func install(t testing.TB) (folder string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	for _, name := range []string{past.Program, "adder"} {
		if err := os.Symlink(self, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	return t.TempDir()
}

// made is a job with tasks that took a second each.
func made(run string, tasks int) *past.JobRecord {
	c := &past.AttemptColumns{}
	for i := range tasks {
		c.Task, c.Number, c.Began, c.Ran = append(c.Task, i), append(c.Number, 0), append(c.Began, 0), append(c.Ran, sched.Second+sched.Time(i)*1000)
		c.End, c.Clone = append(c.End, live.Won), append(c.Clone, false)
	}
	now := time.Now()
	return &past.JobRecord{
		Run: run, Name: "nightly", State: past.Succeeded, Policy: "fifo", Slots: 4, Submitted: now.Add(-time.Minute), Ended: now,
		Spec:   &sched.JobSpec{Stages: []sched.StageSpec{{Tasks: tasks}}},
		Stages: []past.StageRecord{{PastStage: c.Sample("tasks", tasks), Lives: c}},
	}
}

// adder adds jobs for ever, several at a time, and prints the name of each once it is acknowledged.
func adder(folder, name string) {
	h, err := past.Open(folder, os.Stderr)
	if err != nil {
		panic(err)
	}
	var mu sync.Mutex
	for k := range 4 {
		go func() {
			for i := 0; ; i++ {
				run := fmt.Sprintf("%s-%d-%d", name, k, i)
				if err := h.Add(context.Background(), made(run, 50)); err != nil {
					continue // the program was killed twice
				}
				mu.Lock()
				fmt.Println(run)
				mu.Unlock()
			}
		}()
	}
	select {}
}

// Whoever is killed, the program or those who add, at any instant: what was acknowledged is there, whole and once.
func TestKills(t *testing.T) {
	folder := install(t)
	rng := rand.New(rand.NewPCG(1, uint64(time.Now().UnixNano())))
	var acknowledged []string
	slower := 1 // the busier the machine: a round that ends before anything is acknowledged says nothing
	wait := func(least, most int) {
		time.Sleep(time.Duration(slower*(least+rng.IntN(most-least))) * time.Millisecond)
	}
	for round := 0; round < 15 || len(acknowledged) < 50 && round < 150; round++ {
		var out bytes.Buffer
		cmd := exec.Command("adder", folder, strconv.Itoa(round))
		cmd.Stdout, cmd.Stderr = &out, os.Stderr
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			wait(20, 140)
			for _, pid := range children(t, cmd.Process.Pid) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		wait(0, 150)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		whole, _, _ := cutLast(out.String()) // a name that was cut short is none
		if whole == "" {
			slower = min(2*slower, 32)
		}
		acknowledged = append(acknowledged, strings.Fields(whole)...)
	}
	if len(acknowledged) < 50 {
		t.Errorf("only %d jobs were added: this says little", len(acknowledged))
	}
	h, err := past.Open(folder, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	jobs, err := h.Jobs(t.Context(), &past.Query{Attempts: true, Most: 1_000_000})
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]int{}
	for _, j := range jobs {
		there[j.Run]++
		if j.Stages[0].Lives.Len() != 50 {
			t.Errorf("%s has %d attempts", j.Run, j.Stages[0].Lives.Len())
		}
	}
	for _, run := range acknowledged {
		if there[run] != 1 {
			t.Errorf("%s was acknowledged and is there %d times", run, there[run])
		}
	}
	t.Logf("%d acknowledged, %d there", len(acknowledged), len(jobs))
	if err := h.Close(); err != nil {
		t.Error(err)
	}
}

func cutLast(text string) (before, after string, found bool) {
	i := strings.LastIndexByte(text, '\n')
	return text[:i+1], text[i+1:], i >= 0
}

// children returns the processes that a process has started.
func children(t *testing.T, pid int) (all []int) {
	t.Helper()
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, path := range tasks {
		text, _ := os.ReadFile(path)
		for _, word := range strings.Fields(string(text)) {
			if n, err := strconv.Atoi(word); err == nil {
				all = append(all, n)
			}
		}
	}
	return all
}

// What is wrong with a database is the answer, in one line, and the program ends in peace.
func TestUnusable(t *testing.T) {
	folder := install(t)
	if err := os.WriteFile(filepath.Join(folder, past.DatabaseName), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	h, err := past.Open(folder, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := h.Add(t.Context(), made("r", 1)); err == nil || !strings.Contains(err.Error(), "is not a database") {
			t.Error(err)
		}
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	if err := h.Add(t.Context(), made("r", 1)); err == nil {
		t.Error("a closed history takes jobs")
	}
}

// Mistakes in a call are answered, and the next call is answered as well.
func TestMistakes(t *testing.T) {
	h, err := past.Open(install(t), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	uneven := made("r", 2)
	uneven.Stages[0].Lives.Ran = uneven.Stages[0].Lives.Ran[:1]
	for want, j := range map[string]*past.JobRecord{
		"field run: ": made("", 1), "field name: ": {Run: "r"}, "field state: ": {Run: "r", Name: "n", State: "fine"}, "columns of one length": uneven,
	} {
		if err := h.Add(t.Context(), j); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := h.Jobs(t.Context(), &past.Query{Most: -1}); err == nil || !strings.Contains(err.Error(), "field most: ") {
		t.Error(err)
	}
	if err := h.Add(t.Context(), made("r", 2)); err != nil {
		t.Error(err)
	}
	if names, err := h.Names(t.Context()); err != nil || len(names) != 1 {
		t.Error(names, err)
	}
}

func TestUsage(t *testing.T) {
	for want, args := range map[string][]string{
		"unknown command": {"forget"}, "accepts 1 arg": {"keep"}, "--days: ": {"keep", "x", "--days", "-1"}, "--bytes: ": {"keep", "x", "--bytes", "-5"},
	} {
		var said bytes.Buffer
		if status := run(args, nil, &said, &said); status != 2 || !strings.Contains(said.String(), want) || strings.Count(said.String(), "\n") != 1 {
			t.Errorf("%v: status %d, %s", args, status, &said)
		}
	}
}
