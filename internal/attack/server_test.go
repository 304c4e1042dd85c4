//go:build linux

package attack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tailcut/tailcut/internal/serve"
)

// realm is a server that is attacked, with those who submit to it. The server is the attack's engine, and each job is an attack of its own, whose
// result is looked at in the end.
type realm struct {
	*attack
	*serve.Client
	socket string
	serves []string // more flags of the server
	most   int      // jobs at a time, 0 for as many as come

	mu     sync.Mutex
	jobs   map[string]*submitted // by name
	tally  map[string]int
	serial int
}

// submitted is a job that somebody has handed in, perhaps.
type submitted struct {
	*attack
	name      string
	id        int64  // -1: nobody answered
	state     string // in which it may end, other than succeeded
	behind    string // the job that it goes on from
	mayCancel bool
}

// newRealm makes a realm that has no server yet.
func newRealm(t *testing.T, d *deck, seed uint64, home string) *realm {
	a := &attack{t: t, deck: d, seed: seed, draw: rand.New(rand.NewPCG(seed, 23)), home: home, kind: &kind{name: "server"}, policy: "several"}
	a.out, a.tmp = filepath.Join(home, "queue"), filepath.Join(home, "tmp")
	a.name = fmt.Sprintf("%s-%d-%d", t.Name(), seed, os.Getpid())
	r := &realm{attack: a, socket: filepath.Join(home, "socket"), jobs: map[string]*submitted{}, tally: map[string]int{}}
	var err error
	if r.Client, err = serve.NewClient(r.socket); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *realm) count(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tally[what]++
}

// launch starts a server, which may not listen yet.
func (r *realm) launch() *engine {
	r.policy = r.serving(r.draw)
	return r.start(append([]string{"serve", "--dir", r.out, "--socket", r.socket, "--slots", strconv.Itoa(2 + r.draw.IntN(4)), "--policy", r.policy, "--history", "none"}, r.serves...))
}

// serving draws a policy that a server can have.
func (r *realm) serving(draw *rand.Rand) string {
	for {
		p := r.deck.policies[draw.IntN(len(r.deck.policies))]
		if _, _, err := serve.FitPolicy(p, 1); err == nil {
			return p
		}
	}
}

// listens waits until a server listens, or ends.
func (r *realm) listens(e *engine) bool {
	for end := time.Now().Add(patience); time.Now().Before(end); {
		if said, _ := os.ReadFile(e.said); bytes.Contains(said, []byte("listening on ")) {
			return true
		}
		if e.within(2 * time.Millisecond) {
			return false
		}
	}
	return false
}

// submit hands in a job of a random kind with the command for it, and keeps what was answered.
func (r *realm) submit(draw *rand.Rand) {
	r.mu.Lock()
	name := fmt.Sprintf("j%05d", r.serial)
	r.serial++
	r.mu.Unlock()
	home := filepath.Join(r.home, "jobs", name)
	b := &attack{t: r.t, deck: r.deck, seed: r.seed, draw: draw, policy: r.policy, home: home, out: filepath.Join(home, "out"), tmp: r.tmp, name: r.name}
	_ = os.MkdirAll(home, 0o777)
	j := &submitted{attack: b, name: name, id: -1, state: "succeeded"}
	args := []string{"submit", "--server", r.socket, "--name", name, "--output", b.out, "--history", "none", "--retries", "50"}
	switch draw.IntN(8) {
	case 0:
		b.kind, j.state = &kind{name: "failing", args: []string{"--tasks", "5", "--", "sh", "-c", "sleep 0.01; test {} != 3"}}, "failed"
		args[len(args)-1] = "1"
	case 1:
		j.behind = r.latest()
	}
	if j.behind != "" {
		before := r.jobs[j.behind]
		b.kind = &kind{name: "behind", args: []string{"--tasks", "1", "--", "cat", filepath.Join(before.out, "part-00011")}}
		b.kind.want = map[string]string{"./": "", "_SUCCESS": "", "part-00000": before.kind.want["part-00011"]}
		args = append(args, "--after", strconv.FormatInt(before.id, 10))
	}
	if b.kind == nil {
		b.kind = r.deck.kinds[draw.IntN(len(r.deck.kinds))]
	}
	b.story = []string{name}
	r.mu.Lock()
	r.jobs[name] = j
	r.mu.Unlock()
	cmd := exec.Command(tailcut, append(args, b.kind.args...)...)
	cmd.Env = append(os.Environ(), mark+"="+r.name, "TMPDIR="+r.tmp)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	r.mu.Lock()
	defer r.mu.Unlock()
	switch code := cmd.ProcessState.ExitCode(); {
	case err == nil:
		j.id, err = strconv.ParseInt(strings.TrimSpace(out.String()), 10, 64)
		if err != nil {
			r.wrong("%s: the answer is %q", name, out.String())
		}
		r.tally["accepted"]++
	case code == 2 && j.behind != "" && r.jobs[j.behind].mayCancel: // it was cancelled before
		r.tally["refused"]++
	case code == 2 || strings.Contains(said.String(), "panic"):
		r.wrong("%s: submit ends with %d: %s", name, code, said.String())
	default:
		r.tally["not answered"]++
	}
}

