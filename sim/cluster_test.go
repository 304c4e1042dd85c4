package sim

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/sched"
)

const clusterText = `# a cloud and two edges
sites:
  - name: dc
    machines: 4
    slots: 2
    speed: {mean: 1.2, cv: 0.1}
    slowdown: dolly
  - {name: edge1, machines: 1, speed: 0.5}
  - name: edge2
    machines: 2
    slowdown: uniform:lo=1,hi=2
links:
  bandwidth: 50Mbit/s
  latency: 20ms
  between:
    - {sites: [edge1, edge2], bandwidth: 1MB/s}
    - {from: dc, to: edge1, latency: 5ms}
`

func TestReadCluster(t *testing.T) {
	c, err := ReadCluster("c.yaml", []byte(clusterText))
	if err != nil {
		t.Fatal(err)
	}
	if c.Machines() != 7 || c.Slots() != 11 {
		t.Errorf("%d machines with %d slots, want 7 with 11", c.Machines(), c.Slots())
	}
	if got, want := c.Sites[0].Speed, (Speed{Mean: 1.2, SD: 0.12, Min: 0.2, Max: 3}); got != want {
		t.Errorf("speed %+v, want %+v", got, want)
	}
	if got := c.Sites[1].Speed.Quantile(0.3); got != 0.5 {
		t.Errorf("speed of edge1 is %v, want 0.5", got)
	}
	for _, l := range []struct {
		from, to  sched.SiteID
		bandwidth float64
		latency   sched.Time
	}{{0, 1, 6.25e6, 5e6}, {1, 0, 6.25e6, 20e6}, {1, 2, 1e6, 20e6}, {2, 1, 1e6, 20e6}, {0, 0, math.Inf(1), 0}} {
		if b, lat := c.Network.Link(l.from, l.to); b != l.bandwidth || lat != l.latency {
			t.Errorf("link %d to %d has %v B/s and %v, want %v and %v", l.from, l.to, b, lat, l.bandwidth, l.latency)
		}
	}
	if err := c.validate(); err != nil {
		t.Error(err)
	}
}

func TestClusterErrors(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"machines: 4", "machines: 0", `c.yaml:4: field sites[0].machines: expected a whole number between 1 and 16777216, got "0"`},
		{"slots: 2", "slots: -2", `c.yaml:5: field sites[0].slots: expected a whole number between 1 and 65536, got "-2"`},
		{"    machines: 2\n", "", `c.yaml:9: field sites[2]: expected a field machines, the number of machines of site "edge2"`},
		{"cv: 0.1", "cv: -1", `c.yaml:6: field sites[0].speed.cv: expected a number of at least 0, got "-1"`},
		{"cv: 0.1", "min: 5", `c.yaml:6: field sites[0].speed.max: expected at least min, 5, got 3`},
		{"mean: 1.2", "mean: 120", `c.yaml:6: field sites[0].speed.mean: expected a mean near the range of 0.2 to 3, got 120`},
		{"speed: 0.5", "speed: -0.5", `c.yaml:8: field sites[1].speed: expected a positive number, got "-0.5"`},
		{"slowdown: dolly", "slowdown: molly", `c.yaml:7: field sites[0].slowdown: expected none, dolly or a law: `},
		{"uniform:lo=1", "uniform:lo=-1", `c.yaml:11: field sites[2].slowdown: expected a law of factors of at least 0, `},
		{"slowdown: dolly", "pace: dolly", `c.yaml:7: field sites[0].pace: expected one of the fields `},
		{"slowdown: dolly", "slots: 3", `c.yaml:7: field sites[0].slots: expected each field once`},
		{"name: edge2", "name: dc", `c.yaml:9: field sites[2]: expected a name of its own, "dc" is there twice`},
		{"bandwidth: 50Mbit/s", "bandwidth: 50", `c.yaml:13: field links.bandwidth: expected a bandwidth such as 50Mbit/s or 6MB/s, got "50"`},
		{"bandwidth: 50Mbit/s", "bandwidth: -50Mbit/s", `c.yaml:13: field links.bandwidth: expected a bandwidth such as 50Mbit/s`},
		{"  bandwidth: 50Mbit/s\n", "", `c.yaml:3: field sites[0]: expected a bandwidth from every other site, none is given from "edge1" to "dc"`},
		{"latency: 20ms", "latency: -20ms", `c.yaml:14: field links.latency: expected a duration of at least 0 such as 20ms, got "-20ms"`},
		{"[edge1, edge2]", "[edge1, edge3]", `c.yaml:16: field links.between[0].sites[1]: expected the name of a site, got "edge3"`},
		{"[edge1, edge2]", "[edge1]", `c.yaml:16: field links.between[0].sites: expected two sites, got 1`},
		{"from: dc", "from: edge1", `c.yaml:17: field links.between[1]: expected two different sites, got "edge1" twice`},
		{"from: dc, ", "", `c.yaml:17: field links.between[1]: expected the fields from and to, or sites: [A, B] for both directions`},
		{"slots: 2", "busy: {level: 1}", `c.yaml:5: field sites[0].busy: expected a level that can be below 1, kept for at least 1ms`},
		{"slots: 2", "busy: {keep: 1m}", `c.yaml:5: field sites[0].busy: expected a field level`},
		{"slots: 2", "busy: {level: much}", `c.yaml:5: field sites[0].busy.level: expected a number or a law of the part that is busy: `},
		{"slots: 2", "up: 3MB/s", `c.yaml:5: field sites[0].up: expected links.shared: true beside it`},
		{"latency: 20ms", "shared: yes", `c.yaml:14: field links.shared: expected true or false, got "yes"`},
		{"links:", "linx:", `c.yaml:12: field linx: expected one of the fields links, money, sites`},
		{"sites:\n", "sites: {}\nx:\n", `c.yaml:3: field x: expected one of the fields links, money, sites`},
		{clusterText, "sites: []", `c.yaml:1: field sites: expected between 1 and 4096 sites, got 0`},
		{clusterText, "sites: 3", `c.yaml:1: field sites: expected a list`},
		{clusterText, "", `c.yaml:1: expected a cluster, but the file is empty`},
		{clusterText, "- a", `c.yaml:1: expected a mapping with the fields sites and links`},
		{clusterText, "links: {}", `c.yaml:1: expected a field sites, a list`},
		{clusterText, clusterText + "---\na: b\n", `c.yaml:18: expected one cluster, but a second document begins here`},
		{"slots: 2", "slots: [", `c.yaml:4: expected YAML: `},
	} {
		text := strings.Replace(clusterText, c.from, c.to, 1)
		if _, err := ReadCluster("c.yaml", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q instead of %q gives\n%v\nwant\n%s", c.to, c.from, err, c.want)
		}
	}
}

