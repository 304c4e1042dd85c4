package trace

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/sched"
)

// outline writes a workload in short: a job a line, its name, arrival, and stages with durations and the stages that they wait for.
func outline(w *Workload) string {
	var b strings.Builder
	for j := range w.Jobs {
		fmt.Fprintf(&b, "%s@%v:", w.jobName(j), w.Jobs[j].Arrival.Seconds())
		names := w.stageNames(j)
		for i, st := range w.StagesOf(j) {
			fmt.Fprintf(&b, " %s[", names[i])
			for t, d := range w.DurationsOf(&st) {
				if t > 0 {
					b.WriteByte(' ')
				}
				b.WriteString(seconds(d))
			}
			b.WriteByte(']')
			for _, e := range w.EdgesOf(j) {
				if int(e.To) == i {
					fmt.Fprintf(&b, "<%s", names[e.From])
				}
			}
		}
		b.WriteByte('\n')
	}
	for _, note := range w.Notes {
		fmt.Fprintf(&b, "%s\n", note)
	}
	return b.String()
}

const rumenText = `{"jobID":"job_1","submitTime":5000,"outcome":"SUCCESS","priority":"NORMAL","mapTasks":[
  {"taskID":"m0","attempts":[{"result":"FAILED","startTime":6000,"finishTime":7000},{"result":"SUCCESS","startTime":7000,"finishTime":9500,"hdfsBytesRead":64}]},
  {"taskID":"m1","attempts":[{"result":"SUCCESS","startTime":6000,"finishTime":8000,"hdfsBytesRead":-1}]}],
 "reduceTasks":[{"taskID":"r0","attempts":[{"result":"SUCCESS","startTime":7000,"finishTime":12000}]}]}
{ "jobID": "job_2", "submitTime":4000, "outcome":"FAILED",
  "mapTasks":[{"attempts":[{"result":"KILLED","startTime":1,"finishTime":-1}]},{"attempts":[{"result":"SUCCESS","startTime":5000,"finishTime":6000}]}],
  "reduceTasks":[] }
`

const alibaba2017Text = `task_create_time, task_end_time, job_id, task_id,number_of_instances, status, cpus, memory
10,15,3,4,2,Terminated,50,0.1
20,21,8,1,1,Terminated,50,0.1
12,20,3,5,1,Terminated,50,0.1
20,,8,2,7,Running,,
30,29,9,1,1,Terminated,50,0.1
`

const alibaba2018Text = `R3_1_2,1,j_1,,Terminated,17,25,100,0.3
M1,2,j_1,,Terminated,10,18,100,0.3
task_Nzg3,1,j_1,,Terminated,11,12,100,0.3
M2_Stg4,1,j_1,,Terminated,12,20,100,0.3
M1,3,j_2,,Terminated,5,6,100,0.3
R2_1_7,,j_2,,Waiting,0,0,,
J4_1_7,1,j_2,,Terminated,6,9,100,0.3
`

const swimText = "job0\t49\t49\t150000000\t100\t0\njob1\t101\t52\t0\t0\t10485760\njob2\t101.5\t0\t67108864\t67108865\t67108865\n"

const coflowText = "150 2\n1 0 1 22 1 65:125.0\n2 10833 2 104 132 2 140:48.5 3:0\n"

const tpchText = `{"query":3,"size":"2g","edges":[[2,0],[0,1]],"stages":[` +
	`{"stage":0,"first_wave":{"10":[1500],"40":[9]},"rest_wave":{"10":[500,250],"40":[]}},` +
	`{"stage":1,"first_wave":{"40":[2000],"50":[1]},"rest_wave":{},"fresh_durations":{}},` +
	`{"stage":2,"first_wave":{"2":[],"20":[3000]},"rest_wave":{"20":[]}}]}
`

