package replay

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/trace"
)

// hadoop is two jobs of Hadoop 0.20: the second is submitted 10 s after the first, and its reduce begins 5 s after its map.
var hadoop = []string{
	`Meta VERSION="1" .`,
	attempt("m", "1", 0, "MAP", 1000), attempt("m", "1", 0, "MAP", 4000, "SUCCESS"),
	attempt("m", "2", 0, "MAP", 11000), attempt("m", "2", 0, "MAP", 13000, "SUCCESS"),
	attempt("r", "2", 0, "REDUCE", 18000), attempt("r", "2", 0, "REDUCE", 20000, "SUCCESS"),
}

func attempt(kind, job string, task int, what string, at int, ended ...string) string {
	names := map[string]string{"MAP": "MapAttempt", "REDUCE": "ReduceAttempt"}
	id := fmt.Sprintf("20260101_000%s_%s_%06d", job, kind, task)
	line := fmt.Sprintf(`%s TASK_TYPE="%s" TASKID="task_%s" TASK_ATTEMPT_ID="attempt_%s_0"`, names[what], what, id, id)
	if len(ended) == 0 {
		return fmt.Sprintf(`%s START_TIME="%d" HOSTNAME="/r/h" .`, line, at)
	}
	more := ""
	if what == "REDUCE" {
		more = fmt.Sprintf(` SHUFFLE_FINISHED="%d" SORT_FINISHED="%d"`, at, at)
	}
	return fmt.Sprintf(`%s TASK_STATUS="%s"%s FINISH_TIME="%d" HOSTNAME="/r/h" .`, line, ended[0], more, at)
}

// describe lists the jobs of a workload: when they arrive, and of each stage its class, its durations in seconds, and
// what it waits for.
func describe(w *trace.Workload) string {
	var b strings.Builder
	for j := range w.Jobs {
		fmt.Fprintf(&b, "%s at %v:", w.Names[w.Jobs[j].Name], w.Jobs[j].Arrival.Seconds())
		for i, st := range w.StagesOf(j) {
			b.WriteString(" (")
			if len(w.Classes) > 0 && w.Classes[st.Class] != "" {
				b.WriteString(w.Classes[st.Class])
			} else {
				b.WriteString(w.Names[st.Name])
			}
			for _, d := range w.DurationsOf(&st) {
				fmt.Fprintf(&b, " %v", d.Seconds())
			}
			for _, e := range w.EdgesOf(j) {
				if int(e.To) == i {
					fmt.Fprintf(&b, " <%d", e.From)
				}
			}
			b.WriteString(")")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// An application is one job, with its driver's time; a job of Hadoop is one that arrives when it was submitted.
func TestWorkload(t *testing.T) {
	stages, course := read(t, spark...)
	application := New("etl.log", stages, course, 0)
	if got, want := describe(Workload("one", []*Rerun{application})), "etl at 0: (driver 1) (0 5 2 4 <0) (driver 1 <1) (1 3 <2) (driver 2 <3)\n"; got != want {
		t.Errorf("got  %swant %s", got, want)
	}
	stages, course = read(t, hadoop...)
	jobs := New("history", stages, course, 0)
	w := Workload("two", []*Rerun{jobs, application})
	got := describe(w)
	want := "job_20260101_0001 at 0: (map 3)\n" +
		"etl at 0: (driver 1) (0 5 2 4 <0) (driver 1 <1) (1 3 <2) (driver 2 <3)\n" +
		"job_20260101_0002 at 10: (map 2) (reduce 2 <0)\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
