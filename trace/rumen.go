package trace

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/tailcut/tailcut/sched"
)

// Job traces of Rumen, the history tool of Hadoop MapReduce: JSON objects one after another, one per job, times in
// milliseconds since 1970. Fields that are not named here are ignored.
//
// A job becomes a map stage and a reduce stage that waits for all maps. A task lasts as its first successful attempt
// did. Hadoop starts reduces while maps still run, so that part of a reduce attempt is waiting for maps; a reduce lasts
// from where [AfterMaps] puts its work, unless waits are kept. The workload's clock starts with the first job.

type rumenJob struct {
	ID          string      `json:"jobID"`
	SubmitTime  *int64      `json:"submitTime"`
	Outcome     string      `json:"outcome"`
	MapTasks    []rumenTask `json:"mapTasks"`
	ReduceTasks []rumenTask `json:"reduceTasks"`
}

type rumenTask struct {
	ID       string         `json:"taskID"`
	Attempts []rumenAttempt `json:"attempts"`
}

type rumenAttempt struct {
	Result       string `json:"result"`
	StartTime    int64  `json:"startTime"`
	FinishTime   int64  `json:"finishTime"`
	BytesRead    int64  `json:"hdfsBytesRead"`
	ShuffleBytes int64  `json:"reduceShuffleBytes"`
	Shuffled     int64  `json:"shuffleFinished"` // -1 if unknown
}

// AfterMaps returns when the work of a reduce attempt begins: when it starts, but not before the job's last map has
// ended, for until then it waits. A map that ended after the attempt had fetched all that it reads (shuffled, where
// that is known and more than 0) was run again for others, and not waited for.
func AfterMaps[T ~int64](start, lastMap, shuffled T) T {
	if shuffled > 0 {
		lastMap = min(lastMap, shuffled)
	}
	return max(start, lastMap)
}

func isRumen(s *sample) bool { return s.line[0] == '{' && s.hasKey("jobID") }

// rumen reads all jobs, one after another.
func (in *reader) rumen() error {
	count := &newlines{r: in.lines}
	objects := json.NewDecoder(count)
	incomplete, missing := 0, 0
	for number := uint32(0); ; number++ {
		var job rumenJob
		err := objects.Decode(&job)
		in.line = count.before(objects.InputOffset())
		if errors.Is(err, io.EOF) {
			break
		}
		if errors.Is(err, io.ErrUnexpectedEOF) && number > 0 {
			if in.end.cut == nil {
				in.end.cut = errors.New("expected more of a JSON object, found the end of the file")
			}
			break // of the job that the file ends in there is only a part
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			in.line = count.before(math.MaxInt64)
		}
		if err != nil {
			return in.wrongJSON(err)
		}
		unfinished, err := in.rumenJob(&job, number)
		if err != nil {
			return err
		}
		missing += unfinished
		if unfinished > 0 || job.Outcome != "SUCCESS" {
			incomplete++
		}
	}
	in.noteIncomplete(incomplete, missing)
	in.w.startAtZero()
	return nil
}

// rumenJob appends one job, unless it is to be left out, and tells how many of its tasks did not finish.
func (in *reader) rumenJob(job *rumenJob, number uint32) (unfinished int, err error) {
	if job.SubmitTime == nil || *job.SubmitTime < 0 || *job.SubmitTime > maxInstant/1_000_000 {
		return 0, in.wrong("submitTime", fmt.Errorf("job %s: expected milliseconds since 1970", abridged(job.ID)))
	}
	for _, tasks := range [][]rumenTask{job.MapTasks, job.ReduceTasks} {
		for i := range tasks {
			if tasks[i].success() == nil {
				unfinished++
			}
		}
	}
	if !in.set.Incomplete && (unfinished > 0 || job.Outcome != "SUCCESS") {
		return unfinished, nil
	}
	w := in.w
	row := JobRow{
		Arrival: sched.Time(*job.SubmitTime) * 1e6, Number: number, Name: in.names.add(job.ID),
		FirstStage: uint32(len(w.Stages)), FirstEdge: uint32(len(w.Edges)),
	}
	mapsEnd, err := in.rumenStage("map", job.MapTasks, 0)
	if err != nil {
		return 0, err
	}
	if in.set.KeepWaits {
		mapsEnd = 0
	}
	if _, err := in.rumenStage("reduce", job.ReduceTasks, mapsEnd); err != nil {
		return 0, err
	}
	row.Stages = uint32(len(w.Stages)) - row.FirstStage
	switch row.Stages {
	case 0:
		return unfinished, nil
	case 2:
		w.Edges = append(w.Edges, Edge{From: 0, To: 1, Kind: sched.Barrier})
		row.Edges = 1
	}
	w.Jobs = append(w.Jobs, row)
	return unfinished, nil
}

// rumenStage appends a stage of what finished, if anything did. Work counts from the instant open at the earliest. It
// returns when the last task finished.
func (in *reader) rumenStage(name string, tasks []rumenTask, open int64) (last int64, err error) {
	w := in.w
	first := len(w.Durations)
	bytes := int64(0)
	if err := in.room(len(tasks)); err != nil {
		return 0, in.wrong(name+"Tasks", err)
	}
	for i := range tasks {
		a := tasks[i].success()
		if a == nil {
			continue
		}
		if a.StartTime < 0 || a.FinishTime < a.StartTime || a.FinishTime > maxInstant/1_000_000 {
			return 0, in.wrong(name+"Tasks", fmt.Errorf("task %s: expected an attempt that starts and then finishes, got %d and %d",
				abridged(tasks[i].ID), a.StartTime, a.FinishTime))
		}
		w.Durations = append(w.Durations, sched.Time(max(0, a.FinishTime-AfterMaps(a.StartTime, open, a.Shuffled)))*1e6)
		last = max(last, a.FinishTime)
		bytes += max(0, a.BytesRead) + max(0, a.ShuffleBytes)
	}
	if n := len(w.Durations) - first; n > 0 {
		w.addStage(first, n, in.names.add(name))
		w.Stages[len(w.Stages)-1].InputBytes = max(0, bytes)
	}
	return last, nil
}

// success returns the first successful attempt, nil if there is none.
func (t *rumenTask) success() *rumenAttempt {
	for i := range t.Attempts {
		if t.Attempts[i].Result == "SUCCESS" {
			return &t.Attempts[i]
		}
	}
	return nil
}

// startAtZero moves the workload's clock to the first arrival.
func (w *Workload) startAtZero() {
	first := sched.Time(maxInstant)
	for j := range w.Jobs {
		first = min(first, w.Jobs[j].Arrival)
	}
	for j := range w.Jobs {
		w.Jobs[j].Arrival -= first
	}
}

// newlines passes a stream on and remembers where its lines end, so that an offset can be told as a line.
type newlines struct {
	r     io.Reader
	read  int64   // bytes so far
	lines uint32  // line ends before those in ends
	ends  []int64 // offsets of later line ends
}

// Read passes on and remembers.
func (n *newlines) Read(p []byte) (int, error) {
	k, err := n.r.Read(p)
	for i, c := range p[:k] {
		if c == '\n' {
			n.ends = append(n.ends, n.read+int64(i))
		}
	}
	n.read += int64(k)
	return k, err
}

// before returns the number of line ends before an offset, and forgets them: offsets must not decrease.
func (n *newlines) before(offset int64) uint32 {
	k := 0
	for k < len(n.ends) && n.ends[k] < offset {
		k++
	}
	n.ends = n.ends[:copy(n.ends, n.ends[k:])]
	n.lines += uint32(k)
	return n.lines
}