// cancellable tells whether somebody may have cancelled a job, or the one that it goes on from.
func (r *realm) cancellable(j *submitted) bool {
	return j.mayCancel || j.behind != "" && r.cancellable(r.jobs[j.behind])
}

// alive returns how many jobs are not over, as far as a server says so.
func (r *realm) alive() int {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	jobs, err := r.Jobs(ctx, serve.Filter{States: []serve.State{serve.Queued, serve.Running, serve.Paused}})
	if err != nil {
		return 0
	}
	return len(jobs.Jobs)
}

// latest returns a late array that was accepted and that others can go on from.
func (r *realm) latest() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	names := slices.Sorted(maps.Keys(r.jobs))
	for _, name := range names[max(0, len(names)-15):] {
		if j := r.jobs[name]; j.id >= 0 && !j.mayCancel && (j.kind.name == "small" || j.kind.name == "large" || j.kind.name == "resumable") && r.draw.IntN(3) > 0 {
			return name
		}
	}
	return ""
}

// meddle does something to a job or to the policy. Nobody may be there to hear it.
func (r *realm) meddle(draw *rand.Rand) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if draw.IntN(3) == 0 {
		if _, err := r.SetPolicy(ctx, r.serving(draw)); err == nil {
			r.count("policy changed")
		}
		return
	}
	r.mu.Lock()
	names := slices.Sorted(maps.Keys(r.jobs))
	name := ""
	if len(names) > 0 {
		name = names[max(0, len(names)-1-draw.IntN(8))]
	}
	cancels := draw.IntN(8) == 0
	if name == "" || r.jobs[name].id < 0 {
		name = ""
	} else if cancels {
		r.jobs[name].mayCancel = true
	}
	r.mu.Unlock()
	if name == "" {
		return
	}
	what, ask := "resumed", r.Resume
	switch {
	case cancels:
		what, ask = "cancelled", r.Cancel
	case draw.IntN(2) == 0:
		what, ask = "paused", r.Pause
	}
	if _, err := ask(ctx, name); err == nil {
		r.count(what)
	}
}

// crowd has people submit and meddle until the returned function is called.
func (r *realm) crowd(pace time.Duration) (leave func()) {
	stop := make(chan struct{})
	var all sync.WaitGroup
	forever := func(k uint64, pace time.Duration, does func(*rand.Rand)) {
		draw := rand.New(rand.NewPCG(r.seed, 100+k))
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(time.Duration(draw.Int64N(int64(2 * pace)))):
					does(draw)
				}
			}
		})
	}
	for k := range uint64(3) {
		forever(k, pace, func(draw *rand.Rand) {
			if r.most == 0 || r.alive() < r.most {
				r.submit(draw)
			}
		})
	}
	forever(9, pace/4, r.meddle)
	return func() {
		close(stop)
		all.Wait()
	}
}

// orphans waits for the end of all processes but those that submit.
func (r *realm) orphans() {
	r.t.Helper()
	r.outlive("server", func(args []byte) bool {
		return len(args) == 0 || bytes.HasPrefix(args, []byte(tailcut+"\x00submit\x00"))
	})
}

// replays holds the journal of a server that is gone against fresh cores.
func (r *realm) replays() {
	if segments, _ := filepath.Glob(filepath.Join(r.out, "journal", "[0-9]*")); len(segments) == 0 {
		return
	}
	if said, err := exec.Command(tailcut, "replay", r.out).CombinedOutput(); err != nil {
		r.wrong("tailcut replay: %v: %s", err, said)
	}
	r.count("replayed")
}

// soon is a time in which a server may not have begun to listen.
const soon = 25 * time.Millisecond

// die lets so many servers die, at any instant of their lives.
func (r *realm) die(deaths int) {
	for i := 0; i < deaths && !r.failed; i++ {
		e := r.launch()
		how := ends[r.draw.IntN(len(ends))]
		at := time.Duration(r.draw.Int64N(int64(500 * time.Millisecond)))
		if r.draw.IntN(5) == 0 {
			at %= soon
			r.count("before it listens")
		} else if !r.listens(e) {
			code, said := r.ended(e)
			r.wrong("the server does not listen, status %d: %s", code, said)
			return
		}
		if e.within(at) {
			code, said := r.ended(e)
			r.wrong("the server ends by itself, status %d: %s", code, said)
			return
		}
		how.kill(r.attack, e)
		if !e.within(patience) {
			r.wrong("a server survives %s after %v: %s", how.name, at, e.stacks())
			r.killAll()
			return
		}
		r.note("%s after %s", how.name, at)
		r.count("by " + how.name)
		if code, said := r.ended(e); code > 0 && (code != 130 || at > soon) && !strings.HasPrefix(how.name, "guard") {
			r.wrong("after %s: status %d: %s", how.name, code, said)
		}
		if how.name != "guard, KILL" { // what has left its group lives until the next server starts
			r.orphans()
		}
		if r.draw.IntN(4) == 0 {
			r.replays()
		}
	}
}

