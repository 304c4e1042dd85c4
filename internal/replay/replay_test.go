package replay

import (
	"context"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/internal/history"
	"github.com/tailcut/tailcut/sched"
)

// read reads a log.
func read(t *testing.T, lines ...string) ([]*history.StageRecord, *history.Course) {
	t.Helper()
	return open(t, "-", strings.NewReader(strings.Join(lines, "\n")+"\n"))
}

func open(t *testing.T, path string, stdin io.Reader) ([]*history.StageRecord, *history.Course) {
	t.Helper()
	log, err := history.Open(path, stdin, "")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	stages, _, err := history.Stages(log.Attempts(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	return stages, log.Course()
}

// joblog is four tasks of GNU parallel, two at a time: 10, 20, 30 and 5 s.
var joblog = []string{
	"Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand",
	"1\t:\t1000.000\t10.000\t0\t0\t0\t0\ta", "2\t:\t1000.000\t20.000\t0\t0\t0\t0\tb",
	"3\t:\t1010.000\t30.000\t0\t0\t0\t0\tc", "4\t:\t1020.000\t5.000\t0\t0\t0\t0\td",
}

// Where the log does not say how many slots there were, they are as many as were seen busy; and what is asked for counts
// before all.
func TestSlots(t *testing.T) {
	for slots, want := range map[int]float64{0: 40, 1: 65, 4: 30} {
		stages, course := read(t, joblog...)
		r := New("log", stages, course, slots)
		if r.Wall() != 40 {
			t.Errorf("took %v s, expected 40", r.Wall())
		}
		whole, err := r.Whole(context.Background(), Rules{System: r.System(), Specs: []string{r.Rule}, Runs: 1, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		// with a slot each, the last task still starts when the whole stage did
		if got := whole[0].Mean; math.Abs(got-want) > 1e-6 {
			t.Errorf("on %d slots from %s: %v s, expected %v", r.Slots, r.Source, got, want)
		}
	}
}

// Numbers have no times: there is nothing to play.
func TestNothingToPlay(t *testing.T) {
	stages, course := read(t, "1", "2", "3")
	if r := New("log", stages, course, 4); r != nil {
		t.Errorf("%+v", r)
	}
}

// spark is an application of two jobs on an executor of two cores: the driver takes 1 s before each, and 2 s at the end.
var spark = []string{
	`{"Event":"SparkListenerLogStart","Spark Version":"3.5.0"}`,
	`{"Event":"SparkListenerEnvironmentUpdate","Spark Properties":{"spark.speculation":"true","spark.speculation.interval":"1000"}}`,
	`{"Event":"SparkListenerApplicationStart","App Name":"etl","Timestamp":1000}`,
	`{"Event":"SparkListenerExecutorAdded","Timestamp":1000,"Executor ID":"1","Executor Info":{"Host":"a","Total Cores":2}}`,
	`{"Event":"SparkListenerJobStart","Job ID":0,"Submission Time":2000,"Stage IDs":[0]}`,
	task(0, 0, 2000, 7000), task(0, 1, 2000, 4000), task(0, 2, 4000, 8000),
	`{"Event":"SparkListenerStageCompleted","Stage Info":{"Stage ID":0,"Stage Attempt ID":0,"Parent IDs":[],"Submission Time":2000,"Completion Time":8000}}`,
	`{"Event":"SparkListenerJobEnd","Job ID":0,"Completion Time":8000}`,
	`{"Event":"SparkListenerJobStart","Job ID":1,"Submission Time":9000,"Stage IDs":[1]}`,
	task(1, 0, 9000, 12000),
	`{"Event":"SparkListenerStageCompleted","Stage Info":{"Stage ID":1,"Stage Attempt ID":0,"Parent IDs":[],"Submission Time":9000,"Completion Time":12000}}`,
	`{"Event":"SparkListenerJobEnd","Job ID":1,"Completion Time":12000}`,
	`{"Event":"SparkListenerApplicationEnd","Timestamp":14000}`,
}

func task(stage, index, from, to int) string {
	return strings.NewReplacer("STAGE", strconv.Itoa(stage), "INDEX", strconv.Itoa(index), "FROM", strconv.Itoa(from), "TO", strconv.Itoa(to)).Replace(
		`{"Event":"SparkListenerTaskEnd","Stage ID":STAGE,"Stage Attempt ID":0,"Task End Reason":{"Reason":"Success"},` +
			`"Task Info":{"Task ID":INDEX,"Index":INDEX,"Attempt":0,"Launch Time":FROM,"Finish Time":TO}}`)
}

// The second job waits for the first, and the driver for nobody's slot. The rule is the log's own.
func TestApplication(t *testing.T) {
	for slots, want := range map[int]struct{ whole, first float64 }{0: {13, 6}, 1: {18, 11}, 3: {12, 5}} {
		stages, course := read(t, spark...)
		r := New("log", stages, course, slots)
		if want := "spark:quantile=0.75,multiplier=1.5,interval=1000ms"; r.Rule != want {
			t.Errorf("the rule is %s, expected %s", r.Rule, want)
		}
		rules := Rules{System: r.System(), Specs: []string{Without}, Runs: 1, Seed: 1}
		whole, err := r.Whole(context.Background(), rules)
		if err != nil {
			t.Fatal(err)
		}
		apart, err := r.Apart(context.Background(), rules)
		if err != nil {
			t.Fatal(err)
		}
		if whole[0].Machine != 14 {
			t.Errorf("%d slots: attempts took %v s, expected 14 without the driver", slots, whole[0].Machine)
		}
		if got := whole[0].Mean; r.Wall() != 13 || got != want.whole {
			t.Errorf("%d slots: took %v s, played %v; expected 13 and %v", slots, r.Wall(), got, want.whole)
		}
		if got := apart[stages[0]][0].Mean; got != want.first {
			t.Errorf("%d slots: the first stage took %v s, expected %v", slots, got, want.first)
		}
		if wall, n, ok := r.Walls(stages[0]); wall != 6 || !ok || slots == 0 && n != 2 {
			t.Errorf("the first stage took %v s on %d slots", wall, n)
		}
	}
}

// An original that a clone beat would have lasted longer than it ran; one that failed holds its slot twice; one whose
// result was lost is told twice and counts once.
func TestPieces(t *testing.T) {
	s := func(from, to sched.Time, task int32, outcome history.Outcome, clone bool) history.TaskAttempt {
		return history.TaskAttempt{
			Start: (100 + from) * sched.Second, Duration: (to - from) * sched.Second, Task: task, Outcome: outcome, Speculative: clone,
		}
	}
	st := &history.StageRecord{
		Succeeded: []history.Observation{{Seconds: 10}, {Seconds: 40}, {Seconds: 10}}, Censored: []float64{20},
		Attempts: []history.TaskAttempt{
			s(0, 20, 0, history.Killed, false), s(10, 20, 0, history.Succeeded, true),
			s(0, 5, 1, history.Failed, false), s(5, 45, 1, history.Succeeded, false),
			s(0, 10, 2, history.Succeeded, false), s(0, 10, 2, history.Failed, false),
		},
	}
	p := pieceOf(st, nil)
	for i, want := range []float64{40, 45, 10} {
		if got := p.durations()[i].Seconds(); got != want {
			t.Errorf("task %d holds its slot for %v s, expected %v", i, got, want)
		}
	}
	if h := p.tasks[0]; h.Beyond != 20*sched.Second || h.Clone != 10*sched.Second || p.tasks[1].Beyond != 0 || p.tasks[1].Clone != 0 {
		t.Errorf("%+v, expected 20 s beyond what was seen, and a clone of 10 s", p.tasks)
	}
}

// The interval holds 95 % of the plays, and the mean, where few plays make it.
func TestRange(t *testing.T) {
	plays := make([]float64, 100)
	for i := range plays {
		plays[i] = float64(i)
	}
	if r := rangeOf(plays); r.Mean != 49.5 || r.Low != 2 || r.High != 97 {
		t.Errorf("%+v", r)
	}
	for i := range plays {
		plays[i] = 9
	}
	plays[40], plays[41] = 20, 30
	if r := rangeOf(plays); r.Low != 9 || r.High != 20 || r.High < r.Mean {
		t.Errorf("%+v", r)
	}
}
