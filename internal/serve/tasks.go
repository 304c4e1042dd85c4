package serve

import (
	"context"
	"fmt"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/results"
	"github.com/tailcut/tailcut/sched"
)

// tasks lists the tasks of a job: as the engine has them, or as its output folder does once it is over.
func (s *Server) tasks(ctx context.Context, c *call) (any, error) {
	limit, after := c.number("limit", mostListed), c.number("after", -1)
	if limit < 1 || limit > mostListed {
		return nil, wrong(Mistake{"limit", fmt.Sprintf("expected a number from 1 to %d", mostListed)})
	}
	e, over, err := s.jobs.find(c.ref)
	if err != nil {
		return nil, err
	}
	page := Tasks{Schema: TasksSchema, Tasks: []Task{}}
	if over == nil {
		page.Job = e.id
		gone := false
		err = s.engine.Look(ctx, func(v live.Sight) {
			j := v.Job(sched.JobID(e.id))
			if gone = j == nil; !gone {
				page.Tasks, page.Next = tasksOf(v.View(), j, after+1, limit)
			}
		})
		if err != nil || !gone {
			return page, err
		}
		_, over = s.jobs.get(e.id)
	}
	if over == nil {
		return nil, problem(404, "there is no job %s any more", c.ref)
	}
	page.Job = over.ID
	page.Tasks, page.Next, err = keptTasks(over.Output, after+1, limit)
	return page, err
}

// taskStates are the words for the states of tasks.
var taskStates = map[sched.TaskState]string{
	sched.TaskBlocked: "blocked", sched.TaskPending: "waiting", sched.TaskRunning: "running", sched.TaskDone: "done",
	sched.TaskSkipped: "given-up", sched.TaskBroken: "failed", sched.TaskStranded: "given-up",
}

// tasksOf lists so many tasks from the n-th of a job on, and where the next page begins. It is called on the loop's
// goroutine.
func tasksOf(v *sched.View, j *live.Job, from, limit int) (all []Task, next *int) {
	all = []Task{}
	job := v.Job(j.ID)
	n := 0 // of the first task of the stage
	for i, name := range j.Stages {
		st := v.Stage(job.FirstStage + sched.StageID(i))
		for k := max(0, from-n); k < int(st.Tasks); k++ {
			if len(all) == limit {
				last := n + k - 1
				return all, &last
			}
			t := v.Task(st.First + sched.TaskID(k))
			all = append(all, Task{Stage: name, Task: k, State: taskStates[t.State], Busy: int(t.Live), Failures: int(t.Failures)})
		}
		n += int(st.Tasks)
	}
	return all, nil
}

// keptTasks lists tasks of a job that is over, as its output folder has them.
func keptTasks(out string, from, limit int) (all []Task, next *int, err error) {
	r, err := results.Open(out)
	if err != nil {
		return nil, nil, problem(404, "its tasks are not known any more: %v", err)
	}
	all = []Task{}
	for i := from; i < len(r.Tasks); i++ {
		if len(all) == limit {
			last := i - 1
			return all, &last, nil
		}
		t := &r.Tasks[i]
		all = append(all, Task{Stage: r.Stages[t.Stage], Task: t.Index, State: string(t.State), Failures: t.Failures})
	}
	return all, nil, nil
}
