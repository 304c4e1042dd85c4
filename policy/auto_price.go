package policy

import "github.com/tailcut/tailcut/sched"

// load learns how busy a cluster is, as that says what a second of a slot costs. Each job that waits is done 1/S of a
// second later, and so are jobs that come before none waits any more. If those that have won take a part rho of the
// slots' time, the queue takes 1/(1-rho) as long to drain as if no job came, so there are J/(1-rho) of both. No more
// jobs are expected to come than have come.
type load struct {
	last        sched.Time
	work, slots float64 // seconds since the first job has come: of attempts that have won, and of all slots
	jobs        float64 // that have come
}

const loadFade = 0.99 // of what is known, with each job that comes

// observe has to see every event. Attempts that are ended, or hang, do not count: what is done about them changes with
// the price.
func (l *load) observe(v *sched.View, ev *sched.Event) {
	if l.jobs > 0 {
		l.slots += (v.Now() - l.last).Seconds() * float64(v.Slots())
	}
	l.last = v.Now()
	switch ev.Kind {
	case sched.AttemptDone:
		l.work += (v.Now() - v.Rows().Started(ev.Attempt)).Seconds()
	case sched.JobArrived:
		l.work, l.slots, l.jobs = loadFade*l.work, loadFade*l.slots, loadFade*l.jobs+1
	}
}

// come returns how many jobs are expected to come before none waits any more of so many that wait.
func (l *load) come(waiting int) float64 {
	if l.work >= l.slots {
		return l.jobs
	}
	return min(l.jobs, float64(waiting)*l.work/(l.slots-l.work))
}

// price returns what a second of a slot costs a clone that starts.
func (p *auto) price(v *sched.View) float64 {
	n := p.order.Waiting()
	slots := float64(max(1, v.Slots()))
	return max((float64(n)+p.load.come(n))/slots, p.idle*float64(v.Cluster().Live())/slots)
}

// waits returns what a second of a slot costs the jobs that wait: J/S. No attempt ends for less, so that one that was
// worth the price of an idle slot is not over as soon as a task waits. Nor does one end for the jobs that are still to
// come: what looks say of it differs, and it would be over at the first that finds it worth too little.
func (p *auto) waits(v *sched.View) float64 {
	return float64(p.order.Waiting()) / float64(max(1, v.Slots()))
}
