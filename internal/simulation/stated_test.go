package simulation

import (
	"strings"
	"testing"

	"github.com/tailcut/tailcut/trace"
)

// What the report says of each policy, in one line.
func TestPrintDurations(t *testing.T) {
	w, err := (&trace.Importer{}).Read(strings.NewReader(`{"stages":[{"durations_seconds":[1,3]}]}`), "jobs")
	if err != nil {
		t.Fatal(err)
	}
	r := &Result{Workload: w, Policies: []string{"fifo", "shed:law=(exp:mean=2)", "spark", "auto", "late", "srpt"},
		Durations: []string{"", "known", "finished", "known", "all", "known"}}
	const want = "Durations of attempts: from finished ones (spark), from finished and running ones (late), " +
		"not stated by the workload (auto, srpt), from their law (shed:law=(exp:mean=2)).\n"
	var got strings.Builder
	if r.printDurations(&got); got.String() != want {
		t.Errorf("%q, want %q", got.String(), want)
	}
}

func TestStated(t *testing.T) {
	const known, unknown = `{"mean_seconds":2,"durations_seconds":[1,3]}`, `{"durations_seconds":[1,3]}`
	for _, c := range [][2]string{
		{`{"stages":[` + known + `]}`, "stated by the workload"},
		{`{"stages":[` + unknown + `]}`, "not stated by the workload"},
		{`{"stages":[` + known + `]}` + "\n" + `{"stages":[` + unknown + `,` + known + `]}`, "stated by the workload for 2 of 3 stages"},
		{`{"stages":[` + known + `,{"durations_seconds":[0]},{"durations_seconds":[]}]}`, "stated by the workload"},
		{`{"stages":[{"class":"driver","durations_seconds":[2]},{"class":"x","mean_seconds":2,"durations_seconds":[1,3]}]}`, "stated by the workload"},
	} {
		w, err := (&trace.Importer{}).Read(strings.NewReader(c[0]), "jobs")
		if err != nil {
			t.Fatal(err)
		}
		if got := stated(w); got != c[1] {
			t.Errorf("%s: %q, want %q", c[0], got, c[1])
		}
	}
}
