//go:build long

package history

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"iter"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/sched"
)

// What real systems take beside the work of tasks, as far as public logs tell: tables 6 and 7 of docs/explain/calibration.md.

var rewrite = flag.Bool("rewrite", false, "write the tables of TestOverheadsOfLogs into the page instead of comparing them")

const (
	overheadsPage  = "../../docs/explain/calibration.md"
	overheadsGuide = "../../docs/howto/simulate.md" // gives some of the options
	overheadsBegin = "<!-- overheads: go test -tags long -run TestOverheadsOfLogs ./internal/history -args -rewrite -->\n"
	overheadsEnd   = "<!-- end of overheads -->\n"
)

// sparkLogs have the names of the page, and their files.
var sparkLogs = [][2]string{
	{"dr-elephant/event_log_1", "dr-elephant/event_log_1"},
	{"mcp-apache-spark-history-server/...110b", "mcp-apache-spark-history-server/events_1_spark-110be3a8424d4a2789cb88134418217b"},
	{"mcp-apache-spark-history-server/...cc4d", "mcp-apache-spark-history-server/events_1_spark-cc4d115f011443d787f03a71a476a745"},
	{"spark-rapids-tools/eventlog_4nodes_8cores_dynamic_alloc", "spark-rapids-tools/eventlog_4nodes_8cores_dynamic_alloc"},
	{"spark-rapids-tools/nds_q72_dataproc_2_2", "spark-rapids-tools/nds_q72_dataproc_2_2"},
	{"spark-rapids-tools/tasks_executors_fail...", "spark-rapids-tools/tasks_executors_fail_compressed_eventlog"},
	{"sparklint/application_1472176676028_407508_1", "sparklint/application_1472176676028_407508_1"},
	{"sparklint/event_log_1", "sparklint/event_log_1"},
	{"sparklint/spark_event_log_example", "sparklint/spark_event_log_example"},
}

// warmth compares the first wave of a stage on its executors with the tasks after it.
type warmth struct{ more, times float64 } // the difference of the medians in seconds, and their ratio

// costs are what one log tells.
type costs struct {
	name             string
	tasks            int // that succeeded
	ran, collected   float64
	gc, delay, class []float64 // of tasks: share of the run time (of tasks of 100 ms and more), and seconds
	launch           []float64 // seconds, of tasks: delay and class
	near, far        []float64 // seconds for which an executor had a free slot before a task beside its data, and before one away from them
	fresh, used      []warmth  // by stage
	waits            bool      // for localities: spark.locality.wait is not 0
	executors        map[string]slotsOf
	pauses           int     // collections of executors whose number the log has
	paused           float64 // seconds that they took
}

// slotsOf an executor are there from an instant on.
type slotsOf struct {
	added sched.Time
	slots int
}

