package sim

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/sched"
)

const skyText = "src_region,src_tier,dst_region,dst_tier,throughput_received\n" +
	"aws:a,PREMIUM,gcp:b-c,PREMIUM,800\naws:a,PREMIUM,gcp:b,PREMIUM,1600\naws:a,STANDARD,gcp:b,PREMIUM,8\ngcp:b,PREMIUM,aws:a,PREMIUM,80\n"

const cloudText = "timestamp,from_cloud,from_region,to_cloud,to_region,bitrate_Bps,avgrtt\nx,AWS,a,GCP,b,5000,20\nx,AWS,a,GCP,c,7000,40\n"

const regions = "sites:\n" +
	"  - {name: 'aws:a', machines: 1}\n  - {name: 'gcp:b', machines: 1}\n  - {name: 'gcp:c', machines: 1}\n" +
	"links: {bandwidth: 1B/s, latency: 1s, measured: [sky.csv, cloud.csv], between: [{from: 'gcp:c', to: 'gcp:b', latency: 9s}]}"

func inMemory(path string) (io.ReadCloser, error) {
	text, known := map[string]string{"dir/sky.csv": skyText, "dir/cloud.csv": cloudText}[path]
	if !known {
		return nil, os.ErrNotExist
	}
	return io.NopCloser(strings.NewReader(text)), nil
}

func TestMeasuredLinks(t *testing.T) {
	c, err := readCluster("dir/c.yaml", []byte(regions), inMemory)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []struct {
		from, to  sched.SiteID
		bandwidth float64
		latency   sched.Time
	}{
		{0, 1, 150, 20 * sched.Millisecond}, // 1200 bits per second on average; the second file only tells the latency
		{1, 0, 10, sched.Second},
		{0, 2, 700, 40 * sched.Millisecond}, // 7000 bytes in ten seconds
		{2, 1, 1, 9 * sched.Second},
	} {
		if b, lat := c.Network.Link(l.from, l.to); b != l.bandwidth || lat != l.latency {
			t.Errorf("link %d to %d has %v B/s and %v, want %v and %v", l.from, l.to, b, lat, l.bandwidth, l.latency)
		}
	}
}

func TestMeasuredLinksErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"a,b\n1,2\n", "x.csv:1: expected the columns src_region, "},
		{skyText + "aws:a,PREMIUM,gcp:b,PREMIUM,-1\n", `x.csv:6: field throughput_received: expected a positive number, got "-1"`},
		{skyText + "aws:a\n", "x.csv:6: wrong number of fields"},
		{skyText + "\"aws:a\n", "x.csv:"},
		{"", "x.csv:1: EOF"},
	} {
		err := eachMeasurement(strings.NewReader(c.text), "x.csv", func(measurement) {})
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q gives %v, want %s", c.text, err, c.want)
		}
	}
	if _, err := readCluster("elsewhere/c.yaml", []byte(regions), inMemory); err == nil ||
		!strings.HasPrefix(err.Error(), "elsewhere/c.yaml:5: field links.measured[0]: expected a file of measured links: ") {
		t.Error(err)
	}
}

// TestPublicLinks compares with what is stated of the public tables: AWS to AWS about 5 Gbit/s; all 420 ordered pairs of 21 regions.
func TestPublicLinks(t *testing.T) {
	path := filepath.Join(traces(), "geo", "skyplane", "throughput.csv.gz")
	file, err := os.Open(path)
	if err != nil {
		t.Skipf("no table at %s; set TAILCUT_TRACES", path)
	}
	defer file.Close()
	premium, aws, most := 0, map[string]bool{}, 0.0
	err = eachMeasurement(file, path, func(m measurement) {
		premium++
		most = max(most, m.bandwidth*8/1e9)
		if strings.HasPrefix(m.from, "aws:") && strings.HasPrefix(m.to, "aws:") {
			aws[m.from+m.to] = true
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%d %d %.1f", premium, len(aws), most); got != "3968 420 26.4" {
		t.Errorf("rows, pairs and most Gbit/s are %s, want 3968 420 26.4", got)
	}
	path = filepath.Join(traces(), "geo", "intercloud-throughput", "results.csv.gz")
	results, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer results.Close()
	rows, pairs, least, fastest := 0, map[string]bool{}, math.Inf(1), 0.0
	err = eachMeasurement(results, path, func(m measurement) {
		rows++
		pairs[m.from+" "+m.to] = true
		least, fastest = min(least, m.latency*1000), max(fastest, m.bandwidth*8/1e6)
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%d %d %.1f %.0f", rows, len(pairs), least, fastest); got != "2138 1556 1.9 4075" {
		t.Errorf("rows, pairs, least ms and most Mbit/s are %s, want 2138 1556 1.9 4075", got)
	}
}
