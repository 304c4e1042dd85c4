package history

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// readNotes reads a log from memory, with what it says beside its attempts.
func readNotes(text string) (all []Record, said []string, err error) {
	l, err := Open("-", strings.NewReader(text), "")
	if err != nil {
		return nil, nil, err
	}
	defer l.Close()
	if all, err = records(l); err != nil {
		return all, nil, err
	}
	return all, l.Notes(), nil
}

// A log that ends anywhere gives the attempts that had ended before, and only where it gives none an error. It says where
// it ends, unless that is between two lines.
func TestCutAnywhere(t *testing.T) {
	for name, text := range map[string]string{
		"spark": sparkLog, "jhist": jhistLog, "binary jhist": binaryJhist, "old log": oldLogText, "rumen": rumenLog, "parallel": parallelLog, "nextflow": nextflowLog,
		"sacct": sacctParsable, "fixed sacct": sacctFixed, "pods": podList, "google": googleLog,
	} {
		_, all, err := readAll(text, "")
		if err != nil {
			t.Fatal(err)
		}
		ended := func(all []Record) (some []Record) {
			for _, a := range all {
				if a.Outcome != Running {
					some = append(some, a)
				}
			}
			return some
		}
		want, most, noted := ended(all), 0, 0
		from := min(len(text), max(150, strings.IndexByte(text, '\n')+1)) // so that the format can be told
		for n := from; n < len(text); n++ {
			got, said, err := readNotes(text[:n])
			if err != nil {
				if len(got) > 0 {
					t.Fatalf("%s, %d bytes: %d attempts, then %v", name, n, len(got), err)
				}
				continue
			}
			some := ended(got)
			last := len(some) - 1
			if last >= most && !strings.HasSuffix(text[:n], "\n") { // the last row may have lost the end of its last cell
				some = some[:last]
			}
			if len(some) < most || len(some) > len(want) || !cmp.Equal(some, want[:len(some)], unwritten, cmpopts.EquateEmpty()) {
				t.Fatalf("%s, %d bytes: %v, want the first of %v", name, n, some, want)
			}
			most = max(most, len(some))
			if len(said) > 0 && strings.Contains(said[0], "the file is truncated") {
				noted++
				if !strings.HasPrefix(said[0], "stdin:") {
					t.Fatalf("%s, %d bytes: says %q", name, n, said)
				}
			}
		}
		if noted == 0 {
			t.Errorf("%s: no cut was noted", name)
		}
	}
}

// What is compressed and cut gives the blocks that are whole.
func TestCutCompressed(t *testing.T) {
	event := sparkLog[strings.Index(sparkLog, `{"Event":"SparkListenerTaskEnd"`):]
	event = event[:strings.IndexByte(event, '\n')+1]
	text := sparkLog[:strings.IndexByte(sparkLog, '\n')+1] + strings.Repeat(event, 5000)
	for _, how := range []string{"gzip", "zstd", "lz4", "snappy", "xerial", "lz4block"} {
		p := packed(t, how, text)
		for _, n := range []int{len(p) - 5, len(p) * 2 / 3} {
			all, said, err := readNotes(p[:n])
			if err != nil || len(all) < 1000 || len(all) > 5000 || len(said) != 1 || !strings.Contains(said[0], "the file is truncated") {
				t.Errorf("%s, %d of %d bytes: %d attempts, %q, %v", how, n, len(p), len(all), said, err)
			}
		}
	}
}

// One strange row does not make a table unreadable: it is passed over, counted and named. If all are strange, the first is
// the error.
func TestStrangeRows(t *testing.T) {
	for _, c := range []struct{ name, text, said string }{
		{"parallel", strings.Replace(parallelLog, "1.500", "1,5", 1), `stdin:2: field JobRuntime: expected a number of seconds of at least 0, got "1,5"`},
		{"nextflow", strings.Replace(nextflowLog, "250ms", "250 ms", 1), `stdin:3: field realtime: expected a time such as 1h 2m 3.5s`},
		{"sacct, a state", strings.Replace(sacctParsable, "TIMEOUT", "GONE", 1), `stdin:6: field State: expected a state of a job, such as COMPLETED or TIMEOUT, got "GONE"`},
		{"sacct, a time", strings.Replace(sacctParsable, "00:10:00", "10 min", 1), `stdin:4: field Elapsed: expected a time such as 1-02:03:04`},
		{"sacct, a name over two lines", strings.Replace(sacctParsable, "|one|", "|o\nne|", 1), `stdin:6: expected 6 columns as in the first line, got 2`},
		{"spark, no finish time", strings.Replace(sparkLog, `"Finish Time":3500`, `"Finish Time":0`, 1), `stdin:8: field Finish Time: expected when the attempt ended, got 0`},
	} {
		all, said, err := readNotes(c.text)
		if err != nil || len(all) < 2 || len(said) == 0 || !strings.HasPrefix(said[0], "skipped ") || !strings.Contains(said[0], c.said) {
			t.Errorf("%s: %d attempts, %q, %v", c.name, len(all), said, err)
		}
	}
	_, _, err := readNotes("JobID|State|Elapsed\n1|COMPLETED|x\n2|COMPLETED|y\n")
	if err == nil || !strings.Contains(err.Error(), `stdin:2: field Elapsed: expected a time`) {
		t.Error(err)
	}
}

