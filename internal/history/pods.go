package history

import (
	"cmp"
	"strconv"
	"time"

	"github.com/tailcut/tailcut/sched"
)

// What kubectl get pods -o json prints: a list of pods, or one. A pod is an attempt from the start of its first
// container to the end of its last. Kubernetes keeps whole seconds.
//
// Job is the name of the Job, else of whatever owns the pod, else the pod's. Task is the completion index of an indexed
// Job, or what Tailcut's controller says, otherwise every pod is a task by itself, numbered from 0. A pod that was
// deleted or evicted while it ran was killed; how long a pod ran that still runs is counted until the last instant in
// the list. Of a container that was started again in its pod, Kubernetes keeps the last end before: that is an attempt
// of the task as well. Pods that reached activeDeadlineSeconds timed out.

type pods struct {
	names   names
	count   map[string]int  // pods by job
	index   map[podTask]int // attempts by job and completion index
	running []Record
	latest  sched.Time
	a       Record
}

type podTask struct {
	job   string
	index int
}

func newPods() *pods {
	return &pods{names: names{}, count: map[string]int{}, index: map[podTask]int{}}
}

// pod is what is read of a pod.
type pod struct {
	Kind     string `json:"kind"`
	Metadata struct {
		Name        string            `json:"name"`
		Labels      map[string]string `json:"labels"`
		Annotations map[string]string `json:"annotations"`
		Deleted     string            `json:"deletionTimestamp"`
		Owners      []struct {
			Name string `json:"name"`
		} `json:"ownerReferences"`
	} `json:"metadata"`
	Spec struct {
		Node string `json:"nodeName"`
	} `json:"spec"`
	Status struct {
		Phase      string         `json:"phase"`
		Reason     string         `json:"reason"`
		Containers []podContainer `json:"containerStatuses"`
	} `json:"status"`
}

type podContainer struct {
	State podState `json:"state"`
	Last  podState `json:"lastState"`
}

type podState struct {
	Running *struct {
		Started string `json:"startedAt"`
	} `json:"running"`
	Terminated *struct {
		Started  string `json:"startedAt"`
		Finished string `json:"finishedAt"`
		Exit     int    `json:"exitCode"`
	} `json:"terminated"`
}

func (p *pods) read(in *lines, emit emit) error {
	s := newJSONStream(in)
	for {
		more, err := s.open('{')
		if err != nil || !more {
			return err
		}
		var single pod // filled in if the object is a pod and no list
		err = s.fields(func(key string) error {
			switch key {
			case "items":
				return s.list(key, func() error {
					var one pod
					if err := s.decode(key, &one); err != nil {
						return err
					}
					return p.pod(s, &one, emit)
				})
			case "kind":
				return s.decode(key, &single.Kind)
			case "metadata":
				return s.decode(key, &single.Metadata)
			case "spec":
				return s.decode(key, &single.Spec)
			case "status":
				return s.decode(key, &single.Status)
			}
			return s.skip(key)
		})
		if err != nil {
			return err
		}
		if single.Kind == "Pod" {
			if err := p.pod(s, &single, emit); err != nil {
				return err
			}
		}
	}
}

