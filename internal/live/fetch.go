package live

import (
	"cmp"
	"slices"
	"time"

	"github.com/tailcut/tailcut/sched"
)

// Between sites that the network of a run tells of, data takes time: an attempt that reads what is at other sites
// begins when all of it has come, as long after its launch as the links say, each source over its own link and all at
// once. The executor knows nothing of it. That the data is really at hand, because all sites are one machine, is why
// this is called emulated; what a policy sees is the same.

// fetches are what attempts wait for.
type fetches struct {
	parcels []parcel // by due
	coming  map[sched.AttemptID]*arrival
	ready   []sched.AttemptID // whose last parcel has come, to be started once that is in the journal
	timer   *time.Timer       // fires when the first parcel is due
	sources []sched.Source
}

// parcel is what an attempt fetches from one site.
type parcel struct {
	due, sent sched.Time
	attempt   sched.AttemptID
	source    sched.Source
}

// arrival is an attempt that waits for parcels.
type arrival struct {
	Attempt
	job  *Job
	left int
}

func newFetches() fetches {
	f := fetches{coming: map[sched.AttemptID]*arrival{}, timer: time.NewTimer(time.Hour)}
	f.timer.Stop()
	return f
}

// launch starts an attempt, or has it wait for what it reads.
func (l *loop) launch(j *Job, a Attempt, t sched.TaskID, at sched.Time) {
	v, f := l.core.View(), &l.fetches
	if v.Sites().Network() == nil {
		l.begin(j, a)
		return
	}
	to := v.Machine(a.Machine).Site
	f.sources = v.Sites().AppendSources(f.sources[:0], t)
	x := &arrival{Attempt: a, job: j}
	for _, s := range f.sources {
		if s.Site == to {
			continue
		}
		p := parcel{due: at + min(v.Sites().Network().Fetch(s.Site, to, s.Bytes), sched.Never-at), sent: at, attempt: a.ID, source: s}
		i, _ := slices.BinarySearchFunc(f.parcels, p, func(q, p parcel) int {
			return cmp.Or(cmp.Compare(q.due, p.due), cmp.Compare(q.attempt, p.attempt), cmp.Compare(q.source.Site, p.source.Site))
		})
		f.parcels = slices.Insert(f.parcels, i, p)
		x.left++
	}
	if x.left == 0 {
		l.begin(j, a)
		return
	}
	f.coming[a.ID] = x
}

// kill ends an attempt, whether it waits or runs.
func (l *loop) kill(j *Job, id sched.AttemptID) {
	f := &l.fetches
	if f.coming[id] == nil {
		switch { // else it never began
		case j.exec != nil:
			j.exec.Kill(id)
		case j.deeds != nil:
			j.deeds.kill(id)
		}
		return
	}
	delete(f.coming, id)
	f.parcels = slices.DeleteFunc(f.parcels, func(p parcel) bool { return p.attempt == id })
}

// deliver makes facts of the parcels that are due.
func (l *loop) deliver(now sched.Time) {
	f := &l.fetches
	n := 0
	for ; n < len(f.parcels) && f.parcels[n].due <= now; n++ {
		p := &f.parcels[n]
		x := f.coming[p.attempt]
		l.batch.Facts = append(l.batch.Facts, sched.Event{
			At: now, Kind: sched.DataFetched, Attempt: p.attempt, Machine: x.Machine, Site: p.source.Site, Bytes: p.source.Bytes, Span: now - p.sent,
		})
		if x.left--; x.left == 0 {
			f.ready = append(f.ready, p.attempt)
		}
	}
	f.parcels = slices.Delete(f.parcels, 0, n)
}

// startReady starts the attempts that have all they read and were not killed meanwhile, and sets the timer for those
// that wait.
func (l *loop) startReady() {
	f := &l.fetches
	for _, id := range f.ready {
		if x := f.coming[id]; x != nil {
			delete(f.coming, id)
			l.begin(x.job, x.Attempt)
		}
	}
	f.ready = f.ready[:0]
	if len(f.parcels) > 0 {
		f.timer.Reset(time.Duration(f.parcels[0].due) - time.Since(l.start))
	}
}

// tally adds up what has come to each site.
func (h *history) tally(v *sched.View, facts []sched.Event) {
	for i := range facts {
		if f := &facts[i]; f.Kind == sched.DataFetched {
			to := int(v.Machine(f.Machine).Site)
			for len(h.fetched) <= to {
				h.fetched = append(h.fetched, fetched{})
			}
			h.fetched[to].bytes += f.Bytes
			if n := v.Sites().Network(); n != nil {
				h.fetched[to].paid += n.Toll(f.Site, sched.SiteID(to), f.Bytes)
			}
		}
	}
}