// Rows as Slurm 22.05 prints them: a job's name with a |, an array of which a part never started, states cut to the
// width of their column, and the components of a heterogeneous job, which are jobs of their own.
func TestSlurmRows(t *testing.T) {
	for name, text := range map[string]string{
		"parsable": "JobID|JobName|State|Elapsed\n12+0|a|b|COMPLETED|00:00:05\n12+0.batch|batch|COMPLETED|00:00:05\n12+1|a|b|COMPLETED|00:00:06\n" +
			"50_7|a|b|OUT_OF_MEMORY|00:00:02\n50_[8-20]|a|b|CANCELLED by 0|00:00:00\n13|a|b|CANCELLED by 0|00:00:00\n51_[1-3%2]|a|b|PENDING|00:00:00\n",
		"fixed": "JobID           JobName      State    Elapsed \n------------ ---------- ---------- ---------- \n" +
			"12+0                a|b  COMPLETED   00:00:05 \n12+0.batch        batch  COMPLETED   00:00:05 \n12+1                a|b  COMPLETED   00:00:06 \n" +
			"50_7                a|b OUT_OF_ME+   00:00:02 \n50_[8-20]           a|b CANCELLED+   00:00:00 \n51_[1-3%2]          a|b    PENDING   00:00:00 \n",
	} {
		all, said, err := readNotes(text)
		want := []Record{
			{Stage: "a|b", Task: 12, Duration: 5 * s, Resolution: s}, {Stage: "a|b", Task: 13, Duration: 6 * s, Resolution: s},
			{Job: "50", Stage: "a|b", Task: 7, Duration: 2 * s, Outcome: Failed, Resolution: s},
		}
		if diff := cmp.Diff(want, all, unwritten); err != nil || len(said) > 0 || diff != "" {
			t.Errorf("%s: %q, %v\n%s", name, said, err, diff)
		}
	}
}

// A retry of Nextflow has a task_id of its own and the name of what failed; another task may have the name, too.
func TestNextflowRetries(t *testing.T) {
	text := "task_id\thash\tname\tstatus\trealtime\n" +
		"1\taa/1\tA (x)\tFAILED\t1s\n2\taa/2\tA (y)\tCOMPLETED\t2s\n3\taa/3\tA (x)\tFAILED\t3s\n4\taa/4\tA (x)\tCOMPLETED\t4s\n5\taa/5\tA (x)\tCOMPLETED\t5s\n"
	all, said, err := readNotes(text)
	want := []Record{
		{Stage: "A", Task: 1, Duration: s, Outcome: Failed}, {Stage: "A", Task: 2, Duration: 2 * s}, {Stage: "A", Task: 1, Number: 1, Duration: 3 * s, Outcome: Failed},
		{Stage: "A", Task: 1, Number: 2, Duration: 4 * s}, {Stage: "A", Task: 5, Duration: 5 * s},
	}
	if diff := cmp.Diff(want, all, unwritten); err != nil || len(said) > 0 || diff != "" {
		t.Errorf("%q, %v\n%s", said, err, diff)
	}
}

