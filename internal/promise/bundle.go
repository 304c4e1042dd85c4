package promise

import (
	"math"
	"slices"

	"github.com/tailcut/tailcut/sched"
)

// bundle is for how many tasks each of [from, to) stands, one after the other.
type bundle struct {
	from, to sched.TaskID
	size     float64
}

// sizeOf returns for how many tasks one stands.
func (p *player) sizeOf(stage int, task sched.TaskID) float64 {
	if p.bundle == nil {
		return 1
	}
	if b := &p.bundle[stage]; task >= b.from && task < b.to {
		return b.size
	}
	return 1
}

// bundle makes fewer tasks, if too many are left: half of them stand for several, one after the other, and then come
// single ones, so that slots end together as they would. Where many are left, that moves a job's end by less than what
// is not known of it. Those that run, or go on from what they saved, stay as they are. It returns the bundles of each
// job and stage; nil for a job that stays as it is.
func (g *game) bundle(most int) [][]bundle {
	copied := *g.Snapshot
	copied.Jobs, copied.Attempts = slices.Clone(copied.Jobs), slices.Clone(copied.Attempts)
	g.snapshot = &copied
	for i := range copied.Jobs {
		j := &copied.Jobs[i]
		j.Spec.Stages = slices.Clone(j.Spec.Stages)
		for k := range j.Spec.Stages {
			j.Spec.Stages[k].Waits = false
		}
	}
	all := make([][]bundle, len(copied.Jobs))
	each := (left(&copied) + most - 1) / most
	if each < 2 {
		return all
	}
	busy := map[sched.TaskID][]*sched.SavedAttempt{}
	for i := range copied.Attempts {
		a := &copied.Attempts[i]
		busy[a.Task] = append(busy[a.Task], a)
	}
	for i := range copied.Jobs {
		if j := &copied.Jobs[i]; alike(j) {
			all[i] = fold(j, each, busy)
		}
	}
	return all
}

// left returns how many tasks have not ended.
func left(s *sched.Snapshot) int {
	n := 0
	for i := range s.Jobs {
		j := &s.Jobs[i]
		if j.State > sched.JobActive {
			continue
		}
		for k := range j.Spec.Stages {
			n += j.Spec.Stages[k].Tasks
		}
		for k := range j.Tasks {
			if t := &j.Tasks[k]; t.State >= sched.TaskDone {
				n -= int(t.More) + 1
			}
		}
	}
	return n
}

// alike tells whether each task of a job stands for any other of its stage.
func alike(j *sched.SavedJob) bool {
	if j.State > sched.JobActive {
		return false
	}
	for _, e := range j.Spec.Edges {
		if e.Kind != sched.Barrier || len(e.Bytes) > 0 || e.Measured {
			return false
		}
	}
	for k := range j.Spec.Stages {
		if st := &j.Spec.Stages[k]; st.Need > 0 && st.Need < st.Tasks || len(j.Stages) > 0 && len(j.Stages[k].Reads) > 0 {
			return false
		}
	}
	for k := range j.Tasks {
		if t := &j.Tasks[k]; t.State > sched.TaskDone || t.Blocked > 0 {
			return false
		}
	}
	return true
}

// fold makes bundles of the tasks of a job that are done, and of those that have not begun. A stage has first what is
// done, then what runs, then what has not begun. The attempts follow their tasks.
func fold(j *sched.SavedJob, each int, busy map[sched.TaskID][]*sched.SavedAttempt) []bundle {
	bundles := make([]bundle, len(j.Spec.Stages))
	old := j.Tasks
	j.Tasks = nil
	j.Stages = slices.Clone(j.Stages)
	was, is := 0, 0 // index of the first task of a stage, before and after
	for k := range j.Spec.Stages {
		st := &j.Spec.Stages[k]
		done, single, rest := split(j, old, was+st.Tasks, busy)
		old = rest
		fresh := st.Tasks - done - len(single)
		was += st.Tasks
		packed, waiting := done/each, (fresh+each-1)/each
		if done > 0 && len(single)+waiting == 0 {
			packed = max(1, packed)
		}
		if packed > 0 {
			j.Tasks = append(j.Tasks, sched.SavedTask{Index: uint32(is), More: uint32(packed - 1), State: sched.TaskDone, Launched: 1})
		}
		for i, t := range single {
			index := is + packed + i
			for _, a := range busy[j.Task+sched.TaskID(t.Index)] {
				a.Task = j.Task + sched.TaskID(index)
			}
			t.Index = uint32(index)
			j.Tasks = append(j.Tasks, t)
		}
		from, several := j.Task+sched.TaskID(is+packed+len(single)), (waiting+1)/2
		bundles[k] = bundle{from: from, to: from + sched.TaskID(several), size: float64(fresh-waiting+several) / float64(max(1, several))}
		st.Tasks, st.Need = packed+len(single)+waiting, 0
		is += st.Tasks
		if waiting > 0 { // what policies know of durations is of these tasks
			size := float64(fresh) / float64(waiting)
			st.Mean, st.SD = scaled(st.Mean, size), scaled(st.SD, math.Sqrt(size))
			if len(j.Stages) > 0 {
				j.Stages[k].Mean *= size
				j.Stages[k].M2 *= size
			}
		}
	}
	return bundles
}

func scaled(t sched.Time, by float64) sched.Time { return sched.Time(math.Round(float64(t) * by)) }

// split counts the tasks of a stage that are done, and returns those of which more is known than that they have not
// begun. The stage's tasks end before end; tasks are those of it and of later stages, which are rest.
func split(j *sched.SavedJob, tasks []sched.SavedTask, end int, busy map[sched.TaskID][]*sched.SavedAttempt) (done int, single, rest []sched.SavedTask) {
	for len(tasks) > 0 && int(tasks[0].Index) < end {
		t := tasks[0]
		tasks = tasks[1:]
		if over := int(t.Index) + int(t.More) + 1 - end; over > 0 { // it goes on into the next stage
			later := t
			later.Index, later.More = uint32(end), uint32(over-1)
			t.More -= uint32(over)
			tasks = slices.Insert(slices.Clone(tasks), 0, later)
		}
		if t.State == sched.TaskDone {
			done += int(t.More) + 1
			continue
		}
		for more := t.More + 1; more > 0; more-- {
			t.More = 0
			if t.Saved > 0 || len(busy[j.Task+sched.TaskID(t.Index)]) > 0 {
				single = append(single, t)
			}
			t.Index++
		}
	}
	return done, single, tasks
}
