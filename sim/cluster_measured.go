package sim

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/tailcut/tailcut/sched"
)

// Measured links between cloud regions, from two public tables, told by their headers. Sites are called as regions are,
// cloud:region. Of several measurements of a link the mean counts.
//
//   - Skyplane's throughput.csv (Jain et al., NSDI 2023): 64 connections between large machines; rows of which both
//     ends are in the tier PREMIUM, what was received, in bits per second. No latency. Google's regions stand there
//     with a zone, which is left out.
//   - results.csv of intercloud-throughput: one connection between small machines. The column bitrate_Bps holds the
//     bytes of ten seconds; avgrtt, in milliseconds, is the latency of a fetch, which is asked for and then answered.

// measured is the table of one file.
type measured struct {
	columns []string // that it must have
	row     func(get func(column string) string) (m measurement, ok bool, err error)
}

// measurement is one row; what it does not say is 0.
type measurement struct {
	from, to  string
	bandwidth float64 // bytes per second
	latency   float64 // seconds
}

var measuredTables = []measured{
	{
		[]string{"src_region", "src_tier", "dst_region", "dst_tier", "throughput_received"},
		func(get func(string) string) (measurement, bool, error) {
			bits, err := measuredNumber("throughput_received", get)
			return measurement{withoutZone(get("src_region")), withoutZone(get("dst_region")), bits / 8, 0}, get("src_tier") == "PREMIUM" && get("dst_tier") == "PREMIUM", err
		},
	},
	{
		[]string{"from_cloud", "from_region", "to_cloud", "to_region", "bitrate_Bps", "avgrtt"},
		func(get func(string) string) (measurement, bool, error) {
			bytes, err := measuredNumber("bitrate_Bps", get)
			rtt, wrong := measuredNumber("avgrtt", get)
			from := strings.ToLower(get("from_cloud")) + ":" + get("from_region")
			to := strings.ToLower(get("to_cloud")) + ":" + get("to_region")
			return measurement{from, to, bytes / 10, rtt / 1000}, true, errors.Join(err, wrong)
		},
	},
}

// withoutZone returns the region of a zone of Google's, such as gcp:europe-west6-a; other regions are as they are.
func withoutZone(region string) string {
	if n := len(region) - 2; strings.HasPrefix(region, "gcp:") && n > 0 && region[n] == '-' && region[n+1] >= 'a' {
		return region[:n]
	}
	return region
}

func measuredNumber(column string, get func(string) string) (float64, error) {
	x, err := strconv.ParseFloat(get(column), 64)
	if err != nil || !(x > 0 && x < 1e15) {
		return 0, fmt.Errorf("field %s: expected a positive number, got %s", column, quoted(get(column)))
	}
	return x, nil
}

// readMeasured sets the links that a file has measured and no file before it.
func (r *clusterReader) readMeasured(f clusterField) error {
	path, err := f.text()
	if err != nil {
		return err
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(r.c.Name), path)
	}
	file, err := r.open(path)
	if err != nil {
		return f.expected("a file of measured links: %v", err)
	}
	defer file.Close()
	k := len(r.c.Sites)
	sum, count := make([]measurement, k*k), make([]float64, k*k)
	err = eachMeasurement(file, path, func(m measurement) {
		from, known := r.index[m.from]
		to, too := r.index[m.to]
		if known && too && from != to {
			i := from*k + to
			sum[i].bandwidth += m.bandwidth
			sum[i].latency += m.latency
			count[i]++
		}
	})
	if err != nil {
		return err
	}
	for i, n := range count {
		if n > 0 && r.measured[i].bandwidth == 0 {
			r.measured[i].bandwidth = sum[i].bandwidth / n
		}
		if n > 0 && r.measured[i].latency == 0 {
			r.measured[i].latency = sum[i].latency / n
		}
	}
	return nil
}

// useMeasured sets what was measured of links.
func (r *clusterReader) useMeasured() {
	for i, m := range r.measured {
		if m.bandwidth > 0 {
			r.c.Network.Bandwidth[i] = m.bandwidth
		}
		if m.latency > 0 {
			r.c.Network.Latency[i] = sched.FromSeconds(m.latency)
		}
	}
}

// eachMeasurement reads a table, plain or compressed with gzip. Errors name the file, the line and the field.
func eachMeasurement(file io.Reader, name string, use func(measurement)) error {
	wrong := func(line int, err error) error {
		return errors.New(strings.ReplaceAll(fmt.Sprintf("%s:%d: %v", name, line, err), "\n", " "))
	}
	if strings.HasSuffix(name, ".gz") {
		z, err := gzip.NewReader(file)
		if err != nil {
			return wrong(1, err)
		}
		defer z.Close()
		file = z
	}
	rows := csv.NewReader(file)
	rows.ReuseRecord = true
	header, err := rows.Read()
	if err != nil {
		return wrong(1, err)
	}
	header = slices.Clone(header)
	at := slices.IndexFunc(measuredTables, func(t measured) bool {
		return !slices.ContainsFunc(t.columns, func(c string) bool { return !slices.Contains(header, c) })
	})
	if at < 0 {
		return wrong(1, fmt.Errorf("expected the columns %s, or %s", strings.Join(measuredTables[0].columns, ", "), strings.Join(measuredTables[1].columns, ", ")))
	}
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if bad := (*csv.ParseError)(nil); errors.As(err, &bad) {
			return wrong(bad.Line, bad.Err)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		line, _ := rows.FieldPos(0)
		m, ok, err := measuredTables[at].row(func(column string) string { return row[slices.Index(header, column)] })
		if err != nil && ok {
			return wrong(line, err)
		}
		if ok {
			use(m)
		}
	}
}

// openFile opens a file of measured links.
func openFile(path string) (io.ReadCloser, error) { return os.Open(path) }
