package history

import (
	"fmt"
	"strings"
	"testing"
)

// What a reduce waited for maps is no part of it, in every log of Hadoop: it starts at 1 s, the last map ends at 100 s, and
// the reduce at 106 s. A map that was run again after the reduce had all its input is not waited for.
func TestReducesThatWaited(t *testing.T) {
	jhist := func(fetched int) string {
		return "Avro-Json\n{}\n\n" +
			`{"type":"REDUCE_ATTEMPT_STARTED","event":{"o.S":{"taskType":"REDUCE","attemptId":"attempt_1_0002_r_000000_0","startTime":1000}}}` + "\n" +
			`{"type":"MAP_ATTEMPT_STARTED","event":{"o.S":{"taskType":"MAP","attemptId":"attempt_1_0002_m_000000_0","startTime":1000}}}` + "\n" +
			`{"type":"MAP_ATTEMPT_FINISHED","event":{"o.F":{"attemptId":"attempt_1_0002_m_000000_0","taskType":"MAP","finishTime":100000}}}` + "\n" +
			fmt.Sprintf(`{"type":"REDUCE_ATTEMPT_FINISHED","event":{"o.F":{"attemptId":"attempt_1_0002_r_000000_0","taskType":"REDUCE","shuffleFinishTime":%d,"finishTime":106000}}}`, fetched) + "\n"
	}
	old := func(fetched int) string {
		const ids = `TASK_TYPE="%s" TASKID="t" TASK_ATTEMPT_ID="attempt_1_0002_%s_000000_0"`
		return "Meta VERSION=\"1\" .\n" +
			fmt.Sprintf("ReduceAttempt "+ids+" START_TIME=\"1000\" .\n", "REDUCE", "r") + fmt.Sprintf("MapAttempt "+ids+" START_TIME=\"1000\" .\n", "MAP", "m") +
			fmt.Sprintf("MapAttempt "+ids+" TASK_STATUS=\"SUCCESS\" FINISH_TIME=\"100000\" .\n", "MAP", "m") +
			fmt.Sprintf("ReduceAttempt "+ids+" TASK_STATUS=\"SUCCESS\" SHUFFLE_FINISHED=\"%d\" FINISH_TIME=\"106000\" .\n", "REDUCE", "r", fetched)
	}
	rumen := func(fetched int) string { // the reduces come first
		return fmt.Sprintf(`{"jobID":"job_1_0002","reduceTasks":[{"taskType":"REDUCE","attempts":[{"attemptID":"attempt_1_0002_r_000000_0","result":"SUCCESS",`+
			`"startTime":1000,"finishTime":106000,"shuffleFinished":%d}]}],"mapTasks":[{"taskType":"MAP","attempts":[{"attemptID":"attempt_1_0002_m_000000_0",`+
			`"result":"SUCCESS","startTime":1000,"finishTime":100000}]}]}`, fetched)
	}
	for name, log := range map[string]func(int) string{"jhist": jhist, "old": old, "rumen": rumen} {
		for fetched, want := range map[int]float64{102000: 6, 50000: 56} {
			all, _, err := readNotes(log(fetched))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for _, a := range all {
				if strings.HasPrefix(a.Stage, "reduce") && a.Seconds() != want {
					t.Errorf("%s, fetched at %d ms: a reduce of %v s, expected %v", name, fetched, a.Seconds(), want)
				}
			}
			if len(all) != 2 {
				t.Errorf("%s: %d attempts", name, len(all))
			}
		}
	}
}