// What Nextflow 22.10 itself wrote, of 14 tasks of which the third failed once, and of one that waited for them; and the
// columns that tell the same without task_id and name.
func TestNextflowOfItsOwn(t *testing.T) {
	for _, file := range []string{"testdata/nextflow-22.10.txt", "testdata/nextflow-22.10-hash.txt"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all, said, err := readNotes(string(text))
		if err != nil || len(said) > 0 {
			t.Fatal(file, err, said)
		}
		tasks := map[string]map[int]int{"WORK": {}, "JOIN": {}}
		retried := 0
		for _, a := range all {
			tasks[a.Stage][a.Task]++
			if a.Number == 1 {
				retried++
			}
		}
		if len(all) != 16 || len(tasks["WORK"]) != 14 || len(tasks["JOIN"]) != 1 || retried != 1 {
			t.Errorf("%s: %d attempts, %d retried: %v", file, len(all), retried, tasks)
		}
	}
}

// A container that was started again in its pod was two attempts, and a pod past its deadline timed out.
func TestPodsThatWereStartedAgain(t *testing.T) {
	text := `{"apiVersion":"v1","kind":"List","items":[
 {"kind":"Pod","metadata":{"name":"j-0-x","labels":{"job-name":"j"},"annotations":{"batch.kubernetes.io/job-completion-index":"3"}},"spec":{"nodeName":"n"},
  "status":{"phase":"Succeeded","containerStatuses":[{"restartCount":1,"state":{"terminated":{"startedAt":"2024-05-06T07:08:19Z","finishedAt":"2024-05-06T07:08:29Z","exitCode":0}},
   "lastState":{"terminated":{"startedAt":"2024-05-06T07:08:09Z","finishedAt":"2024-05-06T07:08:12Z","exitCode":1}}}]}},
 {"kind":"Pod","metadata":{"name":"j-1-x","labels":{"job-name":"j"},"annotations":{"batch.kubernetes.io/job-completion-index":"4"}},"spec":{"nodeName":"n"},
  "status":{"phase":"Failed","reason":"DeadlineExceeded","containerStatuses":[{"state":{"terminated":{"startedAt":"2024-05-06T07:08:09Z","finishedAt":"2024-05-06T07:09:09Z","exitCode":137}}}]}}]}`
	all, _, err := readNotes(text)
	may6 := all[0].Start
	want := []Record{
		{Job: "j", Task: 3, Start: may6, Duration: 3 * s, Outcome: Failed, Host: "n", Resolution: s},
		{Job: "j", Task: 3, Number: 1, Start: may6 + 10*s, Duration: 10 * s, Host: "n", Resolution: s},
		{Job: "j", Task: 4, Start: may6, Duration: 60 * s, Outcome: TimedOut, Host: "n", Resolution: s},
	}
	if diff := cmp.Diff(want, all, unwritten); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

// Units are read from the names of columns and from the values, and refused where they are not clear.
func TestUnits(t *testing.T) {
	for _, c := range []struct {
		text, column string
		seconds      float64
		wrong        string
	}{
		{"duration_ms\n1500\n", "duration_ms", 1.5, ""}, {"duration_ms\n1500\n", "1", 1.5, ""}, {"runtimeMillis\n1500\n", "1", 1.5, ""},
		{"elapsed (us)\n1500\n", "elapsed (us)", 0.0015, ""}, {"wall_s\n2\n", "wall_s", 2, ""}, {"wall min\n2\n", "wall min", 120, ""},
		{"hours\n2\n", "hours", 7200, ""}, {"duration\n2\n", "duration", 2, ""}, {"s\n2\n", "s", 2, ""}, {"1500\n", "1", 1500, ""},
		{"x\n10s\n", "x", 10, ""}, {"x\n1h02m\n", "x", 3720, ""}, {"250ms\n", "", 0.25, ""}, {"PT1M2.5S\n", "", 62.5, ""}, {"1-00:00:01\n", "", 86401, ""}, {"3 min\n", "", 180, ""},
		{"wall_m\n2\n", "wall_m", 0, "stdin:1: column wall_m: is m a minute or a millisecond? call it _min or _ms"},
		{"wall_ms\n10s\n", "wall_ms", 0, "stdin:2: column wall_ms: expected a number, because the column's name has a unit, got \"10s\""},
		{"02:03\n", "", 0, "stdin:1: expected a duration in seconds"}, {"-5s\n", "", 0, "stdin:1: expected a duration in seconds"},
	} {
		_, all, err := readAll(c.text, c.column)
		switch {
		case c.wrong != "":
			if err == nil || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%q: %v, expected %s", c.text, err, c.wrong)
			}
		case err != nil || len(all) != 1 || all[0].Seconds() != c.seconds:
			t.Errorf("%q: %v, %v", c.text, all, err)
		}
	}
}
