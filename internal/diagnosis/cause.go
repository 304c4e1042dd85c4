package diagnosis

// Kind says why a stage is slow. docs/howto/past-jobs.md defines each and has its remedy.
type Kind string

// The causes, in the order in which a slow task's excess is told apart: each takes of what is left.
const (
	Failure     Kind = "failure"      // attempts failed before one succeeded
	Skew        Kind = "skew"         // the task read more than others
	Scheduler   Kind = "scheduler"    // it waited to be launched, or its result to be taken
	GC          Kind = "gc"           // its process collected garbage
	ShuffleWait Kind = "shuffle-wait" // it waited for the output of earlier stages
	WarmUp      Kind = "warm-up"      // it was the first on its executor
	Host        Kind = "host"         // its machine is slow
	Locality    Kind = "locality"     // it ran away from its data, or waited not to
	Spill       Kind = "spill"        // its data did not fit into memory
	Straggler   Kind = "straggler"    // none of these: chance
	FewSlots    Kind = "few-slots"    // there were more tasks than slots
	FewParts    Kind = "few-tasks"    // there were more slots than tasks
)

// ofTasks are the causes that make single tasks slow.
var ofTasks = []Kind{Failure, Skew, Scheduler, GC, ShuffleWait, WarmUp, Host, Locality, Spill, Straggler}

// drawn tells whether a further attempt of a task would meet the cause by chance, and not as its first did.
func (k Kind) drawn() bool { return k == Straggler || k == Host }

// remedies are what to do about a cause, where a clone would meet it again.
var remedies = map[Kind]string{
	Straggler:   "start clones of the last tasks",
	Failure:     "read the errors of the failed attempts",
	Skew:        "split the data evenly",
	Scheduler:   "make fewer, longer tasks",
	GC:          "give each task more memory",
	ShuffleWait: "look at the machines that serve the shuffled data",
	WarmUp:      "keep executors, or make tasks longer",
	Host:        "repair or avoid the machine",
	Locality:    "lower spark.locality.wait, or add replicas",
	Spill:       "give each task more memory, or make more tasks",
	FewSlots:    "add slots",
	FewParts:    "make more tasks, or use fewer slots",
}

// Cause is why a stage is slow.
type Cause struct {
	Cause    Kind     `json:"cause"`
	Share    *float64 `json:"share"` // of the excess; nil where it is not known
	Evidence string   `json:"evidence"`
	Remedy   string   `json:"remedy"`
}