// finish starts a last server, waits for all jobs, and looks at everything.
func (r *realm) finish() {
	if r.failed {
		r.killAll()
		return
	}
	e := r.launch()
	if !r.listens(e) {
		code, said := r.ended(e)
		r.wrong("the last server does not listen, status %d: %s", code, said)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	all, err := r.Jobs(ctx, serve.Filter{})
	if err != nil {
		r.wrong("%v", err)
		return
	}
	seen := map[string]int64{}
	for i := range all.Jobs {
		j := &all.Jobs[i]
		if _, twice := seen[j.Name]; twice || r.jobs[j.Name] == nil {
			r.wrong("job %d (%s) is there twice, or nobody has submitted it", j.ID, j.Name)
			continue
		}
		seen[j.Name] = j.ID
		var p *serve.Problem
		if j.State.Over() {
		} else if _, err := r.Resume(ctx, strconv.FormatInt(j.ID, 10)); err != nil && !errors.As(err, &p) {
			r.wrong("resume %d: %v", j.ID, err)
		}
	}
	states := map[string]string{}
	for name, j := range r.jobs {
		id, there := seen[name]
		if j.id >= 0 && (!there || id != j.id) {
			r.wrong("job %d (%s, %s) was accepted and is lost: %v %d", j.id, name, j.kind.name, there, id)
			continue
		}
		if !there {
			continue
		}
		over, err := r.Wait(ctx, strconv.FormatInt(id, 10))
		if err != nil {
			shown, _ := exec.Command(tailcut, "show", "--server", r.socket, "--tasks", name).CombinedOutput()
			r.wrong("%s (%s) does not end: %v\n%s", name, j.kind.name, err, shown)
			break
		}
		if states[name] = string(over.State); states[name] != j.state && (states[name] != "cancelled" || !r.cancellable(j)) {
			r.wrong("%s (%s) has %s, want %s: %s", name, j.kind.name, over.State, j.state, over.Why)
		}
		r.count("jobs " + states[name])
	}
	_ = e.cmd.Process.Signal(os.Interrupt)
	if code, said := r.ended(e); code != 0 {
		r.wrong("after SIGINT the last server ends with %d: %s", code, said)
	}
	r.orphans()
	r.replays()
	r.judge(states)
}

// judge looks at the results of all jobs, several at a time.
func (r *realm) judge(states map[string]string) {
	var group sync.WaitGroup
	turns := make(chan struct{}, 2)
	var mu sync.Mutex
	for name, state := range states {
		j := r.jobs[name]
		if state != "succeeded" {
			continue
		}
		turns <- struct{}{}
		group.Go(func() {
			j.right(j.kind, nil)
			mu.Lock()
			r.failed = r.failed || j.failed
			mu.Unlock()
			<-turns
		})
	}
	group.Wait()
	left, _ := filepath.Glob(filepath.Join(r.out, "*"))
	for i := range left {
		left[i] = filepath.Base(left[i])
	}
	if known := []string{"claims", "ended.jsonl", "journal", "lock"}; !slices.Equal(left, known) {
		r.wrong("in the folder of the server: %v, want %v", left, known)
	}
	segments, _ := filepath.Glob(filepath.Join(r.out, "journal", "*"))
	if len(segments) > 2 {
		r.wrong("left of the journal: %v", segments)
	}
}

// TestServerDeaths kills servers while people submit, cancel, pause and change the policy. What was accepted ends as it should, with the result that
// it has alone; what was not answered is there once or not at all.
func TestServerDeaths(t *testing.T) {
	d, err := shuffled()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_STATE_HOME", filepath.Join(scratch, "state"))
	var lock sync.Mutex
	total := map[string]int{}
	deaths, realms := lanes(t, *askedServers, func(_ int, seed uint64) int {
		deaths := min(25, *askedServers / *askedLanes + 1)
		home := filepath.Join(scratch, fmt.Sprintf("server-%d", seed))
		_ = os.MkdirAll(home, 0o777)
		r := newRealm(t, d, seed, home)
		leave := r.crowd(400 * time.Millisecond)
		r.die(deaths)
		leave()
		r.finish()
		lock.Lock()
		defer lock.Unlock()
		for what, n := range r.tally {
			total[what] += n
		}
		if !r.failed {
			os.RemoveAll(home)
		}
		return deaths
	})
	t.Logf("%d deaths of %d queues", deaths, realms)
	for _, what := range slices.Sorted(maps.Keys(total)) {
		t.Logf("%6d %s", total[what], what)
	}
	if total["accepted"] < deaths/2 {
		t.Errorf("%d jobs were accepted: that tests nothing", total["accepted"])
	}
}
