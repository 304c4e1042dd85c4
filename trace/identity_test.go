package trace

import (
	"reflect"
	"strings"
	"testing"
)

// The hash is that of the jobs: another name or note changes nothing, anything else of a job does.
func TestHash(t *testing.T) {
	read := func(text, name string) *Workload {
		w, err := (&Importer{}).Read(strings.NewReader(text), name)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	const job = `{"name":"a","stages":[{"name":"map","tasks":3,"law":"exp:mean=2"},{"name":"reduce","durations_seconds":[3],"after":["map"]}]}` + "\n"
	want := read(job, "one").Hash()
	if got := read(job, "two").Hash(); got != want || len(got) != 64 {
		t.Errorf("%s, want %s", got, want)
	}
	for _, other := range []string{
		strings.Replace(job, `"a"`, `"b"`, 1), strings.Replace(job, "[3]", "[3.000000001]", 1), strings.Replace(job, "mean=2", "mean=2.5", 1), job + job,
		strings.Replace(job, `"name":"a"`, `"name":"a","deadline_seconds":9`, 1), strings.Replace(job, `"name":"a"`, `"name":"a","priority":1`, 1),
	} {
		if read(other, "one").Hash() == want {
			t.Errorf("%s has the hash of %s", other, job)
		}
	}
	// What is added to Workload has to be added to Hash.
	if n := reflect.TypeFor[Workload]().NumField(); n != 15 {
		t.Errorf("a workload has %d fields; Hash knows 15", n)
	}
}
