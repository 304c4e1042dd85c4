//go:build linux

package attack

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tailcut/tailcut/internal/serve"
	"github.com/tailcut/tailcut/laws"
)

// usage is what a server holds at an instant.
type usage struct{ memory, files, disk float64 } // bytes, descriptors, bytes

// use measures a server, its folder, and what it has left for temporary files.
func (r *realm) use(pid int) (u usage) {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(status)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "VmRSS:" {
			u.memory, _ = strconv.ParseFloat(f[1], 64)
			u.memory *= 1 << 10
		}
	}
	fds, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	u.files = float64(len(fds))
	for _, root := range []string{r.out, r.tmp} {
		_ = filepath.WalkDir(root, func(_ string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() {
				if info, err := e.Info(); err == nil {
					u.disk += float64(info.Size())
				}
			}
			return nil
		})
	}
	return u
}

// least returns the smallest of what samples have.
func least(all []usage, of func(usage) float64) float64 {
	x := math.Inf(1)
	for _, u := range all {
		x = min(x, of(u))
	}
	return x
}

// median returns that of one measure over a stretch of samples.
func median(all []usage, of func(usage) float64) float64 {
	var xs []float64
	for _, u := range all {
		xs = append(xs, of(u))
	}
	slices.Sort(xs)
	return xs[len(xs)/2]
}

// growth returns by how much a measure grows within a quarter of the samples, of which it takes the second half, and half of the 95 % interval of that:
// stretches of the third quarter are compared with those of the last.
func growth(all []usage, of func(usage) float64) (mean, half float64) {
	const stretches = 12
	quarter := len(all) / 4
	var more []float64
	for i := range stretches {
		from, to := i*quarter/stretches, (i+1)*quarter/stretches
		more = append(more, median(all[3*quarter+from:3*quarter+to], of)-median(all[2*quarter+from:2*quarter+to], of))
	}
	return laws.MeanInterval(more, 0.95)
}

// resumeAll has all paused jobs go on, so that what is alive stays as much.
func (r *realm) resumeAll() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	paused, err := r.Jobs(ctx, serve.Filter{States: []serve.State{serve.Paused}})
	if err != nil {
		return
	}
	for i := range paused.Jobs {
		_, _ = r.Resume(ctx, strconv.FormatInt(paused.Jobs[i].ID, 10))
	}
}

// TestSoak lets people submit, pause and cancel for a long time. The server is killed now and then in the first third; then it lives, and what it holds
// in the last third is what it held in the second. A soak of ten minutes or more must not grow at all, as far as that can be told.
func TestSoak(t *testing.T) {
	d, err := shuffled()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_STATE_HOME", filepath.Join(scratch, "state"))
	home, err := os.MkdirTemp(scratch, "soak-")
	if err != nil {
		t.Fatal(err)
	}
	r := newRealm(t, d, *askedSeed, home)
	r.serves, r.most = []string{"--keep", "60"}, 40 // else a busy machine falls behind, and a queue grows
	leave := r.crowd(500 * time.Millisecond)
	began := time.Now()
	for time.Since(began) < *askedSoak/3 && !r.failed {
		r.die(1)
		r.resumeAll()
	}
	e := r.launch()
	if !r.listens(e) {
		t.Fatal("the server does not listen")
	}
	var held []usage
	for tick := 0; time.Since(began) < *askedSoak && !e.within(250*time.Millisecond); tick++ {
		held = append(held, r.use(e.cmd.Process.Pid))
		if tick%12 == 0 {
			r.resumeAll()
		}
	}
	leave()
	if len(held) < 20 {
		t.Fatalf("%d samples", len(held))
	}
	for _, m := range []struct {
		name  string
		of    func(usage) float64
		spare float64 // that may be added beside a tenth
		noise float64 // of stretches: what a leak is far above
	}{
		{"bytes of memory", func(u usage) float64 { return u.memory }, 8 << 20, 0},
		{"descriptors", func(u usage) float64 { return u.files }, 10, 20},
		{"bytes of disk", func(u usage) float64 { return u.disk }, 4 << 20, 64 << 10},
	} {
		n := len(held)
		typical := median
		if m.name == "descriptors" { // as many as jobs run; what was left behind is open at the quietest moment, too
			typical = least
		}
		before, after := typical(held[n/4:n/2], m.of), typical(held[3*n/4:], m.of)
		t.Logf("%.0f %s before, %.0f after", before, m.name, after)
		if m.name == "descriptors" && *askedSoak < 10*time.Minute {
			continue // too short for as many jobs to run at the end on a machine that is busy otherwise
		}
		if after > 1.1*before+m.spare {
			t.Errorf("%s grow from %.0f to %.0f", m.name, before, after)
		}
		if *askedSoak < 10*time.Minute {
			continue
		}
		more, about := growth(held, m.of)
		t.Logf("%+.0f ± %.0f %s from the third quarter to the last", more, about, m.name)
		if more-about > after/50+m.noise {
			t.Errorf("%s grow", m.name)
		}
	}
	r.settleAll(e, least(held, func(u usage) float64 { return u.files })+10)
	t.Logf("%v in %v", r.tally, time.Since(began).Round(time.Second))
}

// settleAll waits for all jobs that the server still has, ends it, and looks at every result. Without jobs the server holds no more than so many
// descriptors.
func (r *realm) settleAll(e *engine, most float64) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	r.resumeAll()
	alive, err := r.Jobs(ctx, serve.Filter{States: []serve.State{serve.Queued, serve.Running, serve.Paused}})
	for i := range alive.Jobs {
		_, waited := r.Wait(ctx, strconv.FormatInt(alive.Jobs[i].ID, 10))
		err = errors.Join(err, waited)
	}
	if err != nil {
		r.wrong("%v", err)
	}
	held := r.use(e.cmd.Process.Pid).files
	for end := time.Now().Add(patience); held > most && time.Now().Before(end); held = r.use(e.cmd.Process.Pid).files {
		time.Sleep(100 * time.Millisecond) // what a job had is let go of beside the loop
	}
	if held > most {
		r.wrong("without jobs the server holds %.0f descriptors, %.0f at most are its own", held, most)
	}
	_ = e.cmd.Process.Signal(os.Interrupt)
	if code, said := r.ended(e); code != 0 {
		r.wrong("after SIGINT the server ends with %d: %s", code, said)
	}
	r.orphans()
	r.replays()
	states := map[string]string{}
	for name, j := range r.jobs {
		if j.id >= 0 && !r.cancellable(j) {
			states[name] = j.state
		}
	}
	r.judge(states)
}
