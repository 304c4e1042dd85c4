// Package historytest writes the logs of applications that a test makes up, as Spark 4 writes them.
package historytest

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Spark is an application. Its stages run one after the other.
type Spark struct {
	Name             string
	ID               string // "" for none
	Began            int64  // milliseconds since 1970
	Executors, Cores int
	Settings         map[string]string
	Between          int64 // milliseconds of the driver before each stage
	PerJob           int   // stages in a job; 0 for all
	Padding          int   // accumulables at the end of each task, as queries have them
	Stages           []SparkStage
}

// SparkStage is a stage with its tasks in the order in which they are launched.
type SparkStage struct {
	Name  string
	Tasks []SparkTask
}

// SparkTask is what the one attempt of a task takes, and what it read.
type SparkTask struct {
	Millis, Deserialize, GC, Bytes int64
}

// Write writes the log: each task takes the core that is free first.
func (s *Spark) Write(to io.Writer) error {
	out := bufio.NewWriterSize(to, 1<<20)
	w := &writer{Writer: out, of: s, now: s.Began, padding: strings.Repeat(
		`,{"ID":1234,"Name":"internal.metrics.shuffle.read.remoteBytesReadToDisk","Update":1234567,"Value":1234567890,"Internal":true,"Count Failed Values":true}`, s.Padding)}
	w.head()
	for i := range s.Stages {
		w.stage(i)
	}
	w.line(`{"Event":"SparkListenerApplicationEnd","Timestamp":%d}`, w.now)
	return out.Flush()
}

type writer struct {
	*bufio.Writer
	of       *Spark
	now      int64
	launched int // tasks so far
	padding  string
}

func (w *writer) line(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

func (w *writer) head() {
	w.line(`{"Event":"SparkListenerLogStart","Spark Version":"4.0.1"}`)
	settings := ""
	for name, value := range w.of.Settings {
		settings += fmt.Sprintf(`,%q:%q`, name, value)
	}
	w.line(`{"Event":"SparkListenerEnvironmentUpdate","Spark Properties":{%s}}`, strings.TrimPrefix(settings, ","))
	w.line(`{"Event":"SparkListenerApplicationStart","App Name":%q,"App ID":%q,"Timestamp":%d,"User":"u"}`, w.of.Name, w.of.ID, w.of.Began)
	for e := range w.of.Executors {
		w.line(`{"Event":"SparkListenerExecutorAdded","Timestamp":%d,"Executor ID":"%d","Executor Info":{"Host":"worker-%d","Total Cores":%d}}`,
			w.of.Began, e, e, w.of.Cores)
	}
}

// stage writes a stage that begins when the one before has ended.
func (w *writer) stage(i int) {
	st := &w.of.Stages[i]
	per := w.of.PerJob
	if per == 0 {
		per = len(w.of.Stages)
	}
	w.now += w.of.Between
	if i%per == 0 {
		var ids []string
		for k := i; k < min(i+per, len(w.of.Stages)); k++ {
			ids = append(ids, fmt.Sprint(k))
		}
		w.line(`{"Event":"SparkListenerJobStart","Job ID":%d,"Submission Time":%d,"Stage IDs":[%s]}`, i/per, w.now, strings.Join(ids, ","))
	}
	w.line(`{"Event":"SparkListenerStageSubmitted","Stage Info":{"Stage ID":%d,"Stage Attempt ID":0,"Stage Name":%q,"Submission Time":%d}}`, i, st.Name, w.now)
	free := make([]int64, w.of.Executors*w.of.Cores)
	for c := range free {
		free[c] = w.now
	}
	ended := w.now
	for index, t := range st.Tasks {
		core := 0
		for c := range free {
			if free[c] < free[core] {
				core = c
			}
		}
		w.task(i, index, core/w.of.Cores, free[core], &t)
		free[core] += t.Millis
		ended = max(ended, free[core])
	}
	parents := ""
	if i%per > 0 {
		parents = fmt.Sprint(i - 1)
	}
	w.line(`{"Event":"SparkListenerStageCompleted","Stage Info":{"Stage ID":%d,"Stage Attempt ID":0,"Stage Name":%q,"Parent IDs":[%s],"Submission Time":%d,"Completion Time":%d}}`,
		i, st.Name, parents, w.now, ended)
	w.now = ended
	if i%per == per-1 || i == len(w.of.Stages)-1 {
		w.line(`{"Event":"SparkListenerJobEnd","Job ID":%d,"Completion Time":%d}`, i/per, ended)
	}
}

func (w *writer) task(stage, index, executor int, at int64, t *SparkTask) {
	info := fmt.Sprintf(`"Task Info":{"Task ID":%d,"Index":%d,"Attempt":0,"Launch Time":%d,"Executor ID":"%d","Host":"worker-%d","Locality":"PROCESS_LOCAL","Speculative":false`,
		w.launched, index, at, executor, executor)
	w.launched++
	w.line(`{"Event":"SparkListenerTaskStart","Stage ID":%d,"Stage Attempt ID":0,%s,"Getting Result Time":0,"Finish Time":0,"Failed":false,"Killed":false,"Accumulables":[]}}`,
		stage, info)
	w.line(`{"Event":"SparkListenerTaskEnd","Stage ID":%d,"Stage Attempt ID":0,"Task Type":"ShuffleMapTask","Task End Reason":{"Reason":"Success"},%s,`+
		`"Getting Result Time":0,"Finish Time":%d,"Failed":false,"Killed":false,"Accumulables":[%s]},`+
		`"Task Metrics":{"Executor Deserialize Time":%d,"Executor Run Time":%d,"Result Serialization Time":0,"JVM GC Time":%d,"Disk Bytes Spilled":0,`+
		`"Shuffle Read Metrics":{"Fetch Wait Time":0,"Remote Bytes Read":0,"Local Bytes Read":0},"Input Metrics":{"Bytes Read":%d,"Records Read":0}}}`,
		stage, info, at+t.Millis, strings.TrimPrefix(w.padding, ","), t.Deserialize, t.Millis-t.Deserialize, t.GC, t.Bytes)
}
