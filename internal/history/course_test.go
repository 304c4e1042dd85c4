package history

import (
	"reflect"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/sched"
)

// courseOf reads a log to its end.
func courseOf(t *testing.T, text string) *Course {
	t.Helper()
	log, err := Open("-", strings.NewReader(text), "")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	for _, err := range log.Attempts() {
		if err != nil {
			t.Fatal(err)
		}
	}
	return log.Course()
}

// Executors come and go: the slots are their cores by the cores of a task, whatever the order of the events.
func TestSlotsOfSpark(t *testing.T) {
	c := courseOf(t, `{"Event":"SparkListenerLogStart","Spark Version":"4.0.0"}
{"Event":"SparkListenerEnvironmentUpdate","Spark Properties":{"spark.task.cpus":"2","spark.speculation":"true","spark.app.name":"x"}}
{"Event":"SparkListenerApplicationStart","App Name":"etl","Timestamp":1000}
{"Event":"SparkListenerExecutorAdded","Timestamp":3000,"Executor ID":"2","Executor Info":{"Host":"b","Total Cores":5}}
{"Event":"SparkListenerExecutorAdded","Timestamp":2000,"Executor ID":"1","Executor Info":{"Host":"a","Total Cores":4}}
{"Event":"SparkListenerJobStart","Job ID":0,"Submission Time":2500,"Stage IDs":[0,1]}
{"Event":"SparkListenerTaskEnd","Stage ID":1,"Stage Attempt ID":0,"Task End Reason":{"Reason":"Success"},"Task Info":{"Task ID":1,"Index":0,"Attempt":0,"Launch Time":3000,"Finish Time":4000}}
{"Event":"SparkListenerStageCompleted","Stage Info":{"Stage ID":1,"Stage Attempt ID":0,"Parent IDs":[0],"Submission Time":2600,"Completion Time":4100}}
{"Event":"SparkListenerJobEnd","Job ID":0,"Completion Time":4200}
{"Event":"SparkListenerExecutorRemoved","Timestamp":5000,"Executor ID":"1"}
{"Event":"SparkListenerExecutorRemoved","Timestamp":5500,"Executor ID":"1"}
{"Event":"SparkListenerApplicationEnd","Timestamp":6000}
`)
	const s = sched.Second
	want := &Course{
		Application: "etl", Began: s, Ended: 6 * s, System: "spark", Version: "4.0.0",
		Slots:    []SlotsFrom{{2 * s, 2}, {3 * s, 4}, {5 * s, 2}},
		Jobs:     []JobCourse{{"0", 5 * s / 2, 4200 * sched.Millisecond}},
		Stages:   []StageCourse{{"0", "1", 2600 * sched.Millisecond, 4100 * sched.Millisecond, []string{"0"}, false}},
		Settings: map[string]string{"spark.task.cpus": "2", "spark.speculation": "true"},
	}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("got  %+v\nwant %+v", c, want)
	}
	if most := c.MostSlots(0, 3*s); most != 2 {
		t.Errorf("%d slots before the second executor, expected 2", most)
	}
	if most := c.MostSlots(4*s, 4*s+1); most != 4 {
		t.Errorf("%d slots with both executors, expected 4", most)
	}
}

// What is odd about an executor or a time does not keep anybody from the attempts.
func TestOddCourse(t *testing.T) {
	c := courseOf(t, `{"Event":"SparkListenerExecutorAdded","Timestamp":null,"Executor ID":7,"Executor Info":{"Total Cores":"four"}}
{"Event":"SparkListenerStageCompleted","Stage Info":{"Stage ID":"x"}}
{"Event":"SparkListenerTaskEnd","Stage ID":0,"Stage Attempt ID":0,"Task End Reason":{"Reason":"Success"},"Task Info":{"Task ID":1,"Index":0,"Attempt":0,"Launch Time":3000,"Finish Time":4000}}
`)
	if len(c.Slots)+len(c.Stages) > 0 {
		t.Errorf("%+v", c)
	}
}

// The journal of a run has its machines, and a reduce of Hadoop waits for its job's maps.
func TestCourseOfOthers(t *testing.T) {
	c := courseOf(t, "Avro-Json\n{}\n\n"+
		`{"type":"MAP_ATTEMPT_STARTED","event":{"o.S":{"taskType":"MAP","attemptId":"attempt_1_0002_m_000000_0","startTime":1000}}}`+"\n"+
		`{"type":"MAP_ATTEMPT_FINISHED","event":{"o.F":{"attemptId":"attempt_1_0002_m_000000_0","taskType":"MAP","finishTime":100000}}}`+"\n")
	if c.System != "hadoop" || len(c.Slots) > 0 || !reflect.DeepEqual(c.Stages[1], StageCourse{Job: "job_1_0002", Stage: "reduce", Parents: []string{"map"}}) {
		t.Errorf("%+v", c)
	}
	if c := courseOf(t, "1\n2\n"); !reflect.DeepEqual(c, &Course{}) {
		t.Errorf("%+v", c)
	}
}
