//go:build linux && long

package contest

import (
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tailcut/tailcut/laws"
)

// What a server under fifo has kept of twenty jobs predicts how long they take under it and under other policies. The same jobs run under these as well.

var (
	rewrite = flag.Bool("rewrite", false, "write the tables of TestCalibration into the page")
	of      = flag.String("worlds", "twenty,stragglers", "those of TestCalibration, separated by commas; computing wants a machine for itself")
)

const page = "../../docs/explain/calibration.md"

// worlds are those of TestCalibration.
var worlds = []world{
	{name: "twenty", policies: []string{"fifo", "fair", "srpt", "srew", "auto"}, slots: 8, window: time.Minute, load: 1},
	{name: "stragglers", policies: []string{"fifo", "spark", "srew", "auto"}, slots: 8, window: time.Minute, load: 0.7, slow: 0.1},
	{name: "computing", policies: []string{"fifo", "fair", "srpt", "auto"}, slots: 2, window: time.Minute, load: 0.8, burn: true},
}

// terms are the flags of simulations: the model as it is; with reports also of tasks that gave none; with clones that take as long as their originals; and
// with slots that stay empty for 9 ms between two tasks.
var terms = [][]string{nil, {"--progress", "100ms"}, {"--service", "sx:slowdown=(det:value=1)"}, {"--launch-delay", "9ms"}}

// measured are a world's mean flow times in seconds, by policy and draw.
type measured struct {
	live, own map[string][]float64   // of servers, and of simulations of what each has kept
	from      []map[string][]float64 // of simulations of what the server under fifo has kept, by term
}

// predict simulates all policies from what the first one's servers have kept.
func (w *world) predict(t *testing.T, bin string) (from []map[string][]float64) {
	for _, flags := range terms {
		flows := map[string][]float64{}
		for seed := 1; seed <= *seeds; seed++ {
			for name, f := range (tool{bin, w.home(t, seed, w.policies[0])}).simulated(t, w.policies, flags...) {
				flows[name] = append(flows[name], f)
			}
		}
		from = append(from, flows)
	}
	return from
}

// percent words a mean share with its interval.
func percent(x []float64, unit string) string {
	mean, half := laws.MeanInterval(x, 0.95)
	return strings.ReplaceAll(fmt.Sprintf("%+.1f ± %.1f%s", 100*mean, 100*half, unit), "-", "−")
}

// gains are by how much shorter mean flow times are than those of the first policy, draw by draw.
func gains(flows map[string][]float64, name, first string) []float64 {
	return changes(flows[name], flows[first])
}

// rows writes a world's rows of the two tables, and refuses those that are known to be off.
func (w *world) rows(t *testing.T, m *measured, table, model *strings.Builder) {
	first := w.policies[0]
	for _, name := range w.policies {
		flow, half := laws.MeanInterval(m.live[name], 0.95)
		own, predicted := changes(m.own[name], m.live[name]), changes(m.from[0][name], m.live[name])
		fmt.Fprintf(table, "| %s | `%s` | %.2f ± %.2f | %s | %s |", w.name, name, flow, half, percent(own, " %"), percent(predicted, " %"))
		for _, gap := range [][]float64{own, predicted} {
			if mean, half := laws.MeanInterval(gap, 0.95); math.Abs(mean)-half > apart {
				t.Errorf("%s: the mean flow time under %s is off by %s", w.name, name, percent(gap, " %"))
			}
		}
		fmt.Fprintf(model, "| %s | `%s` |", w.name, name)
		for k := range terms {
			fmt.Fprintf(model, " %s |", percent(changes(m.from[k][name], m.live[name]), " %"))
		}
		fmt.Fprintln(model)
		if name == first {
			fmt.Fprintln(table, " | | |")
			continue
		}
		live := gains(m.live, name, first)
		fmt.Fprintf(table, " %s | %s | %s |\n", percent(live, " %"), percent(gains(m.from[0], name, first), " %"), percent(differences(gains(m.from[0], name, first), live), ""))
	}
}

// TestCalibration: from what a server under fifo has kept, simulate predicts mean flow times and what other policies gain. The page has the tables.
func TestCalibration(t *testing.T) {
	bin, folder := build(t), keep(t)
	var table, model strings.Builder
	for i := range worlds {
		w := &worlds[i]
		if !slices.Contains(strings.Split(*of, ","), w.name) {
			continue
		}
		w.folder = folder
		m := &measured{}
		m.live, m.own = w.contend(t, bin, w.policies)
		m.from = w.predict(t, bin)
		checkRanks(t, w.policies, m.live, m.own)
		w.rows(t, m, &table, &model)
	}
	t.Logf("\n%s\n%s", table.String(), model.String())
	if *rewrite {
		fill(t, table.String(), model.String())
	}
}

// fill writes the generated parts of the page.
func fill(t *testing.T, parts ...string) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	pieces := strings.Split(string(text), "<!-- begin -->\n")
	if len(pieces) < len(parts)+1 {
		t.Fatalf("%s has %d places to fill, want %d", page, len(pieces)-1, len(parts))
	}
	for i, part := range parts {
		_, rest, _ := strings.Cut(pieces[i+1], "<!-- end -->")
		pieces[i+1] = part + "<!-- end -->" + rest
	}
	if err := os.WriteFile(page, []byte(strings.Join(pieces, "<!-- begin -->\n")), 0o666); err != nil {
		t.Fatal(err)
	}
}
