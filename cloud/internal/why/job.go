package why

import (
	"cmp"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/tailcut/tailcut/cloud/internal/kube"
	"github.com/tailcut/tailcut/cloud/internal/podtemplate"
)

// telling are the events that say what holds up a Job or its clones, or what it could not do.
var telling = []string{"PoolUnusable", "InvalidAnnotation", "TooManyTasks", "NotCloned", "CloneRefused", "FailedCreate", "DeadlineAtRisk", "WinnersNotKept"}

// explain says what a Job has and what it waits for.
func (f *facts) explain() []string {
	name := fmt.Sprintf("Job %s", f.job.Name)
	if manager := ptr.Deref(f.job.Spec.ManagedBy, ""); manager != kube.ManagedBy {
		return []string{fmt.Sprintf("%s is managed by %s, not by Tailcut: set spec.managedBy to %s when you create it.", name, cmp.Or(manager, "Kubernetes' own controller"), kube.ManagedBy)}
	}
	lines := []string{name + " " + f.state()}
	if over(f.job) {
		return append(lines, f.clones()...)
	}
	tasks := ptr.Deref(f.job.Spec.Completions, ptr.Deref(f.job.Spec.Parallelism, 1))
	running, waiting, clones := 0, 0, 0
	for i := range f.pods {
		p := &f.pods[i]
		switch {
		case !live(p):
			continue
		case p.Status.Phase == corev1.PodRunning:
			running++
		default:
			waiting++
		}
		if podtemplate.IsClone(p.Labels) {
			clones++
		}
	}
	lines = append(lines, fmt.Sprintf("%d of %d tasks are done. %d pods run and %d wait for their node or image; %d of them are clones. parallelism is %d.",
		f.job.Status.Succeeded, tasks, running, waiting, clones, ptr.Deref(f.job.Spec.Parallelism, 1)))
	lines = append(lines, f.inPool()...)
	lines = append(lines, f.clones()...)
	for i := range f.events {
		if e := &f.events[i]; slices.Contains(telling, e.Reason) && !repeated(f.events[i+1:], e) {
			lines = append(lines, "  "+eventLine(e, f.now))
		}
	}
	return lines
}

// state says in one sentence how the Job stands.
func (f *facts) state() string {
	for _, c := range f.job.Status.Conditions {
		switch {
		case c.Status != corev1.ConditionTrue:
		case c.Type == batchv1.JobComplete:
			return fmt.Sprintf("is complete, after %s.", ago(c.LastTransitionTime.Time, f.job.CreationTimestamp.Time))
		case c.Type == batchv1.JobFailed:
			return fmt.Sprintf("has failed: %s %s", c.Reason, c.Message)
		}
	}
	queue := f.job.Labels[kube.QueueLabel]
	switch {
	case ptr.Deref(f.job.Spec.Suspend, false) && queue != "":
		return fmt.Sprintf("is suspended: queue %s of Kueue has not admitted it, or has evicted it.", queue)
	case ptr.Deref(f.job.Spec.Suspend, false):
		return "is suspended: it has spec.suspend."
	case f.job.Status.StartTime == nil:
		return "has not been seen by a controller: is tailcut-controller installed, and for this namespace?"
	case f.named != "":
		return fmt.Sprintf("is in pool %s, for %s.", f.named, ago(f.now, f.job.Status.StartTime.Time))
	default:
		return fmt.Sprintf("runs under its own policy, %s, for %s.", cmp.Or(f.job.Annotations[kube.PolicyAnnotation], "the controller's default"), ago(f.now, f.job.Status.StartTime.Time))
	}
}

// inPool says what the Job has of its pool, and why it has no more.
func (f *facts) inPool() []string {
	if f.named == "" {
		return nil
	}
	if f.pool == nil {
		return []string{fmt.Sprintf("Pool %s is not there, or you may not look at it.", f.named)}
	}
	st := &f.pool.Status
	lines := []string{fmt.Sprintf("Pool %s under %s: %d of %s used, by %d Jobs; %d wait without a slot.", f.named, policyOf(f.pool), st.Used, capacity(f.pool), st.Jobs, st.Waiting)}
	for _, c := range st.Conditions {
		if c.Type == "Ready" && c.Status != "True" {
			lines = append(lines, fmt.Sprintf("The pool starts nothing: %s", c.Message))
		}
	}
	for _, m := range st.Members {
		if m.Namespace == f.job.Namespace && m.Name == f.job.Name && m.Waits != "" {
			lines = append(lines, fmt.Sprintf("Tasks of the Job wait: %s.", m.Waits))
		}
	}
	return lines
}

