package policy_test

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// reportedRun runs a policy as tailcut simulate does by default: in the default limits, with 20 reports in the time of a
// mean task. silent is without any report.
func reportedRun(t *testing.T, w *trace.Workload, c *sim.Cluster, spec string, seed uint64, silent bool) *sim.Result {
	t.Helper()
	p, err := policy.New(spec, seed)
	if err != nil {
		t.Fatal(err)
	}
	o := sim.Options{Cluster: c, Limits: sched.DefaultLimits(), Seed: seed}
	if uses, err := policy.UsesProgress(spec); err != nil {
		t.Fatal(err)
	} else if uses && !silent {
		sum := sched.Time(0)
		for _, d := range w.Durations {
			sum += d
		}
		o.Progress.Every = sum / sched.Time(20*len(w.Durations))
	}
	res, err := sim.Run(context.Background(), w, p, o)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// eightRegions are the regions of docs/decisions/0071 with 12 slots each, over links of 100 MB/s.
func eightRegions(t *testing.T) *sim.Cluster {
	t.Helper()
	text := "sites:\n"
	for _, name := range strings.Fields("us-east us-west eu-west eu-central ap-northeast ap-southeast ap-south sa-east") {
		text += "  - {name: " + name + ", machines: 12, slowdown: dolly}\n"
	}
	c, err := sim.ReadCluster("regions.yaml", []byte(text+"links: {bandwidth: 100MB/s, latency: 50ms}\n"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestGeocloneMinutes: by default, and within the default limits, GeoClone's mean flow time is at most 1.05 times that of
// Flutter with Mantri, LATE, Flutter, and the reading of four copies, on jobs whose tasks last minutes and report; on
// average it is less; and less than half of the machine time is fruitless. So say the ends of the 95 % intervals.
func TestGeocloneMinutes(t *testing.T) {
	t.Parallel()
	worlds := map[string]string{"generated": "synth:jobs=20;tasks=uniform:lo=5,hi=60;law=lognormal:mean=180,sd=120;arrivals=poisson:rate=0.0012", "busy": "synth:jobs=20;tasks=uniform:lo=5,hi=60;law=lognormal:mean=180,sd=120;arrivals=poisson:rate=0.003"}
	dir := os.Getenv("TAILCUT_TRACES")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "traces")
	}
	for _, name := range []string{"dss-05d", "dss-125d"} {
		path := filepath.Join(dir, "wfinstances", "pegasus", "montage", "montage-chameleon-"+name+"-001.json.gz")
		if _, err := os.Stat(path); err == nil {
			worlds[name] = path
		}
	}
	const runs = 6
	for name, workload := range worlds {
		t.Run(name, func(t *testing.T) {
			c := eightRegions(t)
			var w *trace.Workload
			var err error
			if strings.HasPrefix(workload, "synth:") {
				w, err = trace.Synthesize(workload, 1)
			} else {
				w, err = trace.Load(workload, nil, 1)
			}
			if err != nil {
				t.Fatal(err)
			}
			flows := func(spec string) (of []float64, fruitless float64) {
				lost, all := 0.0, 0.0
				for k := range runs {
					s := reportedRun(t, w, c, spec, sim.RunSeed(101, k), false).Stats()
					of, lost, all = append(of, s.MeanFlow), lost+s.Fruitless, all+s.Fruitless+s.Fruitful
				}
				return of, lost / all
			}
			ours, fruitless := flows("geoclone")
			if fruitless >= 0.5 {
				t.Errorf("%.0f %% of the machine time is fruitless", 100*fruitless)
			}
			for _, spec := range []string{"mantri:order=fair,sites=flutter", "late", "flutter", "geoclone:left=age,stop=best,copies=4"} {
				theirs, _ := flows(spec)
				var logs []float64
				for k := range ours {
					logs = append(logs, math.Log(ours[k]/theirs[k]))
				}
				ratio := sim.EstimateOf(logs)
				if worst := math.Exp(ratio.Mean + ratio.Half); worst > 1.05 || ratio.Mean >= 0 {
					t.Errorf("%.3f times the mean flow time of %s, up to %.3f", math.Exp(ratio.Mean), spec, worst)
				}
			}
		})
	}
}

// TestGeocloneSilent: where nothing reports, GeoClone by default decides as with left=age, its paper's reading, and as
// if draws and gain did not exist.
func TestGeocloneSilent(t *testing.T) {
	w, err := trace.Synthesize("synth:jobs=20;tasks=uniform:lo=5,hi=60;law=lognormal:mean=180,sd=120;arrivals=poisson:rate=0.003", 1)
	if err != nil {
		t.Fatal(err)
	}
	c := eightRegions(t)
	want := reportedRun(t, w, c, "geoclone:left=age", 1, true).Jobs
	for _, spec := range []string{"geoclone", "geoclone:draws=2,gain=5"} {
		if got := reportedRun(t, w, c, spec, 1, true).Jobs; !slices.Equal(got, want) {
			t.Errorf("%s: jobs end at other instants than with left=age", spec)
		}
	}
	for i := range w.Stages {
		w.Stages[i].Silent = true
	}
	if got := reportedRun(t, w, c, "geoclone", 1, false).Jobs; !slices.Equal(got, want) {
		t.Error("silent stages: jobs end at other instants than with left=age")
	}
}
