package sim

import "github.com/tailcut/tailcut/sched"

// written returns what each reader reads of the result of an attempt that is done.
func (s *Simulator) written(id sched.AttemptID) int64 {
	if len(s.w.Bytes) == 0 {
		return 0
	}
	v := s.core.View()
	t := v.Attempt(id).Task
	stage := v.Task(t).Stage
	switch bytes := *s.writes.Of(stage); len(bytes) {
	case 0:
		return 0
	case 1:
		return bytes[0]
	default:
		return bytes[t-v.Stage(stage).First]
	}
}
