package workload

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const sparkLog = `{"Event":"SparkListenerLogStart","Spark Version":"3.5.0"}
{"Event":"SparkListenerApplicationStart","App Name":"etl","Timestamp":1000}
{"Event":"SparkListenerExecutorAdded","Timestamp":1000,"Executor ID":"1","Executor Info":{"Host":"a","Total Cores":2}}
{"Event":"SparkListenerTaskEnd","Stage ID":0,"Stage Attempt ID":0,"Task End Reason":{"Reason":"Success"},"Task Info":{"Task ID":0,"Index":0,"Attempt":0,"Launch Time":2000,"Finish Time":5000}}
`

// A log is a workload, and so is a folder of logs; what else is there is told of.
func TestLogs(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	one := write("app-1", sparkLog)
	w, notes, err := load(t, Source{}, one, "")
	if err != nil || len(w.Jobs) != 1 || len(notes) != 1 || !strings.HasSuffix(notes[0], "ran on 2 slots, as the log says; drivers took 1.00s between stages, on slots of their own") {
		t.Errorf("%+v, %q, %v", w, notes, err)
	}
	failed := write("app-0", strings.ReplaceAll(sparkLog, "Success", "ExceptionFailure"))
	if _, _, err := load(t, Source{}, failed, ""); err == nil || !strings.Contains(err.Error(), "expected tasks that have succeeded") {
		t.Errorf("nothing to play: %v", err)
	}
	write("app-2", strings.NewReplacer(":1000", ":1500", ":2000", ":2500", ":5000", ":5500").Replace(sparkLog))
	write("README", "nothing")
	write(".hidden", "nothing")
	w, notes, err = load(t, Source{}, dir, "")
	if err != nil || len(w.Jobs) != 2 || w.Jobs[1].Arrival.Seconds() != 0.5 {
		t.Fatalf("%+v, %q, %v", w, notes, err)
	}
	for _, want := range []string{"skipped 1 log in which", "skipped 1 file that", "ran on 4 slots, as the logs say, all together"} {
		if !strings.Contains(strings.Join(notes, "\n"), want) {
			t.Errorf("%q is not in %q", want, notes)
		}
	}
	if _, _, err := load(t, Source{}, t.TempDir(), ""); err == nil || !strings.Contains(err.Error(), "no log of Spark, Hadoop or a run") {
		t.Errorf("an empty folder: %v", err)
	}
}