const googleTaskText = `0,2,1,0,,0,u,0,0,,,,
0,2,1,0,5,1,u,0,0,,,,
5000000,,1,0,5,4,u,0,0,,,,
6000000,,7,1,,0,u,0,0,,,,0
6000000,,7,0,,0,u,0,0,,,,0
7000000,,7,1,5,1,u,0,0,0.1,0.1,0.1,0
7500000,,7,0,5,1,u,0,0,0.1,0.1,0.1,0
8000000,,9,0,5,1,u,0,0,,,,
8000000,,9,1,5,1,u,0,0,,,,
9000000,,7,1,5,4,u,0,0,0.1,0.1,0.1,0
9500000,,7,0,5,2,u,0,0,0.1,0.1,0.1,0
9600000,,7,0,5,1,u,0,0,0.1,0.1,0.1,0
9700000,,7,0,5,4,u,0,0,0.1,0.1,0.1,0
9750000,,9,1,5,4,u,0,0,,,,
9800000,,9,0,5,5,u,0,0,,,,
9223372036854775807,,9,0,5,4,u,0,0,,,,
`

const csvText = "# of a query\nowner,job,stage,arrival_seconds,duration_seconds\nme,a,map,1.5,2\nme,a,map,1.5,3\nme,a,reduce,1.5,4\nme,b,,0,1\n"

// importCase is a small file of each format, with what it is read as.
var importCases = []struct {
	name, text string
	set        Importer
	want       string
}{
	// The reduce began at 7 s, but the last map ended at 9.5 s.
	{"rumen", rumenText, Importer{}, "job_1@0: map[2.5 2] reduce[2.5]<map\n" +
		"f: skipped 1 jobs with 1 unfinished tasks (incomplete=keep keeps their finished tasks)\n"},
	{"rumen", rumenText, Importer{Incomplete: true, KeepWaits: true}, "job_2@0: map[1]\njob_1@1: map[2.5 2] reduce[5]<map\n" +
		"f: 1 jobs did not finish completely and lack 1 tasks\nf: sorted the jobs by arrival\n"},
	{"alibaba-v2017", alibaba2017Text, Importer{}, "3@10: 4[5 5] 5[8]\n" +
		"f: skipped 2 jobs with 2 unfinished tasks (incomplete=keep keeps their finished tasks)\n"},
	{"alibaba-v2017", alibaba2017Text, Importer{Incomplete: true}, "3@10: 4[5 5] 5[8]\n8@20: 1[1]\n" +
		"f: 2 jobs did not finish completely and lack 2 tasks\n"},
	// R3 started at 17 s, and waited for M2 until 20 s.
	{"alibaba-v2018", alibaba2018Text, Importer{}, "j_1@10: M1[8 8] M2_Stg4[8] R3_1_2[5]<M1<M2_Stg4 task_Nzg3[1]\n" +
		"f: skipped 1 jobs with 1 unfinished tasks (incomplete=keep keeps their finished tasks)\n"},
	{"alibaba-v2018", alibaba2018Text, Importer{Incomplete: true, Instances: laws.Deterministic{Value: 3}},
		"j_2@5: M1[1 1 1] J4_1_7[3]<M1\nj_1@10: M1[8 8] M2_Stg4[8] R3_1_2[5]<M1<M2_Stg4 task_Nzg3[1]\n" +
			"f: 1 jobs did not finish completely and lack 1 tasks\nf: 1 dependencies on tasks that are not there were ignored\n" +
			"f: sorted the jobs by arrival\n"},
	{"alibaba-v2018", alibaba2018Text, Importer{KeepWaits: true}, "j_1@10: M1[8 8] M2_Stg4[8] R3_1_2[8]<M1<M2_Stg4 task_Nzg3[1]\n" +
		"f: skipped 1 jobs with 1 unfinished tasks (incomplete=keep keeps their finished tasks)\n"},
	// 64 MiB at 10 MiB/s and a second; the rest of 150 MB; 100 bytes of shuffle.
	{"swim", swimText, Importer{}, "job0@49: map[7.4 7.4 2.505114746] reduce[1.000009537]<map\njob1@101: map[2]\n" +
		"job2@101.5: map[7.4 1.000000095] reduce[7.4 1.000000095]<map\n"},
	{"swim", swimText, Importer{Split: 100e6, MapRate: 1e6, TaskStart: 5 * sched.Second, ReduceSplit: 1 << 40, ReduceRate: 1 << 40},
		"job0@49: map[105 55] reduce[5]<map\njob1@101: map[15.48576]\njob2@101.5: map[72.108865] reduce[5.000061035]<map\n"},
	{"coflow", coflowText, Importer{}, "1@0: shuffle[1]\n2@10.833: shuffle[0.388 0]\n"},
	{"wfcommons", wfText, Importer{}, "w@0: prep[1.5 2] merge[3]<prep\nw@0: prep[1.5 2] merge[3]<prep\n"},
	{"tpch", tpchText, Importer{}, "q3-2g@0: 2[3] 0[1.5 0.5 0.25]<2 1[2]<0\n"},
	{"tpch", tpchText, Importer{Executors: 45}, "q3-2g@0: 2[3] 0[0.009]<2 1[2]<0\n"},
	// Of job 7 task 0 was evicted, of job 9 task 0 killed; job 1 ran before the trace.
	{"google-task-events", googleTaskText, Importer{}, "7@6: 0[2]\n" +
		"f: skipped 2 tasks that finished after an interruption or started before the table begins\n" +
		"f: skipped 1 jobs with 1 unfinished tasks (incomplete=keep keeps their finished tasks)\n"},
	{"google-task-events", googleTaskText, Importer{Incomplete: true}, "7@6: 0[2]\n9@8: 0[1.75]\n" +
		"f: skipped 2 tasks that finished after an interruption or started before the table begins\n" +
		"f: 1 jobs did not finish completely and lack 1 tasks\n"},
	{"google-job-events", "5000000,,77,0,u,0,n,l\n6000000,,77,1,u,0,n,l\n6500000,,78,0,u,0,n,l\n8500000,,77,4,u,0,n,l\n", Importer{},
		"77@5: 0[2.5]\nf: a table of jobs without their tasks; each job counts as one task\n" +
			"f: skipped 1 jobs with 1 unfinished tasks (incomplete=keep keeps their finished tasks)\n"},
	{"google-text-events", "1  77 1 5  0  280 0 9 0.063 0.006 0.000 0\n2  77 1 5  1  280 0 9 0.063 0.006 0.000 0\n9  77 1 5  4  280 0 9 0 0 0 0\n", Importer{},
		"77@1: 0[7]\n"},
	{"csv", csvText, Importer{}, "b@0: 0[1]\na@1.5: map[2 3] reduce[4]\nf: sorted the jobs by arrival\n"},
	{"csv", "a,b,c,job,stage,arrival_seconds,duration_seconds,d,e\n1,2,3,x,map,0,1,4,5\n", Importer{}, "x@0: map[1]\n"},
	{"jsonl", `{"name":"jobID","stages":[{"durations_seconds":[1]}]}`, Importer{}, "jobID@0: 0[1]\n"},
	{"tr", "# twelve fields\n0 9 1 1 1 1 1 1 1 1 1 1\n", Importer{}, "1@0: 0[1 1 1 1 1 1 1 1 1]\n"},
}

