package history

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"

	"github.com/tailcut/tailcut/sched"
)

// readAll reads a log from memory.
func readAll(text, column string) (string, []Record, error) {
	l, err := Open("-", strings.NewReader(text), column)
	if err != nil {
		return "", nil, err
	}
	defer l.Close()
	all, err := records(l)
	return l.Format, all, err
}

// readPath reads a file or a folder.
func readPath(t *testing.T, path string) []Record {
	t.Helper()
	l, err := Open(path, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	all, err := records(l)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// records are the attempts of a log, and the error that it ends with.
func records(l *Log) (all []Record, err error) {
	for a, err := range l.Attempts() {
		if err != nil {
			return all, err
		}
		all = append(all, *a)
	}
	return all, nil
}

// Small logs of each format, in the words of the systems that write them.
const (
	sparkLog = `{"Event":"SparkListenerLogStart","Spark Version":"3.5.3"}
{"Event":"SparkListenerJobStart","Job ID":4,"Submission Time":1000,"Stage Infos":[{"Stage ID":7,"RDD Info":[]}],"Stage IDs":[7,8],"Properties":{"a":"\"]}"}}
{"Event":"SparkListenerStageSubmitted","Stage Info":{"Stage ID":7,"Stage Attempt ID":0,"Stage Name":"sort at \u004dain.scala:3","Number of Tasks":2}}
{"Event":"SparkListenerTaskStart","Stage ID":7,"Stage Attempt ID":0,"Task Info":{"Task ID":0,"Index":0,"Attempt":0,"Launch Time":2000,"Host":"h1","Speculative":false}}
{"Event":"SparkListenerTaskStart","Stage ID":7,"Stage Attempt ID":0,"Task Info":{"Task ID":1,"Index":1,"Attempt":0,"Launch Time":2000,"Host":"h2","Speculative":false}}
{"Event":"SparkListenerTaskStart","Stage ID":7,"Stage Attempt ID":0,"Task Info":{"Task ID":2,"Index":1,"Attempt":1,"Launch Time":4000,"Host":"h1","Speculative":true}}
{"Event":"SparkListenerTaskStart","Stage ID":8,"Stage Attempt ID":1,"Task Info":{"Task ID":3,"Index":5,"Attempt":0,"Launch Time":5000,"Host":"h3","Speculative":false}}
{"Event":"SparkListenerTaskEnd","Stage ID":7,"Stage Attempt ID":0,"Task Type":"ShuffleMapTask","Task End Reason":{"Reason":"Success"},"Task Info":{"Task ID":0,"Index":0,"Attempt":0,"Launch Time":2000,"Host":"h1","Speculative":false,"Finish Time":3500,"Failed":false,"Killed":false,"Accumulables":[{"ID":1,"Value":"}]"}]},"Task Metrics":{"Shuffle Read Metrics":{"Remote Bytes Read":30,"Local Bytes Read":4},"Input Metrics":{"Bytes Read":1000,"Records Read":1}}}
{"Event":"SparkListenerTaskEnd","Stage ID":7,"Stage Attempt ID":0,"Task Type":"ShuffleMapTask","Task End Reason":{"Reason":"Success"},"Task Info":{"Task ID":2,"Index":1,"Attempt":1,"Launch Time":4000,"Host":"h1","Speculative":true,"Finish Time":5000,"Failed":false,"Killed":false},"Task Metrics":{}}
{"Event":"SparkListenerTaskEnd","Stage ID":7,"Stage Attempt ID":0,"Task Type":"ShuffleMapTask","Task End Reason":{"Reason":"TaskKilled","Kill Reason":"another attempt succeeded"},"Task Info":{"Task ID":1,"Index":1,"Attempt":0,"Launch Time":2000,"Host":"h2","Speculative":false,"Finish Time":5100,"Failed":false,"Killed":true},"Task Metrics":null}
{"Event":"SparkListenerApplicationEnd","Timestamp":9000}
`
	jhistLog = `Avro-Json
{"type":"record","name":"Event"}

{"type":"JOB_SUBMITTED","event":{"org.apache.hadoop.mapreduce.jobhistory.JobSubmitted":{"jobid":"job_1_0002"}}}
{"type":"MAP_ATTEMPT_STARTED","event":{"o.TaskAttemptStarted":{"taskid":"task_1_0002_m_000003","taskType":"MAP","attemptId":"attempt_1_0002_m_000003_0","startTime":1000,"trackerName":"h1","avataar":{"string":"VIRGIN"}}}}
{"type":"MAP_ATTEMPT_STARTED","event":{"o.TaskAttemptStarted":{"taskid":"task_1_0002_m_000003","taskType":"MAP","attemptId":"attempt_1_0002_m_000003_1","startTime":4000,"trackerName":"h2","avataar":{"string":"SPECULATIVE"}}}}
{"type":"MAP_ATTEMPT_FINISHED","event":{"o.MapAttemptFinished":{"attemptId":"attempt_1_0002_m_000003_1","taskType":"MAP","finishTime":5500,"hostname":"/rack/h2","counters":{"name":"COUNTERS","groups":[{"name":"g","counts":[{"name":"HDFS_BYTES_READ","displayName":"x","value":268}]}]}}}}
{"type":"MAP_ATTEMPT_KILLED","event":{"o.TaskAttemptUnsuccessfulCompletion":{"attemptId":"attempt_1_0002_m_000003_0","taskType":"MAP","finishTime":5600,"hostname":{"string":"h1"},"status":"KILLED"}}}
`
	oldLogText = `Meta VERSION="1" .
Job JOBID="job_1_0002" JOBNAME="a \"word\" count" .
MapAttempt TASK_TYPE="MAP" TASKID="task_1_0002_m_000003" TASK_ATTEMPT_ID="attempt_1_0002_m_000003_0" START_TIME="1000" HTTP_PORT="50060" .
MapAttempt TASK_TYPE="MAP" TASKID="task_1_0002_m_000003" TASK_ATTEMPT_ID="attempt_1_0002_m_000003_0" TASK_STATUS="FAILED" FINISH_TIME="2500" HOSTNAME="/rack/h1\.example\.org" ERROR="java\.io\.IOException: no
	at x
" .
ReduceAttempt TASK_TYPE="REDUCE" TASKID="task_1_0002_r_000000" TASK_ATTEMPT_ID="attempt_1_0002_r_000000_0" START_TIME="1000" .
ReduceAttempt TASK_TYPE="REDUCE" TASKID="task_1_0002_r_000000" TASK_ATTEMPT_ID="attempt_1_0002_r_000000_0" TASK_STATUS="SUCCESS" FINISH_TIME="4000" HOSTNAME="h2" COUNTERS="{(c)(c)[(REDUCE_SHUFFLE_BYTES)(Reduce shuffle bytes)(77)]}" .
`
	rumenLog = `{ "priority" : "NORMAL", "jobID" : "job_1_0002",
  "mapTasks" : [ { "taskType" : "MAP", "attempts" : [
    { "hostName" : "/rack/h1", "startTime" : 1000, "finishTime" : 3000, "result" : "SUCCESS", "attemptID" : "attempt_1_0002_m_000003_0", "hdfsBytesRead" : 9 },
    { "hostName" : null, "startTime" : -1, "finishTime" : 3000, "result" : "KILLED", "attemptID" : "attempt_1_0002_m_000003_1", "hdfsBytesRead" : -1 } ] } ],
  "reduceTasks" : null, "other" : {"x": [1, 2]} }
`
	parallelLog = "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n" +
		"1\t:\t1700000000.250\t     1.500\t0\t0\t0\t0\techo a\tb\n" +
		"2\t:\t1700000000.250\t     0.500\t0\t0\t3\t0\tfalse\n" +
		"2\thost2\t1700000001.000\t     2.000\t0\t0\t-1\t15\tsleep\n"
	nextflowLog = "task_id\thash\tnative_id\tname\tstatus\texit\tsubmit\tduration\trealtime\t%cpu\tpeak_rss\trchar\n" +
		"1\t8a/1\t10\tFASTQC (s 1)\tCOMPLETED\t0\t2024-05-06 07:08:09.123\t1m 5s\t1h 2m 3.5s\t95%\t2 MB\t7.5 MB\n" +
		"2\t8a/2\t11\tFASTQC (s 2)\tFAILED\t1\t2024-05-06 07:08:09.123\t5s\t250ms\t-\t-\t-\n" +
		"3\t8a/3\t12\tALIGN\tABORTED\t-\t2024-05-06 07:08:09.123\t-\t-\t-\t-\t-\n"
	nextflowRaw = "task_id\tprocess\tstatus\tattempt\tstart\tcomplete\thostname\n" +
		"1\tX\tCOMPLETED\t2\t1700000000000\t1700000001500\tn1\n"
	sacctParsable = "JobID|JobName|State|Elapsed|Start|NodeList\n" +
		"123_7|sim|COMPLETED|1-02:03:04|2024-05-06T07:08:09|n1\n" +
		"123_7.batch|batch|COMPLETED|1-02:03:04|2024-05-06T07:08:09|n1\n" +
		"123_8|sim|CANCELLED by 1000|00:10:00|2024-05-06T07:08:09|n2\n" +
		"123_[9-12]|sim|PENDING|00:00:00|Unknown|None assigned\n" +
		"124|one|TIMEOUT|01:00.250|Unknown|n2\n" +
		"124.0|step|RUNNING|05:00|Unknown|n2\n"
	sacctFixed = "       JobID    JobName      State    Elapsed \n" +
		"------------ ---------- ---------- ---------- \n" +
		"124                 one  COMPLETED   00:00:07 \n" +
		"125                 one CANCELLED+   00:00:09 \n"
	podList = `{"apiVersion":"v1","items":[
 {"kind":"Pod","metadata":{"name":"j-0-x","labels":{"batch.kubernetes.io/job-name":"j"},"annotations":{"batch.kubernetes.io/job-completion-index":"0"}},
  "spec":{"nodeName":"n1"},"status":{"phase":"Succeeded","containerStatuses":[{"state":{"terminated":{"startedAt":"2024-05-06T07:08:09Z","finishedAt":"2024-05-06T07:08:19Z","exitCode":0}}}]}},
 {"kind":"Pod","metadata":{"name":"j-1-x","labels":{"job-name":"j"},"annotations":{"batch.kubernetes.io/job-completion-index":"1"}},
  "spec":{"nodeName":"n2"},"status":{"phase":"Running","containerStatuses":[{"state":{"running":{"startedAt":"2024-05-06T07:08:10Z"}}}]}},
 {"kind":"Pod","metadata":{"name":"p","ownerReferences":[{"name":"rs"}]},
  "spec":{"nodeName":"n2"},"status":{"phase":"Failed","reason":"Evicted","containerStatuses":[{"state":{"terminated":{"startedAt":"2024-05-06T07:08:10Z","finishedAt":"2024-05-06T07:08:13Z"}}}]}},
 {"kind":"Pod","metadata":{"name":"q"},"spec":{},"status":{"phase":"Pending"}}
],"kind":"List","metadata":{"resourceVersion":""}}
`
	googleLog = `1000000,,55,0,m1,0,u,2,9,0.1,0.1,0.0,1
2000000,,55,0,m1,1,u,2,9,0.1,0.1,0.0,1
3000000,,55,0,m1,2,u,2,9,0.1,0.1,0.0,1
4000000,,55,0,m2,1,u,2,9,0.1,0.1,0.0,1
5500000,,55,0,m2,4,u,2,9,0.1,0.1,0.0,1
5000000,,55,1,m2,1,u,2,9,0.1,0.1,0.0,1
6000000,,55,1,m2,5,u,2,9,0.1,0.1,0.0,1
6500000,,55,2,m2,1,u,2,9,0.1,0.1,0.0,1
0,,55,3,m2,1,u,2,9,0.1,0.1,0.0,1
7000000,,55,3,m2,4,u,2,9,0.1,0.1,0.0,1
`
	googleBlanks = "1    6251674199      861      3313055599   1    328  0  2    0.025 0.080 0.000     1\n" +
		"4    6251674199      861      3313055599   4    328  0  2    0.025 0.080 0.000     1\n"
)

const s = sched.Second

// unwritten leaves the digits out of a comparison; TestDurationsKeepTheirDigits of the tool looks at them.
var unwritten = cmpopts.IgnoreUnexported(Record{})

func TestFormats(t *testing.T) {
	at := func(seconds float64) sched.Time { return sched.FromSeconds(seconds) }
	may6 := at(1714979289) // 2024-05-06T07:08:09Z
	for _, c := range []struct {
		name, text, column, format string
		want                       []Record
	}{
		{"spark, a blank line", `{"Event":"SparkListenerLogStart"}` + "\n \t\n", "", "Spark event log", nil},
		{"spark", sparkLog, "", "Spark event log", []Record{
			{Job: "4", Stage: "7", StageName: "sort at Main.scala:3", Start: 2 * s, Duration: 1500e6, Host: "h1", InputBytes: 1000, ShuffleBytes: 34},
			{Job: "4", Stage: "7", StageName: "sort at Main.scala:3", Task: 1, Number: 1, Start: 4 * s, Duration: s, Speculative: true, Host: "h1"},
			{Job: "4", Stage: "7", StageName: "sort at Main.scala:3", Task: 1, Start: 2 * s, Duration: 3100e6, Outcome: Killed, Host: "h2"},
			{Job: "4", Stage: "8.1", Task: 5, Start: 5 * s, Duration: 4 * s, Outcome: Running, Host: "h3"},
		}},
		{"jhist", jhistLog, "", "Hadoop job history", []Record{
			{Job: "job_1_0002", Stage: "map", Task: 3, Number: 1, Start: 4 * s, Duration: 1500e6, Speculative: true, Host: "h2", InputBytes: 268},
			{Job: "job_1_0002", Stage: "map", Task: 3, Start: s, Duration: 4600e6, Outcome: Killed, Host: "h1"},
		}},
		{"binary jhist", binaryJhist, "", "Hadoop job history", []Record{
			{Job: "job_1_0002", Stage: "map", Task: 3, Number: 1, Start: 4 * s, Duration: 1500e6, Speculative: true, Host: "h2", InputBytes: 268},
			{Job: "job_1_0002", Stage: "map", Task: 3, Start: s, Duration: 4600e6, Outcome: Killed, Host: "h1"},
		}},
		{"old log", oldLogText, "", "Hadoop 0.20 job log", []Record{
			{Job: "job_1_0002", Stage: "map", Task: 3, Start: s, Duration: 1500e6, Outcome: Failed, Host: "h1.example.org"},
			{Job: "job_1_0002", Stage: "reduce", Start: s, Duration: 3 * s, Host: "h2", ShuffleBytes: 77},
		}},
		{"rumen", rumenLog, "", "Rumen trace", []Record{
			{Job: "job_1_0002", Stage: "map", Task: 3, Start: s, Duration: 2 * s, Host: "h1", InputBytes: 9},
			{Job: "job_1_0002", Stage: "map", Task: 3, Number: 1, Outcome: Killed},
		}},
		{"parallel", parallelLog, "", "joblog of GNU parallel", []Record{
			{Task: 1, Start: at(1700000000.25), Duration: 1500e6, Host: ":"},
			{Task: 2, Start: at(1700000000.25), Duration: 500e6, Outcome: Failed, Host: ":"},
			{Task: 2, Number: 1, Start: at(1700000001), Duration: 2 * s, Outcome: Killed, Host: "host2"},
		}},
		{"nextflow", nextflowLog, "", "trace of Nextflow", []Record{
			{Stage: "FASTQC", Task: 1, Duration: 3723500e6, InputBytes: 7864320},
			{Stage: "FASTQC", Task: 2, Duration: 250e6, Outcome: Failed},
			{Stage: "ALIGN", Task: 3, Outcome: Killed},
		}},
		{"nextflow raw", nextflowRaw, "", "trace of Nextflow", []Record{
			{Stage: "X", Task: 1, Number: 1, Start: at(1700000000), Duration: 1500e6, Host: "n1"},
		}},
		{"sacct", sacctParsable, "", "sacct of Slurm", []Record{
			{Job: "123", Stage: "sim", Task: 7, Start: may6, Duration: 93784 * s, Host: "n1", Resolution: s},
			{Job: "123", Stage: "sim", Task: 8, Start: may6, Duration: 600 * s, Outcome: Cancelled, Host: "n2", Resolution: s},
			{Stage: "one", Task: 124, Duration: 60250e6, Outcome: TimedOut, Host: "n2"},
			{Job: "124", Stage: "step", Duration: 300 * s, Outcome: Running, Host: "n2", Resolution: s},
		}},
		{"sacct of fixed width", sacctFixed, "", "sacct of Slurm", []Record{
			{Stage: "one", Task: 124, Duration: 7 * s, Resolution: s}, {Stage: "one", Task: 125, Duration: 9 * s, Outcome: Cancelled, Resolution: s},
		}},
		{"pods", podList, "", "pods of Kubernetes", []Record{
			{Job: "j", Start: may6, Duration: 10 * s, Host: "n1", Resolution: s},
			{Job: "rs", Start: may6 + s, Duration: 3 * s, Outcome: Killed, Host: "n2", Resolution: s},
			{Job: "j", Task: 1, Start: may6 + s, Duration: 9 * s, Outcome: Running, Host: "n2", Resolution: s},
		}},
		{"google", googleLog, "", "Google task events", []Record{
			{Job: "55", Start: 2 * s, Duration: 3500e6, Host: "m2"},
			{Job: "55", Task: 1, Start: 5 * s, Duration: s, Outcome: Killed, Host: "m2"},
			{Job: "55", Task: 2, Start: 6500e6, Duration: 500e6, Outcome: Running, Host: "m2"},
		}},
		{"google, re-encoded", googleBlanks, "", "Google task events", []Record{
			{Job: "6251674199", Task: 861, Start: s, Duration: 3 * s, Host: "3313055599"},
		}},
		{"tr", "0 2 1.5 1 2\n5 9 2 1 2 3 1 2 3 1 2 3\n", "", "workload", []Record{
			{Job: "0", Duration: s}, {Job: "0", Task: 1, Duration: 2 * s},
			{Job: "1", Duration: s}, {Job: "1", Task: 1, Duration: 2 * s}, {Job: "1", Task: 2, Duration: 3 * s},
			{Job: "1", Task: 3, Duration: s}, {Job: "1", Task: 4, Duration: 2 * s}, {Job: "1", Task: 5, Duration: 3 * s},
			{Job: "1", Task: 6, Duration: s}, {Job: "1", Task: 7, Duration: 2 * s}, {Job: "1", Task: 8, Duration: 3 * s},
		}},
		{"tr of nine tasks, whose line has as many fields as a Google event", "5 9 2 1 2 3 1 2 3 1 2 3\n", "", "workload", nil},
		{"numbers", "# seconds\n\n1.5 # one\n2e-3\r\n", "", "numbers", []Record{{Duration: 1500e6}, {Task: 1, Duration: 2e6}}},
		{"column by name", "task,seconds\na,1\nb,2\n", "seconds", "column of a CSV", []Record{{Duration: s}, {Task: 1, Duration: 2 * s}}},
		{"semicolons and a mark", "\ufeffseconds;task;note, or so\n1;a;\n2;b;\n", "seconds", "column of a CSV", []Record{{Duration: s}, {Task: 1, Duration: 2 * s}}},
		{"tabs", "task\tseconds\na\t1\nb\t2\n", "2", "column of a CSV", []Record{{Duration: s}, {Task: 1, Duration: 2 * s}}},
		{"numbers behind a mark", "\ufeff1\n2\n", "", "numbers", []Record{{Duration: s}, {Task: 1, Duration: 2 * s}}},
		{"column by number", "a,1\nb,2\n", "2", "column of a CSV", []Record{{Duration: s}, {Task: 1, Duration: 2 * s}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			format, got, err := readAll(c.text, c.column)
			if err != nil || format != c.format {
				t.Fatalf("%q: %v", format, err)
			}
			if diff := cmp.Diff(c.want, got, unwritten); c.want != nil && diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What is wrong is said in one line with file, line, field and what was expected.
func TestErrors(t *testing.T) {
	cut := func(text string, n int) string { return text[:len(text)-n] }
	for _, c := range []struct{ name, text, column, want string }{
		{"spark, a time", strings.Replace(sparkLog, `"Finish Time":3500`, `"Finish Time":"x"`, 1), "", `stdin:8: field Finish Time: expected a whole number, got`},
		{"spark, no time", strings.Replace(sparkLog, `"Finish Time":3500,`, ``, 1), "", `stdin:8: field Finish Time: expected milliseconds since 1970, got -1`},
		{"spark, another line", sparkLog + "hello\n", "", `stdin:12: expected a JSON object on one line, got "hello"`},
		{"jhist, an id", strings.Replace(jhistLog, "attempt_1_0002_m_000003_0", "attempt_x", 1), "", `stdin:5: field attemptId: expected an id such as`},
		{"binary jhist, no schema", "Avro-Binary\n\n", "", `stdin:2: expected an Avro schema in JSON`},
		{"binary jhist, damaged", strings.Replace(binaryJhist, "attempt_1_0002_m_000003_0", "attempt_1_0002_x_00000x_0", 1), "",
			`stdin:3: field attemptId: expected an id such as attempt_1526555215992_0001_m_000000_0, got "attempt_1_0002_x_00000x_0" (event 2)`},
		{"old log, a time", strings.Replace(oldLogText, `"2500"`, `"soon"`, 1), "", `stdin:6: field FINISH_TIME: expected milliseconds since 1970, got "soon"`},
		{"rumen, a time", strings.Replace(rumenLog, "1000", `"x"`, 1), "", `field mapTasks.attempts.startTime: expected a whole number, got a string`},
		{"rumen, a result", strings.Replace(rumenLog, "SUCCESS", `FINE`, 1), "", `field mapTasks.attempts.result: expected SUCCESS, FAILED or KILLED, got "FINE"`},
		{"nextflow, columns", "task_id\tname\tstatus\n", "", `stdin:1: expected the column realtime, or start and complete, or duration; there are: task_id name status`},
		{"sacct, columns", "JobID|JobName|State\n", "", `stdin:1: expected the column Elapsed, which sacct shows with --format=JobID,JobName,State,Elapsed; there are: JobID JobName State`},
		{"pods, a date", strings.Replace(podList, "07:08:19Z", "soon", 1), "", `stdin:3: field items.status.containerStatuses: expected a date such as`},
		{"google, a type", strings.Replace(googleLog, "m2,5,", "m2,x,", 1), "", `stdin:7: field 6 (event type): expected a number from 0 to 8, got "x"`},
		{"google's jobs", "5620274759,,6252007148,4,AL=,0,v9=,8e=\n", "", `stdin:1: expected the 13 columns of task events, found the 8 of job events, which have no tasks`},
		{"numbers", "1\nsoon\n", "", `stdin:2: expected a duration in seconds, a finite number of at least 0, or one with a unit such as 250ms or 1h02m, got "soon"`},
		{"numbers with commas", "a,1\n", "", `for a CSV add --column`},
		{"no such column", "a,b\n1,2\n", "c", `stdin:1: no column "c"; there are: a, b`},
		{"column, no number", "a,b\n1,x\n", "b", `stdin:2: column b: expected a duration in seconds`},
		{"tr", "0 2 1.5 1\n", "", `stdin:1: field 5: expected 2 durations as field 2 says, found 1`},
		{"journal, cut short", "tailcut\nxx", "", `the journal has no header`},
		{"zstd, cut short", cut(packed(t, "zstd", sparkLog), 20), "", `expected more compressed data, found the end of the file`},
		{"lz4 blocks, damaged", strings.Replace(packed(t, "lz4block", sparkLog), "LZ4Block\x22", "LZ4Block\x77", 1), "", `expected compressed data, found a damaged block`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := readAll(c.text, c.column)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v\nexpected %s", err, c.want)
			}
		})
	}
}

// packed compresses a text as the tools do that write such logs.
func packed(t testing.TB, how, text string) string {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	switch how {
	case "gzip":
		w = gzip.NewWriter(&b)
	case "zstd":
		w, _ = zstd.NewWriter(&b)
	case "lz4":
		return string(frameLZ4(text))
	case "snappy":
		w = snappy.NewBufferedWriter(&b)
	case "xerial": // Java's SnappyOutputStream: magic, two versions, then blocks behind their lengths
		b.WriteString(xerialMagic + "\x00\x00\x00\x01\x00\x00\x00\x01")
		for ; len(text) > 0; text = text[min(700, len(text)):] {
			data := snappy.Encode(nil, []byte(text[:min(700, len(text))]))
			_ = binary.Write(&b, binary.BigEndian, uint32(len(data)))
			b.Write(data)
		}
		return b.String()
	case "lz4block": // Java's LZ4BlockOutputStream; a block that does not shrink is stored, and an empty one is the end
		for ; len(text) > 0; text = text[min(700, len(text)):] {
			plain := text[:min(700, len(text))]
			data, method := packLZ4(plain), "\x22"
			if len(data) >= len(plain) {
				data, method = []byte(plain), "\x12"
			}
			b.WriteString(lz4BlockMagic + method)
			_ = binary.Write(&b, binary.LittleEndian, []uint32{uint32(len(data)), uint32(len(plain)), 0})
			b.Write(data)
		}
		b.WriteString(lz4BlockMagic + "\x12" + strings.Repeat("\x00", 12))
		return b.String()
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestCompressed(t *testing.T) {
	_, want, err := readAll(sparkLog, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, how := range []string{"gzip", "zstd", "lz4", "snappy", "xerial", "lz4block"} {
		format, got, err := readAll(packed(t, how, sparkLog), "")
		if err != nil || format != "Spark event log" || !cmp.Equal(got, want, unwritten) {
			t.Errorf("%s: %s, %d attempts, %v", how, format, len(got), err)
		}
	}
}

// A rolling log is its files in order of their numbers, of which a compacted one replaces those before; state is carried over.
func TestRolling(t *testing.T) {
	_, want, err := readAll(sparkLog, "")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(sparkLog, "\n")
	dir := filepath.Join(t.TempDir(), "eventlog_v2_app-1")
	write := func(name, text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(dir, 0o777), os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	write("appstatus_app-1.inprogress", "")
	write("events_1_app-1", "gone\n")
	write("events_2_app-1.compact", strings.Join(lines[:3], ""))
	write("events_3_app-1.zstd", packed(t, "zstd", strings.Join(lines[3:5], "")))
	write("events_10_app-1.lz4", packed(t, "lz4block", strings.Join(lines[5:], "")))
	got := readPath(t, dir)
	if diff := cmp.Diff(want, got, unwritten); diff != "" {
		t.Error(diff)
	}
	if _, err := Open(t.TempDir(), nil, ""); err == nil || !strings.Contains(err.Error(), "is neither") {
		t.Error(err)
	}
	write("events_1_app-2", sparkLog)
	if _, err := Open(dir, nil, ""); err == nil || !strings.Contains(err.Error(), "found those of app-1 and app-2") {
		t.Error(err)
	}
}

// A caller may stop at any attempt.
func TestStopEarly(t *testing.T) {
	l, err := Open("-", strings.NewReader(sparkLog), "")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for range l.Attempts() {
		if n++; n == 2 {
			break
		}
	}
	if n != 2 {
		t.Error(n)
	}
}

func TestStages(t *testing.T) {
	open := func() *Log {
		l, err := Open("-", strings.NewReader(sparkLog), "")
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	stages, hosts, err := Stages(open().Attempts(), "", "")
	if err != nil || len(stages) != 2 || fmt.Sprint(hosts) != "[h1 h2 h3]" {
		t.Fatal(stages, hosts, err)
	}
	if s := stages[0]; s.Tasks != 2 || fmt.Sprint(s.Seconds(), s.Censored, s.Failed) != "[1.5 1] [3.1] 0" || s.Succeeded[0].Bytes != 1034 {
		t.Errorf("%+v", s)
	}
	for _, c := range []struct {
		job, stage string
		want       int
	}{{"4", "", 2}, {"4", "8.1", 1}, {"", "sort at Main.scala:3", 1}, {"3", "", 0}} {
		if got, _, _ := Stages(open().Attempts(), c.job, c.stage); len(got) != c.want {
			t.Errorf("%+v: %d stages", c, len(got))
		}
	}
}

// No reader panics, every error is one line, and what is read is in range, whatever the bytes.
func FuzzOpen(f *testing.F) {
	for _, text := range []string{sparkLog, jhistLog, binaryJhist, oldLogText, rumenLog, parallelLog, nextflowLog, nextflowRaw, sacctParsable, sacctFixed, podList,
		googleLog, googleBlanks, "1\n2\n", "0 2 1.5 1 2\n", "tailcut\n", "{}", `{"arrival_seconds":0,"stages":[{"durations_seconds":[1]}]}`, "",
		"LZ4Block\x22", "\x82SNAPPY\x00", "!!FILE=x!!\n", "Avro-Json\n{}\n{\"type\":\"MAP_ATTEMPT_FAILED\",\"event\":{\"x\":{}}}", "JobID|State|Start|End\n1|COMPLETED|x|y\n"} {
		f.Add(text, "")
		f.Add(packed(f, "lz4block", text), "")
		f.Add(packed(f, "xerial", text), "")
	}
	f.Add("a,b\n1,2\n", "b")
	f.Add("1,2\n\"3\n", "2")
	f.Fuzz(func(t *testing.T, text, column string) {
		_, all, err := readAll(text, column)
		if err != nil && strings.ContainsAny(err.Error(), "\n\r") && !strings.ContainsAny(column, "\n\r") {
			t.Errorf("more than a line: %q", err)
		}
		for _, a := range all {
			if a.Duration < 0 || a.Duration > maxInstant || a.Start < 0 || a.Outcome > Cancelled || a.InputBytes < 0 || a.ShuffleBytes < 0 || a.Number < 0 {
				t.Errorf("out of range: %+v", a)
			}
		}
	})
}

// FuzzReaders hands text to each reader without asking whether it is of its format.
func FuzzReaders(f *testing.F) {
	var kinds []format
	for _, k := range formats {
		if k.refused == "" {
			kinds = append(kinds, k)
		}
	}
	for i, k := range kinds {
		for _, text := range []string{sparkLog, jhistLog, binaryJhist, oldLogText, rumenLog, parallelLog, nextflowLog, nextflowRaw, sacctParsable, sacctFixed, podList,
			googleLog, googleBlanks} {
			if k.recognise([]byte(text)) {
				f.Add(byte(i), text)
			}
		}
	}
	f.Fuzz(func(t *testing.T, kind byte, text string) {
		r := kinds[int(kind)%len(kinds)].reader()
		check := func(a *Record) error {
			if a.Duration < 0 || a.Duration > maxInstant || a.Start < 0 || a.Outcome > Cancelled || a.InputBytes < 0 || a.ShuffleBytes < 0 || a.Number < 0 || a.Task < 0 {
				t.Errorf("out of range: %+v", *a)
			}
			return nil
		}
		err := r.read(&lines{name: "log", in: bufio.NewReader(strings.NewReader(text))}, check)
		if err == nil {
			err = r.finish(check)
		}
		if err != nil && strings.ContainsAny(err.Error(), "\n\r") {
			t.Errorf("more than a line: %q", err)
		}
	})
}
