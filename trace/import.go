package trace

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/sched"
)

// Importer reads workloads. Its fields say what public traces leave open; zero values stand for the defaults that
// [ImportUsage] lists. The package's own formats need none of it but the seed.
type Importer struct {
	Seed uint64 // of what is drawn
	// Incomplete keeps jobs of which some tasks did not finish, without these tasks. Otherwise such jobs are left out.
	Incomplete bool
	// KeepWaits counts as duration the time in which a task that had been started waited for others: reduces of a Rumen
	// trace for maps, tasks of an Alibaba trace for those that they depend on. Otherwise a duration begins when the
	// last of them has ended.
	KeepWaits bool
	// Instances is the law, up to scale, of the durations of a task's instances in an Alibaba trace, which tells only
	// how long all together took: draws are scaled so that the longest lasts so long. nil lets every instance last so
	// long.
	Instances   laws.Law
	Split       int64      // bytes of a map task of a SWIM trace
	ReduceSplit int64      // bytes of a reduce task of a SWIM trace
	MapRate     int64      // bytes per second of a map task of a SWIM trace
	ReduceRate  int64      // bytes per second of a reduce task of a SWIM trace
	TaskStart   sched.Time // that a task of a SWIM trace lasts in addition
	PortRate    int64      // bytes per second that a rack of a coflow trace receives
	Executors   int        // of the run to take from a TPC-H trace

	unread []string // keys that Set has set and no format that was read has asked for
}

// ImportUsage lists the keys of [Importer.Set] with their defaults, for help texts.
const ImportUsage = `incomplete=drop|keep;waits=cut|keep;instances=makespan|LAW|hist:FILE;split=64MiB;reduce-split=64MiB;` +
	`map-rate=10MiB;reduce-rate=10MiB;task-start=1s;port-rate=125MB;executors=20`

// Load returns the workload that a user names on the command line, with defaults for what its format leaves open. See
// [Importer.Load].
func Load(arg string, stdin io.Reader, seed uint64) (*Workload, error) {
	return (&Importer{Seed: seed}).Load(arg, stdin)
}

// Read reads a workload with defaults for what its format leaves open. See [Importer.Read].
func Read(r io.Reader, name string, seed uint64) (*Workload, error) {
	return (&Importer{Seed: seed}).Read(r, name)
}

// Load returns the workload that a user names on the command line: a file, "-" for stdin, or the spec of a generator,
// "synth:...". Durations that are stated as a law are drawn, the same for the same seed.
func (m *Importer) Load(arg string, stdin io.Reader) (*Workload, error) {
	switch {
	case arg == "-":
		return m.Read(stdin, "stdin")
	case strings.HasPrefix(arg, synthPrefix):
		return Synthesize(arg, m.Seed)
	}
	f, err := os.Open(arg)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return m.Read(f, arg)
}

// Set sets what the pairs of text say, key=value;key=value. Errors name the key and what was expected.
func (m *Importer) Set(text string) error {
	for _, pair := range strings.Split(text, ";") {
		if pair = strings.TrimSpace(pair); pair == "" {
			continue
		}
		key, value, _ := strings.Cut(pair, "=")
		if err := m.set(key, value); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		if !slices.Contains(m.unread, key) {
			m.unread = append(m.unread, key)
		}
	}
	return nil
}

// Unread returns the keys that were set, of which nothing that was read since leaves open what they say.
func (m *Importer) Unread() []string { return m.unread }

func (m *Importer) set(key, value string) (err error) {
	switch key {
	case "incomplete":
		m.Incomplete, err = oneOf(value, "keep", "drop")
	case "waits":
		m.KeepWaits, err = oneOf(value, "keep", "cut")
	case "instances":
		m.Instances, err = instancesLaw(value)
	case "split":
		m.Split, err = parseBytes(value)
	case "reduce-split":
		m.ReduceSplit, err = parseBytes(value)
	case "map-rate":
		m.MapRate, err = parseBytes(value)
	case "reduce-rate":
		m.ReduceRate, err = parseBytes(value)
	case "port-rate":
		m.PortRate, err = parseBytes(value)
	case "task-start":
		d, failed := time.ParseDuration(value)
		if failed != nil || d <= 0 || d > maxInstant {
			return fmt.Errorf("expected a duration above 0 such as 1s, got %q", value)
		}
		m.TaskStart = sched.Time(d)
	case "executors":
		if m.Executors, err = strconv.Atoi(value); err != nil || m.Executors < 1 {
			return fmt.Errorf("expected a whole number of at least 1, got %q", value)
		}
	default:
		return fmt.Errorf("expected one of %s", ImportUsage)
	}
	return err
}