func TestImport(t *testing.T) {
	for _, c := range importCases {
		if f := formatOf(newSample([]byte(c.text))); f == nil || f.name != c.name {
			t.Errorf("%s: recognised as %v", c.name, f)
		}
		w, err := c.set.Read(strings.NewReader(c.text), "f")
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if d := cmp.Diff(c.want, outline(w)); d != "" {
			t.Errorf("%s, %+v:\n%s", c.name, c.set, d)
		}
		var spec sched.JobSpec
		for j := range w.Jobs {
			w.Spec(j, &spec)
			if err := spec.Validate(); err != nil {
				t.Errorf("%s: job %d: %v", c.name, j, err)
			}
		}
	}
}

// TestInstancesFollowTheLaw: draws are scaled, so that the longest instance takes as long as all together did.
func TestInstancesFollowTheLaw(t *testing.T) {
	law, err := laws.Parse("lognormal:mean=7,sd=7")
	if err != nil {
		t.Fatal(err)
	}
	w, err := (&Importer{Instances: law}).Read(strings.NewReader("M1,5000,j_1,,Terminated,10,110,100,0.3\n"), "f")
	if err != nil {
		t.Fatal(err)
	}
	longest, st := sched.Time(0), w.Stages[0]
	for _, d := range w.Durations {
		longest = max(longest, d)
	}
	if longest != 100*sched.Second {
		t.Errorf("the longest instance takes %v s, want the task's 100", longest.Seconds())
	}
	if ratio := st.SD.Seconds() / st.Mean.Seconds(); ratio < 0.9 || ratio > 1.1 {
		t.Errorf("deviation/mean %v, want the law's 1 within 0.1", ratio)
	}
	again, err := (&Importer{Instances: law}).Read(strings.NewReader("M1,1,j_0,,Failed,0,0,,\nM1,5000,j_1,,Terminated,10,110,100,0.3\n"), "f")
	if err != nil || cmp.Equal(again.Durations, w.Durations) {
		t.Errorf("another job's draws are the same (%v)", err)
	}
}

func TestImportErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"value,count\n1,2\n", `f: expected one of the formats rumen, tpch, wfcommons, jsonl, csv, alibaba-v2017, alibaba-v2018, `},
		{"%PDF-1.4\n", `f: expected one of the formats `},
		{`{"jobID":"j","outcome":"SUCCESS"}`, "f:1: field submitTime: job j: expected milliseconds since 1970"},
		{"{\"jobID\":\"j\",\n\"submitTime\":\"x\"}", "f:2: field submitTime: expected a whole number in range, got string"},
		{"{\"jobID\":\"j\",\n\n", "f:3: expected a JSON object: the line ends too early"},
		{`{"jobID":"j","outcome":"SUCCESS","submitTime":1,"mapTasks":[{"taskID":"m","attempts":[{"result":"SUCCESS","startTime":9,"finishTime":8}]}]}`,
			"f:1: field mapTasks: task m: expected an attempt that starts and then finishes, got 9 and 8"},
		{alibaba2017Text + "1,2,3,4,x,Terminated,,\n", `f:7: field instances: expected a whole number below 2^31 or nothing, got "x"`},
		{alibaba2017Text + "1,2,3\n", `f:7: expected 8 fields between commas, got 3`},
		{"M1_2,1,j,,Terminated,1,2,,\nM2_1,1,j,,Terminated,1,2,,\n", "f:1: field task name: expected dependencies without a circle"},
		{"M1_1,1,j,,Terminated,1,2,,\n", "f:1: field task name: expected dependencies without a circle, this task waits for itself"},
		{"M1,1,j,,Waiting,0,0,,\n", "f: expected at least one job, found none; skipped 1 jobs with 1 unfinished tasks"},
		{swimText + "job3\t5\t5\t-1\t0\t0\n", `f:4: field 4 (map input bytes): expected a whole number between 0 and 1152921504606846976, got "-1"`},
		{swimText + "job3\tx\t5\t1\t0\t0\n", `f:4: field 2 (submit time): expected a number of seconds, got "x"`},
		{swimText + "job3\t5\n", `f:4: expected 6 fields between tabs, got 2`},
		{"job3\t5\t5\t1152921504606846976\t0\t0\n", `f:1: field 4 (map input bytes): expected fewer tasks; the size of a split is too small`},
		{"150 1\n1 x 1 22 1 65:1", `f:2: field 2 (arrival): expected milliseconds, got "x"`},
		{"150 1\n1 0 2 22", `f:2: field 3 (mappers): expected the racks of 2 mappers, found 1`},
		{"150 1\n1 0 1 22 2 65:1", `f:2: field 7 (reducer): expected rack:megabytes, got ""`},
		{"150 1\n1 0 1 22 1 65:1 9", `f:2: field 7: expected the end of the line after 1 reducers, got "9"`},
		{"150 1\n1 0 1 22 1 65:-1", `f:2: field 6 (reducer): expected rack:megabytes, got "65:-1"`},
		{`{"query":1,"edges":[[0,1]],"stages":[{"first_wave":{}}]}`, "f:1: field edges: [0]: expected two stages between 0 and 0, got [0 1]"},
		{`{"query":1,"edges":[[0,1],[1,0]],"stages":[{"first_wave":{"1":[1]}},{}]}`, "f:1: field edges: expected no circle, stage 0 waits for itself"},
		{`{"query":1,"stages":[{"first_wave":{}}]}`, "f:1: field stages[0]: expected durations for some number of executors, found none"},
		{googleTaskText + "1,,1,1,5,1,u,0,0,,,,\n", "f:17: field timestamp: expected events in order of time, this one is before 9.8 s"},
		{googleTaskText + "x,,1,1,5,1,u,0,0,,,,\n", `f:17: field 1 (timestamp): expected a whole number between 0 and 9223372036854775807, got "x"`},
		{"1,,1,1,5,9,u,0,0,,,,\n", `f:1: field 6 (event type): expected a whole number between 0 and 8, got "9"`},
		{csvText + "me,a,reduce,1.5,4\n", `f:7: field job: expected the rows of job "a" one after another, there were others in between`},
		{"job,stage,arrival_seconds,duration_seconds\na,x,0,1\na,y,0,1\na,x,0,1\n", `f:4: field stage: expected the rows of stage "x" one after another`},
		{csvText + "me,b,,1,1\n", "f:7: field arrival_seconds: expected 0 as in the job's rows before, got 1"},
		{csvText + "me,b,,0,x\n", `f:7: field duration_seconds: expected a number of seconds, got "x"`},
	} {
		_, err := Read(strings.NewReader(c.text), "f", 1)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s:\n got %v\nwant %s", c.text, err, c.want)
		}
	}
}

