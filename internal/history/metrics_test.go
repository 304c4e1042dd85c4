package history

import (
	"strings"
	"testing"

	"github.com/tailcut/tailcut/sched"
)

// Where a task's time went is taken from its metrics; the scheduler's delay is what is left of it. Of a task without
// metrics nothing is known.
func TestMetricsOfSpark(t *testing.T) {
	log := `{"Event":"SparkListenerTaskEnd","Stage ID":0,"Stage Attempt ID":0,"Task End Reason":{"Reason":"Success"},"Task Info":{"Task ID":1,"Index":0,"Attempt":0,"Launch Time":10000,"Executor ID":"7","Host":"a","Locality":"RACK_LOCAL","Speculative":false,"Getting Result Time":19500,"Finish Time":20000},"Task Metrics":{"Executor Deserialize Time":400,"Executor Run Time":8000,"Result Serialization Time":100,"JVM GC Time":1500,"Disk Bytes Spilled":123,"Shuffle Read Metrics":{"Fetch Wait Time":2500,"Remote Bytes Read":10,"Local Bytes Read":5},"Input Metrics":{"Bytes Read":7,"Records Read":1}}}
{"Event":"SparkListenerTaskEnd","Stage ID":0,"Stage Attempt ID":0,"Task End Reason":{"Reason":"ExecutorLostFailure"},"Task Info":{"Task ID":2,"Index":1,"Attempt":0,"Launch Time":10000,"Executor ID":"8","Host":"a","Finish Time":20000,"Failed":true},"Task Metrics":null}
`
	l, err := Open("-", strings.NewReader(log), "")
	if err != nil {
		t.Fatal(err)
	}
	const ms = sched.Millisecond
	want := []Record{
		{Executor: "7", InputBytes: 7, ShuffleBytes: 15, Metrics: Metrics{400 * ms, 1500 * ms, 2500 * ms, 1000 * ms, 123, SameRack, false}},
		{Executor: "8", Metrics: Metrics{Lost: true}},
	}
	i := 0
	for a, err := range l.Attempts() {
		if w := want[i]; err != nil || a.Metrics != w.Metrics || a.Executor != w.Executor || a.InputBytes != w.InputBytes || a.ShuffleBytes != w.ShuffleBytes {
			t.Errorf("%+v, expected %+v; %v", a, w, err)
		}
		i++
	}
}

// Hadoop's counters have garbage collection, and a reduce's fetch lasts until its shuffle has finished.
func TestMetricsOfHadoop(t *testing.T) {
	log := "Avro-Json\n{}\n\n" +
		`{"type":"REDUCE_ATTEMPT_STARTED","event":{"o.S":{"taskType":"REDUCE","attemptId":"attempt_1_0002_r_000000_0","startTime":1000}}}` + "\n" +
		`{"type":"REDUCE_ATTEMPT_FINISHED","event":{"o.F":{"attemptId":"attempt_1_0002_r_000000_0","taskType":"REDUCE","shuffleFinishTime":4000,"finishTime":9000,` +
		`"counters":{"groups":[{"name":"g","counts":[{"name":"GC_TIME_MILLIS","value":250}]}]}}}}` + "\n"
	l, err := Open("-", strings.NewReader(log), "")
	if err != nil {
		t.Fatal(err)
	}
	for a, err := range l.Attempts() {
		if err != nil || a.GC != 250*sched.Millisecond || a.FetchWait != 3*sched.Second {
			t.Errorf("%+v; %v", a, err)
		}
	}
}