// oneOf returns whether value is the first of two words.
func oneOf(value, yes, no string) (bool, error) {
	if value != yes && value != no {
		return false, fmt.Errorf("expected %s or %s, got %q", no, yes, value)
	}
	return value == yes, nil
}

// instancesLaw reads a law, the name of its absence, or a histogram.
func instancesLaw(value string) (laws.Law, error) {
	if value == "makespan" {
		return nil, nil
	}
	path, histogram := strings.CutPrefix(value, "hist:")
	if !histogram {
		l, err := laws.Parse(value)
		if err != nil {
			return nil, fmt.Errorf("expected makespan, hist:FILE or a law: %w", err)
		}
		return l, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	l, err := readHistogram(f)
	if err != nil {
		return nil, fmt.Errorf("%s:%w", path, err)
	}
	return l, nil
}

// readHistogram reads lines value,count under a header, values increasing. Large counts are scaled down to what laws
// takes; values whose count rounds to 0 are left out.
func readHistogram(r io.Reader) (laws.Law, error) {
	plain, done, err := decompress(r)
	if err != nil {
		return nil, err
	}
	defer done()
	rows := csv.NewReader(plain)
	rows.FieldsPerRecord = 2
	rows.ReuseRecord = true
	var values, weights []float64
	total := 0.0
	for line := 1; ; line++ {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if bad := (*csv.ParseError)(nil); errors.As(err, &bad) {
			err = bad.Err
		}
		if err != nil {
			return nil, fmt.Errorf("%d: expected value,count: %w", line, err)
		}
		if line == 1 && row[0] == "value" {
			continue
		}
		v, errV := strconv.ParseFloat(row[0], 64)
		n, errN := strconv.ParseFloat(row[1], 64)
		if errV != nil || errN != nil || !(v >= 0) || !(n >= 0) || math.IsInf(v+n, 0) {
			return nil, fmt.Errorf("%d: expected two numbers of at least 0, value,count, got %q", line, abridged(row[0]+","+row[1]))
		}
		values, weights, total = append(values, v), append(weights, n), total+n
	}
	const most = 1 << 30
	scale := min(1, most/total)
	kept, counts := values[:0], make([]int, 0, len(values))
	for i, n := range weights {
		if c := int(math.Round(n * scale)); c > 0 {
			kept, counts = append(kept, values[i]), append(counts, c)
		}
	}
	l, err := laws.NewEmpiricalCounts(kept, counts)
	if err != nil {
		return nil, fmt.Errorf(" expected a histogram: %w", err)
	}
	return l, nil
}

// parseBytes reads a positive number of bytes such as 64MiB, 125MB or 1000.
func parseBytes(s string) (int64, error) {
	digits := strings.TrimRight(s, "kKMGTiB")
	factor, known := map[string]float64{
		"": 1, "B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
	}[s[len(digits):]]
	x, err := strconv.ParseFloat(digits, 64)
	if err != nil || !known || !(x*factor >= 1) || x*factor > 1<<60 {
		return 0, fmt.Errorf("expected a number of bytes such as 64MiB, got %q", abridged(s))
	}
	return int64(x * factor), nil
}

// withDefaults returns the importer with its zero values replaced.
func (m Importer) withDefaults() Importer {
	or := func(v *int64, otherwise int64) {
		if *v <= 0 {
			*v = otherwise
		}
	}
	or(&m.Split, 64<<20)
	or(&m.ReduceSplit, 64<<20)
	or(&m.MapRate, 10<<20)
	or(&m.ReduceRate, 10<<20)
	or(&m.PortRate, 125e6)
	or((*int64)(&m.TaskStart), int64(sched.Second))
	if m.Executors <= 0 {
		m.Executors = 20
	}
	return m
}