func TestImporterSet(t *testing.T) {
	var m Importer
	err := m.Set("incomplete=keep; waits=keep;instances=exp:mu=2;split=128MiB;reduce-split=1GB;map-rate=5e6;reduce-rate=1kB;task-start=3s;port-rate=1B;executors=7")
	want := Importer{
		Incomplete: true, KeepWaits: true, Instances: laws.Exponential{Mu: 2}, Split: 128 << 20, ReduceSplit: 1e9, MapRate: 5e6, ReduceRate: 1000,
		TaskStart: 3 * sched.Second, PortRate: 1, Executors: 7,
	}
	if d := cmp.Diff(want, m, cmpopts.IgnoreUnexported(Importer{})); d != "" || err != nil {
		t.Errorf("%v\n%s", err, d)
	}
	for text, want := range map[string]string{
		"incomplete=no":               `incomplete: expected drop or keep, got "no"`,
		"split=0":                     `split: expected a number of bytes such as 64MiB, got "0"`,
		"split=5KB":                   `split: expected a number of bytes such as 64MiB, got "5KB"`,
		"task-start=5":                `task-start: expected a duration above 0 such as 1s, got "5"`,
		"executors=0":                 `executors: expected a whole number of at least 1, got "0"`,
		"instances=nope":              `instances: expected makespan, hist:FILE or a law: unknown law "nope"`,
		"instances=hist:/no/such/one": `instances: open /no/such/one: no such file or directory`,
		"splt=5":                      `splt: expected one of incomplete=drop|keep;`,
	} {
		if err := m.Set(text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s:\n got %v\nwant %s", text, err, want)
		}
	}
}

func TestHistogram(t *testing.T) {
	l, err := readHistogram(strings.NewReader("value,count\n1,3000000000\n2,3000000000\n5,1\n"))
	if err != nil {
		t.Fatal(err)
	}
	if m := l.Mean(); m < 1.4999 || m > 1.5001 {
		t.Errorf("mean %v, want 1.5", m)
	}
	for text, want := range map[string]string{
		"value,count\n1,x\n": `2: expected two numbers of at least 0, value,count, got "1,x"`,
		"value,count\n1\n":   `2: expected value,count: wrong number of fields`,
		"2,1\n1,1\n":         ` expected a histogram: values of empirical must increase`,
		"":                   ` expected a histogram: empirical wants at least one value`,
	} {
		if _, err := readHistogram(strings.NewReader(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}