// clones adds up what the events say of clones.
func (f *facts) clones() []string {
	count := map[string]int{}
	for i := range f.events {
		e := &f.events[i]
		count[e.Reason]++
		if e.Series != nil {
			count[e.Reason] += int(e.Series.Count) - 1
		}
	}
	if count["CloneStarted"]+count["CloneWanted"] == 0 {
		return []string{"No event tells of a clone."}
	}
	if n := count["CloneWanted"]; n > 0 {
		return []string{fmt.Sprintf("A dry run: %d clones would have been started.", n)}
	}
	return []string{fmt.Sprintf("Clones: %d started, %d won, %d were ended before.", count["CloneStarted"], count["CloneWon"], count["CloneLost"])}
}

func repeated(later []corev1.Event, e *corev1.Event) bool {
	return slices.ContainsFunc(later, func(x corev1.Event) bool { return x.Reason == e.Reason })
}

func over(job *batchv1.Job) bool {
	return slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
		return c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed)
	})
}

// capacity is what a pool has.
func capacity(sp *kube.SlotPool) string {
	for name, q := range sp.Spec.Resources {
		return fmt.Sprintf("%s %s", q.String(), name)
	}
	return fmt.Sprintf("%d slots", sp.Spec.TotalSlots())
}

// policyOf names the policy of a pool; of several the one that decides, too.
func policyOf(sp *kube.SlotPool) string {
	if one := decides(sp); one != "" {
		return fmt.Sprintf("%s (of %s)", one, policies(sp))
	}
	return policies(sp)
}

// policies are those that a pool names.
func policies(sp *kube.SlotPool) string { return cmp.Or(sp.Spec.Policy, kube.DefaultPoolPolicy) }

// decides is the one of several policies that decides, "" where there is one.
func decides(sp *kube.SlotPool) string {
	if n := len(sp.Status.Turns); n > 0 {
		return sp.Status.Turns[n-1].Policy
	}
	return ""
}

// pools is a table of pools.
func pools(all []kube.SlotPool) [][]string {
	rows := [][]string{{"POOL", "HAS", "PODS", "CLONES", "JOBS", "WAITING", "POLICY"}}
	for i := range all {
		sp := &all[i]
		st := &sp.Status
		rows = append(rows, []string{sp.Name, capacity(sp), fmt.Sprint(st.Used), fmt.Sprint(st.Clones), fmt.Sprint(st.Jobs), fmt.Sprint(st.Waiting), policyOf(sp)})
	}
	return rows
}

// members is a table of the Jobs of a pool, and below it one of its zones or classes if it has some.
func members(sp *kube.SlotPool) [][]string {
	rows := [][]string{{"NAMESPACE", "JOB", "PODS", "CLONES", "UNFINISHED", "WAITS"}}
	for _, m := range sp.Status.Members {
		rows = append(rows, []string{m.Namespace, m.Name, fmt.Sprint(m.Pods), fmt.Sprint(m.Clones), fmt.Sprint(m.Unfinished), m.Waits})
	}
	rows = append(rows, parts("ZONE", sp.Status.Zones)...)
	return append(rows, parts("CLASS", sp.Status.Classes)...)
}

// parts is a table of what zones or classes have, with an empty line before it.
func parts(head string, all []kube.PartStatus) (rows [][]string) {
	if len(all) > 0 {
		rows = append(rows, []string{""}, []string{head, "SLOTS", "USED"})
	}
	for _, x := range all {
		rows = append(rows, []string{x.Name, fmt.Sprint(x.Slots), fmt.Sprint(x.Used)})
	}
	return rows
}