func costsOf(t *testing.T, name, path string) *costs {
	log, err := Open(path, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	c := &costs{name: name, waits: true, executors: map[string]slotsOf{}}
	c.fromEvents(t, path)
	attempts := map[string][]Record{} // by executor
	stages, _, err := Stages(func(yield func(*Record, error) bool) {
		for a, err := range log.Attempts() {
			if err == nil {
				attempts[a.Executor] = append(attempts[a.Executor], *a)
			}
			if !yield(a, err) {
				return
			}
		}
	}, "", "")
	if err != nil {
		t.Fatal(err)
	}
	submitted := map[string]sched.Time{}
	for _, st := range log.Course().Stages {
		submitted[st.Stage] = st.Submitted
	}
	for executor, all := range attempts {
		c.empty(c.executors[executor], all, submitted)
	}
	firstStage, firstStart := map[int32]*StageRecord{}, map[int32]sched.Time{}
	for _, st := range stages {
		for _, a := range st.Attempts {
			if at, seen := firstStart[a.Executor]; !seen || a.Start < at {
				firstStart[a.Executor], firstStage[a.Executor] = a.Start, st
			}
		}
	}
	for _, st := range stages {
		c.tell(st)
		if w, ok := warming(st, func(executor int32) bool { return firstStage[executor] == st }); ok {
			c.fresh = append(c.fresh, w)
		}
		if w, ok := warming(st, func(executor int32) bool { return firstStage[executor] != st }); ok {
			c.used = append(c.used, w)
		}
	}
	return c
}

// tell adds the times of a stage's tasks.
func (c *costs) tell(st *StageRecord) {
	for _, a := range st.Attempts {
		if a.Outcome != Succeeded {
			continue
		}
		run := (a.Duration - a.Delay - a.Deserialize).Seconds()
		c.tasks++
		c.ran += run
		c.collected += a.GC.Seconds()
		if run >= 0.1 {
			c.gc = append(c.gc, a.GC.Seconds()/run)
		}
		c.delay, c.class = append(c.delay, a.Delay.Seconds()), append(c.class, a.Deserialize.Seconds())
		c.launch = append(c.launch, (a.Delay + a.Deserialize).Seconds())
	}
}

// empty adds for how long an executor had a free slot before each task's first attempt there, while the task waited: since its stage was submitted, the
// executor was added, and all its slots were last taken.
func (c *costs) empty(e slotsOf, attempts []Record, submitted map[string]sched.Time) {
	if e.slots == 0 {
		return
	}
	type change struct {
		at  sched.Time
		who *Record // nil where an attempt ends
	}
	var changes []change
	for i := range attempts {
		a := &attempts[i]
		changes = append(changes, change{a.Start, a}, change{a.Start + a.Duration, nil})
	}
	slices.SortStableFunc(changes, func(x, y change) int {
		ends := func(c change) int { // ends come first, since they free slots
			if c.who == nil {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(ends(x), ends(y)))
	})
	taken, full := 0, e.added
	for _, now := range changes {
		if now.who == nil {
			if taken--; taken == e.slots-1 {
				full = now.at
			}
			continue
		}
		a, gap := now.who, 0.0
		if since, known := submitted[a.Stage]; taken < e.slots {
			gap = max(0, now.at-max(since, full)).Seconds()
			if !known || since == 0 {
				gap = math.NaN()
			}
		}
		taken++
		switch {
		case a.Number > 0 || a.Locality == Unstated || math.IsNaN(gap):
		case a.Locality >= SameRack:
			c.far = append(c.far, gap)
		default:
			c.near = append(c.near, gap)
		}
	}
}

// noted is by how much a driver may note the start of an attempt before the end of the one whose slot it has.
const noted = 20 * sched.Millisecond

// warming compares the first wave, which began before any task of the stage had ended on its executor, with the later tasks. Only executors count on which
// the first wave is of the kind asked for, and only stages with five tasks of each, whose median sizes differ by a quarter at most.
func warming(st *StageRecord, kind func(executor int32) bool) (w warmth, ok bool) {
	firstEnd := map[int32]sched.Time{}
	for _, a := range st.Attempts {
		if end, seen := firstEnd[a.Executor]; a.Outcome == Succeeded && (!seen || a.Start+a.Duration < end) {
			firstEnd[a.Executor] = a.Start + a.Duration
		}
	}
	var first, later, firstBytes, laterBytes []float64
	for _, a := range st.Attempts {
		switch {
		case a.Outcome != Succeeded:
		case a.Start+noted >= firstEnd[a.Executor]:
			later, laterBytes = append(later, a.Duration.Seconds()), append(laterBytes, float64(a.Bytes))
		case kind(a.Executor):
			first, firstBytes = append(first, a.Duration.Seconds()), append(firstBytes, float64(a.Bytes))
		}
	}
	if len(first) < 5 || len(later) < 5 {
		return w, false
	}
	if x, y := at(0.5, firstBytes), at(0.5, laterBytes); max(x, y) > 1.25*min(x, y) {
		return w, false
	}
	return compare(first, later), true
}

func compare(first, later []float64) warmth {
	x, y := at(0.5, first), at(0.5, later)
	return warmth{x - y, x / max(y, 0.001)}
}

// fromEvents reads what the importer does not keep: whether tasks wait for localities, and how many collections there were.
func (c *costs) fromEvents(t *testing.T, path string) {
	type executor struct {
		MinorGCCount, MinorGCTime, MajorGCCount, MajorGCTime int // since it began; times in ms
	}
	type event struct {
		Event     string
		Timestamp int64
		Executor  string `json:"Executor ID"`
		Added     struct {
			Cores int `json:"Total Cores"`
		} `json:"Executor Info"`
		Info struct {
			Executor string `json:"Executor ID"`
		} `json:"Task Info"`
		Metrics    executor          `json:"Task Executor Metrics"`
		Properties map[string]string `json:"Spark Properties"`
	}
	most := map[string]executor{}
	unpacked(t, path, func(line []byte) {
		if text := string(line[:min(len(line), 50)]); !strings.Contains(text, "TaskEnd") && !strings.Contains(text, "EnvironmentUpdate") && !strings.Contains(text, "ExecutorAdded") {
			return
		}
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			return // a log that is cut short
		}
		if wait := e.Properties["spark.locality.wait"]; wait == "0" || wait == "0s" {
			c.waits = false
		}
		if e.Event == "SparkListenerExecutorAdded" {
			c.executors[e.Executor] = slotsOf{sched.Time(e.Timestamp) * sched.Millisecond, e.Added.Cores}
		}
		if m := most[e.Info.Executor]; e.Metrics.MinorGCCount+e.Metrics.MajorGCCount > m.MinorGCCount+m.MajorGCCount {
			most[e.Info.Executor] = e.Metrics
		}
	})
	for _, m := range most {
		c.pauses += m.MinorGCCount + m.MajorGCCount
		c.paused += float64(m.MinorGCTime+m.MajorGCTime) / 1000
	}
}

func unpacked(t *testing.T, path string, each func(line []byte)) {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for in := bufio.NewReaderSize(z, 1<<20); ; {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			each(line)
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// byQuery are the stage runs of the queries of TPC-H on Spark: the first tasks of executors that were just started, and the first wave of a stage on others,
// each compared with the later waves. A query has them of all its stages, sizes and numbers of executors; sizes are the first again, by gigabytes of data.
func byQuery(t *testing.T) (fresh, used, sizes map[string][]warmth) {
	fresh, used, sizes = map[string][]warmth{}, map[string][]warmth{}, map[string][]warmth{}
	type times map[string][]float64 // in ms, by number of executors
	unpacked(t, real(t, "tpch-spark/task_durations.ndjson.gz"), func(line []byte) {
		var dag struct {
			Query  json.Number
			Size   string
			Stages []struct {
				First times `json:"first_wave"`
				Rest  times `json:"rest_wave"`
				Fresh times `json:"fresh_durations"`
			}
		}
		if err := json.Unmarshal(line, &dag); err != nil {
			t.Fatal(err)
		}
		for _, st := range dag.Stages {
			for n, first := range st.First {
				rest, cold := inSeconds(st.Rest[n]), inSeconds(st.Fresh[n])
				warm := inSeconds(first)
				for _, x := range cold { // which are some of the first wave
					if i := slices.Index(warm, x); i >= 0 {
						warm = slices.Delete(warm, i, i+1)
					}
				}
				q := dag.Query.String()
				if len(rest) >= 5 && len(cold) >= 5 {
					fresh[q] = append(fresh[q], compare(cold, rest))
					sizes[dag.Size] = append(sizes[dag.Size], compare(cold, rest))
				}
				if len(rest) >= 5 && len(warm) >= 5 {
					used[q] = append(used[q], compare(warm, rest))
				}
			}
		}
	})
	return fresh, used, sizes
}

func inSeconds(ms []float64) []float64 {
	all := make([]float64, len(ms))
	for i, x := range ms {
		all[i] = x / 1000
	}
	return all
}

// attemptsOf reads the attempts of a log.
func attemptsOf(t *testing.T, name string) iter.Seq[*Record] {
	return func(yield func(*Record) bool) {
		log, err := Open(real(t, name), nil, "")
		if err != nil {
			t.Fatal(err)
		}
		defer log.Close()
		for a, err := range log.Attempts() {
			if err != nil {
				t.Fatal(err)
			}
			if !yield(a) {
				return
			}
		}
	}
}

// beats are the seconds between two starts of tasks on a host, one after the other.
func beats(t *testing.T, name string) (gaps []float64, hosts int) {
	starts := map[string][]sched.Time{}
	for a := range attemptsOf(t, name) {
		if a.Start > 0 && (a.Stage == "map" || a.Stage == "reduce") {
			host := a.Host[strings.LastIndexByte(a.Host, '/')+1:]
			starts[a.Stage+host] = append(starts[a.Stage+host], a.Start)
			if a.Stage == "map" && len(starts[a.Stage+host]) == 1 {
				hosts++
			}
		}
	}
	for _, all := range starts {
		slices.Sort(all)
		for i := range all[1:] {
			gaps = append(gaps, (all[i+1] - all[i]).Seconds())
		}
	}
	slices.Sort(gaps)
	return gaps, hosts
}

// kills are the seconds from the end of the attempt that won to that of one that was killed for it, as the log has them.
func kills(t *testing.T, name string) (all []float64) {
	type task struct {
		job, stage string
		task       int
	}
	won, lost := map[task]sched.Time{}, map[task][]Record{}
	for a := range attemptsOf(t, name) {
		switch of := (task{a.Job, a.Stage, a.Task}); a.Outcome {
		case Succeeded:
			won[of] = a.Start + a.Duration
		case Killed:
			lost[of] = append(lost[of], *a)
		}
	}
	for of, attempts := range lost {
		for _, a := range attempts {
			if end := a.Start + a.Duration; won[of] > a.Start && end >= won[of] {
				all = append(all, (end - won[of]).Seconds())
			}
		}
	}
	return all
}

// among are the values of a sorted list from low up to below high.
func among(x []float64, low, high float64) []float64 {
	i, _ := slices.BinarySearch(x, low)
	j, _ := slices.BinarySearch(x, high)
	return x[i:j]
}

// at interpolates a quantile.
func at(p float64, x []float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	s := &summary{seconds: slices.Sorted(slices.Values(x))}
	return s.quantile(p)
}

func spanOf(seconds float64) string {
	switch size := math.Abs(seconds); {
	case math.IsNaN(seconds):
		return "–"
	case size < 0.0005:
		return "0 ms"
	case size < 0.9995:
		return strings.Replace(fmt.Sprintf("%.0f ms", 1000*seconds), "-", "−", 1)
	case size < 9.995:
		return strings.Replace(fmt.Sprintf("%.2f s", seconds), "-", "−", 1)
	}
	return strings.Replace(fmt.Sprintf("%.1f s", seconds), "-", "−", 1)
}

func percentOf(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

func timesOf(x float64) string { return fmt.Sprintf("%.2f", x) }

// spread words the median and, in brackets, the 10 and 90 percent quantiles.
func spread(x []float64, word func(float64) string) string {
	if len(x) == 0 {
		return "none"
	}
	return fmt.Sprintf("%s [%s, %s]", word(at(0.5, x)), word(at(0.1, x)), word(at(0.9, x)))
}

// interval words the 95 percent interval of the median of independent values.
func interval(x []float64, word func(float64) string) string {
	if _, low, high := laws.MedianInterval(x, 0.95); !math.IsNaN(low) {
		return word(low) + " to " + word(high)
	}
	return "too few"
}

// each takes a figure of every value.
func each[T any](x []T, of func(T) float64) []float64 {
	all := make([]float64, len(x))
	for i, v := range x {
		all[i] = of(v)
	}
	return all
}

func more(w warmth) float64  { return w.more }
func times(w warmth) float64 { return w.times }

// option words an option with a span of two digits.
func option(name string, seconds ...float64) string {
	words := make([]string, len(seconds))
	for i, x := range seconds {
		unit := math.Pow(10, math.Floor(math.Log10(x))-1)
		words[i] = time.Duration(math.Round(math.Round(x/unit)*unit*1e6) * 1e3).String()
	}
	return "`" + name + strings.Join(words, "/") + "`"
}

// rows of the first table, each with its cells.
type rows struct{ strings.Builder }

func (r *rows) add(cells ...string) { fmt.Fprintf(r, "| %s |\n", strings.Join(cells, " | ")) }

// TestOverheadsOfLogs computes the tables of the page from real logs, and refuses options of the guide that are other ones.
func TestOverheadsOfLogs(t *testing.T) {
	var logs []*costs
	for _, l := range sparkLogs {
		logs = append(logs, costsOf(t, l[0], real(t, filepath.Join("spark-eventlogs", l[1]+".gz"))))
	}
	table := &rows{}
	table.add("what", "measured on", "median [10 %, 90 %]", "95 % interval of the median", "option")
	table.WriteString("|---|---|---:|---:|---|\n")
	table.warmUp(t, logs)
	table.collections(logs)
	table.starts(logs)
	table.localities(logs)
	table.beats(t)
	killed := kills(t, "hadoop-rumen/19-jobs.trace.json.gz")
	table.add("kill: the loser's end, after the winner's", fmt.Sprintf("%d attempts, Hadoop of 2009", len(killed)), spread(killed, spanOf), interval(killed, spanOf),
		option("kill=", at(0.5, killed))+" without `heartbeat`")

	guide, err := os.ReadFile(overheadsGuide)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"warm-up", "pause", "heartbeat", "--launch-delay"} {
		given := false
		for _, words := range regexp.MustCompile("`"+name+"[= ][^`]*`").FindAllString(table.String(), -1) {
			given = given || strings.Contains(string(guide), strings.Trim(words, "`"))
		}
		if !given {
			t.Errorf("%s gives another %s than %s measures", overheadsGuide, name, overheadsPage)
		}
	}

	table.WriteString("\nTable 7.\n\n")
	table.add("log of Spark", "tasks", "collecting garbage, of all run time", "of a task's run time", "one collection", "scheduler delay", "deserialisation")
	table.WriteString("|---|---:|---:|---:|---:|---:|---:|\n")
	for _, c := range logs {
		one := "–"
		if c.pauses >= fewPauses {
			one = spanOf(c.paused / float64(c.pauses))
		}
		table.add("`"+c.name+"`", fmt.Sprint(c.tasks), percentOf(c.collected/c.ran), spread(c.gc, percentOf), one, spread(c.delay, spanOf), spread(c.class, spanOf))
	}
	comparePage(t, table.String())
}

// warmUp adds what first waves take. Stage runs of a query are alike, so the interval is one over queries.
func (r *rows) warmUp(t *testing.T, logs []*costs) {
	fresh, used, sizes := byQuery(t)
	var new, old []warmth
	for _, c := range logs {
		new, old = append(new, c.fresh...), append(old, c.used...)
	}
	for _, of := range []struct {
		what, name string
		stages     []warmth
		queries    map[string][]warmth
	}{
		{"warm-up: first tasks on a new executor take longer by", "warm-up=", new, fresh},
		{"first wave of a stage on a used executor takes longer by", "", old, used},
	} {
		var runs []warmth
		var seconds, ratios []float64
		for _, q := range slices.Sorted(maps.Keys(of.queries)) {
			runs = append(runs, of.queries[q]...)
			seconds = append(seconds, at(0.5, each(of.queries[q], more)))
			ratios = append(ratios, at(0.5, each(of.queries[q], times)))
		}
		give := "none"
		if of.name != "" {
			give = option(of.name, at(0.5, each(runs, more)))
		}
		from := fmt.Sprintf("%d stage runs of %d queries of TPC-H on Spark", len(runs), len(of.queries))
		r.add(of.what, from, spread(each(runs, more), spanOf), interval(seconds, spanOf), give)
		r.add("that is, times as long", "the same", spread(each(runs, times), timesOf), interval(ratios, timesOf), "")
		for _, size := range []string{"2g", "100g"} {
			if runs := sizes[size]; of.name != "" {
				gigabytes := fmt.Sprintf("%d of them, %s GB of data", len(runs), strings.TrimSuffix(size, "g"))
				r.add("longer by", gigabytes, spread(each(runs, more), spanOf), "", "")
				r.add("that is, times as long", "the same", spread(each(runs, times), timesOf), "", "")
			}
		}
		r.add("longer by", fmt.Sprintf("%d stages of the logs of Spark", len(of.stages)), spread(each(of.stages, more), spanOf), interval(each(of.stages, more), spanOf), "")
		r.add("that is, times as long", "the same", spread(each(of.stages, times), timesOf), interval(each(of.stages, times), timesOf), "")
	}
}

// fewPauses are too few collections for their mean.
const fewPauses = 10

func (r *rows) collections(logs []*costs) {
	shares := each(logs, func(c *costs) float64 { return c.collected / c.ran })
	counting := slices.DeleteFunc(slices.Clone(logs), func(c *costs) bool { return c.pauses < fewPauses })
	one := each(counting, func(c *costs) float64 { return c.paused / float64(c.pauses) })
	share, pause := at(0.5, shares), at(0.5, one)
	r.add("collecting garbage, of the run time", fmt.Sprintf("%d logs of Spark", len(logs)), spread(shares, percentOf), interval(shares, percentOf),
		option("pause=", pause, pause*(1/share-1)))
	r.add("one collection", fmt.Sprintf("the %d logs with %d or more", len(counting), fewPauses), spread(one, spanOf), interval(one, spanOf), "")
}

func (r *rows) starts(logs []*costs) {
	for _, of := range []struct {
		what, name string
		take       func(*costs) []float64
	}{
		{"launch: scheduler delay and deserialisation", "--launch-delay ", func(c *costs) []float64 { return c.launch }},
		{"a free slot waits for a task near its data", "", func(c *costs) []float64 { return c.near }},
	} {
		by := func(p float64) []float64 {
			return each(logs, func(c *costs) float64 { return at(p, of.take(c)) })
		}
		give := "no `interval`"
		if of.name != "" {
			give = option(of.name, at(0.5, by(0.5)))
		}
		r.add(of.what, fmt.Sprintf("tasks of %d logs of Spark, median log", len(logs)),
			fmt.Sprintf("%s [%s, %s]", spanOf(at(0.5, by(0.5))), spanOf(at(0.5, by(0.1))), spanOf(at(0.5, by(0.9)))), interval(by(0.5), spanOf), give)
	}
}

// localities adds for how long slots stood empty of tasks that waited for a place near their data: most begin on a slot that has just become free, so the row
// is of those that did not.
func (r *rows) localities(logs []*costs) {
	for _, of := range []struct {
		what  string
		waits bool
		take  func(*costs) []float64
	}{
		{"a free slot waits a second or more for a task away from its data", true, func(c *costs) []float64 { return c.far }},
		{"the same, near its data", true, func(c *costs) []float64 { return c.near }},
		{"the same, away from its data, with `spark.locality.wait` 0", false, func(c *costs) []float64 { return c.far }},
	} {
		var long []float64
		n, from := 0, 0
		for _, c := range logs {
			if c.waits != of.waits || len(c.far) == 0 {
				continue
			}
			from++
			n += len(of.take(c))
			long = append(long, slices.DeleteFunc(slices.Clone(of.take(c)), func(x float64) bool { return x < 1 })...)
		}
		r.add(of.what, fmt.Sprintf("%d of %d tasks of %d logs of Spark", len(long), n, from), spread(long, spanOf), "", "")
	}
}

// beats adds heartbeats. Two starts on a host are one or several heartbeats apart, so the times between them stand around multiples of one span.
func (r *rows) beats(t *testing.T) {
	for _, of := range []struct {
		what, file string
		beat       float64 // about
	}{
		{"heartbeat: Hadoop of 2009", "hadoop-rumen/19-jobs.trace.json.gz", 15.7},
		{"heartbeat: YARN", "hadoop-rumen/2jobs2min-rumen-jh.json.gz", 1},
	} {
		gaps, hosts := beats(t, of.file)
		one, two := among(gaps, 0.5*of.beat, 1.5*of.beat), among(gaps, 1.5*of.beat, 2.5*of.beat)
		if twice := at(0.5, two) / at(0.5, one); math.Abs(twice-2) > 0.1 {
			t.Errorf("%s: the times between starts of two beats are %.2f times those of one", of.file, twice)
		}
		t.Logf("%s: %d gaps, %d below half a beat, %d of one, %d of two, median %s", of.file, len(gaps), len(among(gaps, 0, 0.5*of.beat)), len(one), len(two), spanOf(at(0.5, two)))
		r.add(of.what, fmt.Sprintf("%d pairs of starts on %d hosts", len(one), hosts), spread(one, spanOf), interval(one, spanOf), option("heartbeat=", at(0.5, one)))
	}
}

func comparePage(t *testing.T, table string) {
	old, err := os.ReadFile(overheadsPage)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(old), overheadsBegin)
	there, after, ends := strings.Cut(rest, overheadsEnd)
	switch {
	case !begins || !ends:
		t.Fatalf("%s has no place for the tables:\n%s", overheadsPage, table)
	case *rewrite:
		if err := os.WriteFile(overheadsPage, []byte(before+overheadsBegin+table+overheadsEnd+after), 0o666); err != nil {
			t.Fatal(err)
		}
	case there != table:
		t.Errorf("%s is out of date, run with -args -rewrite; the tables are now\n%s", overheadsPage, table)
	}
}
