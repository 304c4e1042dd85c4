package trace

import (
	"math"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/sched"
)

// The shape of Montage for n tasks: 2P + D + 6 = n, and enough pairs of projections for D comparisons.
func TestMontageShape(t *testing.T) {
	for n := leastMontage; n < 3000; n++ {
		p, d := montageShape(n)
		if 2*p+d+6 != n || d < 1 || p*(p-1)/2 < d {
			t.Fatalf("%d tasks: %d projections, %d comparisons", n, p, d)
		}
	}
	for n, want := range map[int][2]int{ // P = round((n-6)/6), raised until C(P,2) >= n-6-2P
		15: {3, 3}, 25: {5, 9}, 50: {8, 28}, 100: {16, 62}, 1000: {166, 662},
	} {
		if p, d := montageShape(n); p != want[0] || d != want[1] {
			t.Errorf("%d tasks: %d projections and %d comparisons, want %v", n, p, d, want)
		}
	}
}

// A job of 100 tasks: each stage and edge as the generator of synthetic Pegasus workflows has them.
func TestMontageJob(t *testing.T) {
	w, err := Load("synth:montage;jobs=1;tasks=100", nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	const p, d = 16, 62
	want := []struct {
		name  string
		tasks int
		mean  float64
	}{
		{"mProject", p, 13.59}, {"mDiffFit", d, 10.59}, {"mConcatFit", 1, 0.08 * d}, {"mBgModel", 1, 0.13 * d}, {"mBackground", p, 10.74},
		{"mImgTbl", 1, 0.37 * p}, {"mAdd", 1, 30.11 * p / 50}, {"mShrink", 1, 12.21 * math.Sqrt(p/50.)}, {"mJPEG", 1, 0},
	}
	for i, st := range w.StagesOf(0) {
		if w.Names[st.Name] != want[i].name || int(st.Tasks) != want[i].tasks {
			t.Errorf("stage %d is %d tasks %s, want %+v", i, st.Tasks, w.Names[st.Name], want[i])
		}
		if m := want[i].mean; m > 0 && math.Abs(st.Mean.Seconds()-m) > 1 { // four deviations of the one with most variance
			t.Errorf("%s takes %v, want about %v s", want[i].name, st.Mean, m)
		}
	}
	// Order: 2D + D + 1 + P + P + P + 3 pairs of tasks wait for each other, and P more carry data to mAdd.
	pairs, seen := 0, map[[2]uint32]bool{}
	for _, e := range w.EdgesOf(0) {
		from, to := w.Stages[e.From], w.Stages[e.To]
		switch e.Kind {
		case sched.Barrier:
			pairs += int(from.Tasks * to.Tasks)
		case sched.Pointwise:
			pairs += int(from.Tasks)
		case sched.PerTask:
			pairs += int(e.Pairs)
			for k := 0; k < len(w.Pairs); k += 2 {
				a, b := w.Pairs[k], w.Pairs[k+1]
				pair := [2]uint32{a[0], b[0]}
				if a[1] != b[1] || a[0] >= b[0] || seen[pair] {
					t.Errorf("comparison %d is of %v", a[1], pair)
				}
				seen[pair] = true
			}
		}
	}
	if want := 3*d + 1 + 3*p + 3 + p; pairs != want {
		t.Errorf("%d pairs of tasks wait, want %d", pairs, want)
	}
	spec := specs(w)[0]
	if got := spec.Stages[0].Inputs[0][0].Bytes; got != 4_222_080 {
		t.Errorf("a projection reads %d bytes", got)
	}
	if got, g := float64(spec.Edges[len(spec.Edges)-2].Bytes[0])/2, math.Sqrt(p/50.); math.Abs(got/g/173_465_280-1) > 0.1 {
		t.Errorf("a mosaic of %v bytes", got)
	}
}

// The sizes of the two mixes: 90 and 430 tasks on average, and the parts in the three ranges (GeoClone, Section 6).
func TestMontageMixes(t *testing.T) {
	for mix, want := range map[string]struct {
		mean, sd float64 // sd only bounds the error of the mean
		parts    [3]float64
	}{
		"facebook": {90, 270, [3]float64{0.89, 0.08, 0.03}},
		"hpc":      {430, 120, [3]float64{0, 0.47, 0.53}},
	} {
		const n = 200_000
		g := MontageJobs{Mix: mix, Seed: 1}
		sum, parts := 0.0, [3]float64{}
		for k := range uint32(n) {
			size := g.size(k)
			sum += float64(size)
			switch {
			case size < 150:
				parts[0]++
			case size <= 500:
				parts[1]++
			default:
				parts[2]++
			}
		}
		if got := sum / n; math.Abs(got-want.mean) > 0.5+4*want.sd/math.Sqrt(n) {
			t.Errorf("%s: %v tasks on average, want %v", mix, got, want.mean)
		}
		for i, part := range parts {
			if math.Abs(part/n-want.parts[i]) > 0.005 { // the ranges meet at 150
				t.Errorf("%s: part %d is %v, want %v", mix, i, part/n, want.parts[i])
			}
		}
	}
}

func TestMontageArrivalsAndScale(t *testing.T) {
	one, err := Load("synth:montage;jobs=2000;tasks=5;rate=0.1", nil, 3)
	if err != nil {
		t.Fatal(err)
	}
	ten, err := Load("synth:montage;jobs=2000;tasks=5;rate=0.1;scale=10", nil, 3)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := ten.WorkSeconds(), 10*one.WorkSeconds(); math.Abs(got-want) > 1e-6*want {
		t.Errorf("%v s of work, want %v", got, want)
	}
	if got := one.Horizon().Seconds() / 1999; math.Abs(got-10) > 4*10/math.Sqrt(1999) {
		t.Errorf("gaps are %v s on average, want 10", got)
	}
	if got := one.TasksOf(0); got != 5 || one.Jobs[0].Stages != 2 {
		t.Errorf("a small job has %d tasks in %d stages", got, one.Jobs[0].Stages)
	}
}

func TestMontageErrors(t *testing.T) {
	for spec, want := range map[string]string{
		"synth:montage;mix=google": `synth: field mix: expected facebook or hpc, got "google"`,
		"synth:montage;rate=0":     `synth: field rate: expected a positive number, got "0"`,
		"synth:montage;jobs=x":     `synth: field jobs: expected a whole number from 1 to 50000000, got "x"`,
		"synth:montage;tasks=0":    `synth: field tasks: expected a whole number between 1 and`,
		"synth:montage;scale=inf":  `synth: field scale: expected a positive number`,
		"synth:montage;x=1":        `synth: field x: expected one of synth:montage;jobs=100`,
		"synth:montage;scale=1e30": `synth: job 0: `,
	} {
		if _, err := Load(spec, nil, 1); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s gives %v, want %s", spec, err, want)
		}
	}
}

func FuzzMontage(f *testing.F) {
	f.Add("jobs=2;mix=hpc;rate=3;scale=2;seed=1")
	f.Fuzz(func(t *testing.T, body string) {
		if g, err := parseMontage(body, 1); err == nil && g.Tasks < 500 {
			g.Jobs = min(g.Jobs, 3)
			_, _ = g.Workload("f")
		}
	})
}
