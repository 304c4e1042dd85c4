package kube

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// The dashboard and the alert rules are JSON, and each metric of ours that they name there is, with the labels that they name.
func TestMonitoring(t *testing.T) {
	known := make(chan *prometheus.Desc, 100)
	for _, c := range []prometheus.Collector{attemptsStarted, attempts, attemptSeconds, jobFlow, deadlines, nodeSlowness, nodeAvoided, poolPods, poolJobs} {
		c.Describe(known)
	}
	close(known)
	described := ""
	for d := range known {
		described += d.String() + "\n"
	}
	for file, least := range map[string]int{"dashboard.json": 8, "alerts.json": 4} {
		text, err := os.ReadFile("../../monitoring/" + file)
		if err != nil {
			t.Fatal(err)
		}
		var any map[string]any
		if err := json.Unmarshal(text, &any); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		names := regexp.MustCompile(`\btailcut_[a-z_]+`).FindAllString(string(text), -1)
		if len(names) < least {
			t.Errorf("%s names %d metrics", file, len(names))
		}
		for _, name := range names {
			if name = strings.TrimSuffix(name, "_bucket"); !strings.Contains(described, `fqName: "`+name+`"`) {
				t.Errorf("%s: there is no metric %s", file, name)
			}
		}
	}
}

// What a pool tells goes with it.
func TestPoolMetrics(t *testing.T) {
	count := func() int {
		all := make(chan prometheus.Metric, 100)
		poolPods.Collect(all)
		poolJobs.Collect(all)
		return len(all)
	}
	before := count()
	if observePool("gone soon", &SlotPoolStatus{Jobs: 3, Waiting: 1, Used: 5, Clones: 2}); count() != before+4 {
		t.Errorf("%d metrics more", count()-before)
	}
	if observePool("gone soon", nil); count() != before {
		t.Errorf("%d metrics stay", count()-before)
	}
}