func FuzzReadCluster(f *testing.F) {
	f.Add(clusterText)
	f.Add("sites: [{name: a, machines: 1, speed: {mean: 1, cv: 1, min: 1, max: 1}}]")
	f.Add("sites: [{name: 'aws:a', machines: 1}, {name: 'gcp:b', machines: 1}]\nlinks: {measured: [x.csv], latency: 1s}")
	f.Add(pricedText)
	f.Add("sites: &s [{name: a, machines: 1}]\nlinks: {between: *s}")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := readCluster("f", []byte(text), func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(skyText)), nil })
		if err != nil {
			if line := err.Error(); strings.Contains(line, "\n") || !strings.HasPrefix(line, "f:") && !strings.Contains(line, ":1: ") {
				t.Fatalf("an error that is not one line: %q", line)
			}
			return
		}
		if err := c.validate(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestDollyTable compares the law of slowdowns with the table that GeoClone cites (Fig. 2), and with what is derived from it: mean, deviation, and the
// means of the least of several draws.
func TestDollyTable(t *testing.T) {
	law, err := laws.Parse(Dolly)
	if err != nil {
		t.Fatal(err)
	}
	near := func(what string, got, want, by float64) {
		t.Helper()
		if !(math.Abs(got-want) <= by) {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	near("mean", law.Mean(), 4.691, 1e-9)
	near("deviation", math.Sqrt(law.Variance()), 3.09, 0.005)
	for n, want := range map[int]float64{2: 2.943, 3: 2.140, 4: 1.715, 5: 1.471} {
		got, _ := laws.OrderMean(law, 1, n)
		near(fmt.Sprintf("least of %d", n), got, want, 0.0005)
	}
	path := filepath.Join(traces(), "slowdown", "dolly_1_12.csv")
	file, err := os.Open(path)
	if err != nil {
		t.Skipf("no table at %s; set TAILCUT_TRACES", path)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] {
		s, _ := strconv.ParseFloat(row[0], 64)
		p, _ := strconv.ParseFloat(row[1], 64)
		near("P("+row[0]+")", law.CDF(s)-law.CDF(s-0.5), p, 1e-12)
	}
}

// traces is the folder of public traces.
func traces() string {
	if dir := os.Getenv("TAILCUT_TRACES"); dir != "" {
		return dir
	}
	return filepath.Join("..", "..", "shared", "traces")
}

func TestSpeedQuantile(t *testing.T) {
	s := Speed{Mean: 1, SD: 0.24, Min: 0.2, Max: 3}
	// The quantiles of a normal law that is hardly truncated: 0.5 and 0.8413 are the mean and a deviation above it.
	for u, want := range map[float64]float64{0.5: 1, 0.841344746: 1.24} {
		if got := s.Quantile(u); math.Abs(got-want) > 2e-3 {
			t.Errorf("quantile %v is %v, want %v", u, got, want)
		}
	}
	tight := Speed{Mean: 1, SD: 1, Min: 0.9, Max: 1.1}
	for _, u := range []float64{1e-16, 0.5, 1 - 1e-16} {
		if got := tight.Quantile(u); !(got >= 0.9 && got <= 1.1) {
			t.Errorf("quantile %v is %v, outside of 0.9 to 1.1", u, got)
		}
	}
}

// Evaluation of GeoClone: 100 sites, 30,000 slots by Zipf's law; bandwidths between 15 and 50 Mbit/s; the mean speed of the largest site is 1 and of the
// smallest 0.6.
func TestWaxmanWorld(t *testing.T) {
	c, err := LoadCluster("synth:waxman", 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Sites) != 100 || c.Slots() != 30000 {
		t.Errorf("%d sites with %d slots, want 100 with 30000", len(c.Sites), c.Slots())
	}
	if got := c.Sites[0].Machines; got != 5783 { // 30000/H(100) = 30000/5.18738 = 5783.3
		t.Errorf("the largest site has %d slots, want 5783", got)
	}
	first, last := c.Sites[0].Speed, c.Sites[99].Speed
	if first.Mean != 1 || math.Abs(first.SD-0.1) > 1e-12 || math.Abs(last.Mean-0.6) > 1e-12 || math.Abs(last.SD-0.18) > 1e-12 {
		t.Errorf("speeds of the largest and the smallest site are %+v and %+v", first, last)
	}
	for i, b := range c.Network.Bandwidth {
		if mbit := b / rateUnits["Mbit/s"]; i/100 != i%100 && !(mbit >= 15 && mbit < 50) {
			t.Fatalf("a link has %v Mbit/s", mbit)
		}
		if back := c.Network.Bandwidth[i%100*100+i/100]; back != b {
			t.Fatalf("a link has %v B/s, the way back %v", b, back)
		}
	}
	if err := c.validate(); err != nil {
		t.Error(err)
	}
}

func TestZipf(t *testing.T) {
	for _, c := range []struct {
		sites, slots int
		skew         float64
		want         string
	}{
		{4, 100, 0, "[25 25 25 25]"},
		{3, 11, 1, "[6 3 2]"},
		{3, 10, 0, "[4 3 3]"},
		{5, 5, 3, "[1 1 1 1 1]"},
		{4, 6, 5, "[3 1 1 1]"}, // all but the first are raised to one slot
	} {
		if got := fmt.Sprint(zipf(c.sites, c.slots, c.skew)); got != c.want {
			t.Errorf("%d slots for %d sites with skew %v: %s, want %s", c.slots, c.sites, c.skew, got, c.want)
		}
	}
}

func TestClusterFileBounds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "zeros")
	if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, maxClusterFile+1)); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadCluster(path, 1); err == nil || err.Error() != path+": expected a cluster file of at most 16 MiB" {
		t.Errorf("got %v", err)
	}
}

func TestWaxmanErrors(t *testing.T) {
	for spec, want := range map[string]string{
		"synth:waxman;sites=0":            `synth:waxman: field sites: expected a whole number between 1 and 4096, got "0"`,
		"synth:waxman;sites=9;slots=8":    `synth:waxman: field slots: expected at least one for each of the 9 sites, got 8`,
		"synth:waxman;skew=-1":            `synth:waxman: field skew: expected a number between 0 and 10, got "-1"`,
		"synth:waxman;speed=1":            `synth:waxman: field speed: expected uneven or even, got "1"`,
		"synth:waxman;colour=1":           `synth:waxman: field colour: expected one of synth:waxman;sites=100`,
		"synth:waxman;slowdown=exp:mu=-1": `synth:waxman: field slowdown: expected none, dolly or a law`,
		"synth:waxman;sites=9;sites=8":    `synth:waxman: field sites is given twice`,
		"synth:waxmen":                    `expected synth:waxman;sites=100`,
	} {
		if _, err := LoadCluster(spec, 1); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s gives %v, want %s", spec, err, want)
		}
	}
}
