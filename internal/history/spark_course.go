package history

import (
	"strconv"

	"github.com/tailcut/tailcut/sched"
)

// What Spark's log tells of executors, jobs and stages, and of the settings of speculation. Times of stages are those
// of StageCompleted.

// sparkCourse gathers it.
type sparkCourse struct {
	Course
	taskCPUs int
	slots    slotCount
	cores    map[string]int // by executor that is there
	jobs     map[int64]int  // index in Jobs
	stages   map[sparkStageID]int
}

func newSparkCourse() sparkCourse {
	return sparkCourse{
		Course: Course{System: "spark", Settings: map[string]string{}}, taskCPUs: 1,
		cores: map[string]int{}, jobs: map[int64]int{}, stages: map[sparkStageID]int{},
	}
}

// sparkSettings are the properties that a course keeps.
var sparkSettings = map[string]bool{
	"spark.speculation": true, "spark.speculation.quantile": true, "spark.speculation.multiplier": true,
	"spark.speculation.interval": true, "spark.speculation.minTaskRuntime": true, "spark.speculation.task.duration.threshold": true,
	"spark.dynamicAllocation.enabled": true, "spark.task.cpus": true,
}

// fields calls do for each key of the object at which the cursor is.
func (c *cursor) fields(do func(key string)) {
	if c.space() != '{' {
		c.skip()
		return
	}
	c.enter('{')
	for key, more := c.key(); more; key, more = c.key() {
		do(string(key))
	}
}

// rest calls do for each key that is left of the object in which the cursor is.
func (c *cursor) rest(do func(key string)) {
	for key, more := c.key(); more; key, more = c.key() {
		do(string(key))
	}
}

// millis takes an instant in milliseconds since 1970; 0 where there is none.
func (c *cursor) millis() sched.Time {
	if b := c.space(); b < '0' || b > '9' {
		c.skip()
		return 0
	}
	t, ok := millis(c.int())
	if !ok {
		return 0
	}
	return t
}

// event reads an event of the course. Other events are left alone, and so is what is odd: the attempts are told by
// others.
func (s *sparkCourse) event(kind string, c *cursor) {
	switch kind {
	case "SparkListenerLogStart":
		c.rest(func(key string) {
			if key == "Spark Version" {
				s.Version = string(c.str())
			} else {
				c.skip()
			}
		})
	case "SparkListenerApplicationStart":
		c.rest(func(key string) {
			switch key {
			case "App Name":
				s.Application = string(c.str())
			case "Timestamp":
				s.Began = c.millis()
			default:
				c.skip()
			}
		})
	case "SparkListenerEnvironmentUpdate":
		s.environment(c)
	case "SparkListenerExecutorAdded", "SparkListenerExecutorRemoved":
		s.executor(c)
	case "SparkListenerJobEnd":
		s.jobEnd(c)
	case "SparkListenerStageCompleted":
		s.stageInfo(c)
	}
	c.err = nil
}

func (s *sparkCourse) environment(c *cursor) {
	c.rest(func(key string) {
		if key != "Spark Properties" {
			c.skip()
			return
		}
		c.fields(func(key string) {
			if !sparkSettings[key] || c.space() != '"' {
				c.skip()
				return
			}
			s.Settings[key] = string(c.str())
		})
	})
	if n, err := strconv.Atoi(s.Settings["spark.task.cpus"]); err == nil && n > 0 {
		s.taskCPUs = n
	}
}

// executor reads that an executor was added, which says its cores, or removed.
func (s *sparkCourse) executor(c *cursor) {
	var id string
	var at sched.Time
	cores := 0
	c.rest(func(key string) {
		switch key {
		case "Timestamp":
			at = c.millis()
		case "Executor ID":
			id = string(c.str())
		case "Executor Info":
			c.fields(func(key string) {
				if key == "Total Cores" {
					cores = int(min(c.int(), 1<<20))
				} else {
					c.skip()
				}
			})
		default:
			c.skip()
		}
	})
	if c.err != nil {
		return
	}
	slots := cores / s.taskCPUs
	if more := slots - s.cores[id]; more != 0 {
		s.slots.add(at, more)
	}
	s.cores[id] = slots
}

// jobStart is told by the reader, which has read the event.
func (s *sparkCourse) jobStart(id int64, name string, submitted sched.Time) {
	s.jobs[id] = len(s.Jobs)
	s.Jobs = append(s.Jobs, JobCourse{Job: name, Submitted: submitted})
}

func (s *sparkCourse) jobEnd(c *cursor) {
	job := int64(-1)
	var at sched.Time
	c.rest(func(key string) {
		switch key {
		case "Job ID":
			job = c.int()
		case "Completion Time":
			at = c.millis()
		default:
			c.skip()
		}
	})
	if i, known := s.jobs[job]; known && s.Jobs[i].Ended == 0 {
		s.Jobs[i].Ended = at
	}
}

// stageInfo reads a completed stage.
func (s *sparkCourse) stageInfo(c *cursor) {
	var id sparkStageID
	var st StageCourse
	c.rest(func(key string) {
		if key != "Stage Info" {
			c.skip()
			return
		}
		c.fields(func(key string) {
			switch key {
			case "Stage ID":
				id.id = c.int()
			case "Stage Attempt ID":
				id.attempt = c.int()
			case "Submission Time":
				st.Submitted = c.millis()
			case "Completion Time":
				st.Ended = c.millis()
			case "Parent IDs":
				for c.enter('['); c.item(']'); {
					st.Parents = append(st.Parents, strconv.FormatInt(c.int(), 10))
				}
			default:
				c.skip()
			}
		})
	})
	if c.err == nil {
		s.stages[id] = len(s.Stages)
		s.Stages = append(s.Stages, st)
	}
}

// course puts together what the reader knows.
func (s *spark) course() *Course {
	c := s.told.Course
	c.Ended, c.Slots = s.ended, s.told.slots.course()
	for id, i := range s.told.stages {
		st := s.stage(id)
		c.Stages[i].Job, c.Stages[i].Stage = st.job, st.stage
	}
	return &c
}