// pod tells of a pod that has started.
func (p *pods) pod(s *jsonStream, d *pod, emit emit) error {
	if d.Kind != "" && d.Kind != "Pod" {
		s.in.number = 1 + s.c.at(s.d.InputOffset())
		return s.in.expected("items.kind", "Pod", []byte(d.Kind))
	}
	var start, end sched.Time
	running := false
	instant := func(text string) (sched.Time, error) {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil || at.Year() < 1970 || at.Year() >= 2043 {
			s.in.number = 1 + s.c.at(s.d.InputOffset())
			return 0, s.in.expected("items.status.containerStatuses", "a date such as 2024-05-06T07:08:09Z", []byte(text))
		}
		t := sched.Time(at.UnixNano())
		p.latest = max(p.latest, t)
		return t, nil
	}
	p.a = Record{Job: p.job(d), Host: p.names.keep([]byte(d.Spec.Node)), Resolution: sched.Second}
	var before Record // of the container, in the same pod
	for _, c := range d.Status.Containers {
		if err := before.failedBefore(&c, instant); err != nil {
			return err
		}
		var started string
		switch {
		case c.State.Running != nil:
			running, started = true, c.State.Running.Started
		case c.State.Terminated != nil && c.State.Terminated.Started != "":
			started = c.State.Terminated.Started
			t, err := instant(c.State.Terminated.Finished)
			if err != nil {
				return err
			}
			end = max(end, t)
		default:
			continue
		}
		t, err := instant(started)
		if err != nil {
			return err
		}
		if start == 0 || t < start {
			start = t
		}
	}
	if start == 0 && before.Start == 0 {
		return nil // it waits
	}
	p.number(d)
	if before.Start > 0 {
		a := p.a
		a.Start, a.Duration, a.Outcome = before.Start, before.Duration, Failed
		if err := emit(&a); err != nil || start == 0 {
			return err
		}
		p.a.Number = p.another(d)
	}
	p.a.Start, p.a.Duration = start, span(start, end)
	switch {
	case running:
		p.a.Outcome = Running
		p.running = append(p.running, p.a)
		return nil
	case d.Status.Phase == "Succeeded":
	case d.Metadata.Deleted != "" || d.Status.Reason == "Evicted" || d.Status.Reason == "Preempting":
		p.a.Outcome = Killed
	case d.Status.Reason == "DeadlineExceeded":
		p.a.Outcome = TimedOut
	default:
		p.a.Outcome = Failed
	}
	return emit(&p.a)
}

// failedBefore takes the end before the last of a container, if it was a failure, the earliest of a pod.
func (a *Record) failedBefore(c *podContainer, instant func(string) (sched.Time, error)) error {
	last := c.Last.Terminated
	if last == nil || last.Started == "" || last.Exit == 0 {
		return nil
	}
	from, err := instant(last.Started)
	if err != nil {
		return err
	}
	until, err := instant(last.Finished)
	if err == nil && (a.Start == 0 || from < a.Start) {
		a.Start, a.Duration = from, span(from, until)
	}
	return err
}

// another returns the number of the next attempt of the task that the pod is of.
func (p *pods) another(d *pod) int {
	key := podTask{p.a.Job, p.a.Task}
	if _, indexed := p.index[key]; !indexed {
		return p.a.Number + 1
	}
	p.index[key]++
	return p.index[key] - 1
}

// job returns whose pod it is.
func (p *pods) job(d *pod) string {
	for _, label := range []string{"batch.kubernetes.io/job-name", "job-name"} {
		if name := d.Metadata.Labels[label]; name != "" {
			return p.names.keep([]byte(name))
		}
	}
	if len(d.Metadata.Owners) > 0 {
		return p.names.keep([]byte(d.Metadata.Owners[0].Name))
	}
	return d.Metadata.Name
}

// number fills in the numbers of task and attempt.
func (p *pods) number(d *pod) {
	task := cmp.Or(d.Metadata.Annotations["batch.kubernetes.io/job-completion-index"], d.Metadata.Labels["tailcut.dev/task"])
	if i, err := strconv.Atoi(task); err == nil && i >= 0 {
		key := podTask{p.a.Job, i}
		p.a.Task, p.a.Number = i, p.index[key]
		p.index[key]++
		return
	}
	p.a.Task = p.count[p.a.Job]
	p.count[p.a.Job]++
}

// finish tells of what still ran.
func (p *pods) finish(emit emit) error {
	for i := range p.running {
		a := &p.running[i]
		a.Duration = span(a.Start, p.latest)
		if err := emit(a); err != nil {
			return err
		}
	}
	return nil
}
