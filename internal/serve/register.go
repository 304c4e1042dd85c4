package serve

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// register knows every job by its id, its name and the key of its submission: those that are under way, of which the
// engine knows how they stand, and those that are over.
type register struct {
	mu      sync.Mutex
	live    map[int64]*entry
	over    []record         // in the order of their ends
	place   map[int64]int    // in over
	names   map[string]int64 // the latest job of each
	keys    map[string]int64
	making  map[string]chan struct{} // keys of submissions under way; closed when they have an answer
	coming  map[string]bool          // names of the runs of jobs that are ready and not yet entered
	readers map[int64][]int64        // jobs that wait for a job
	archive *archive
	keep    int
	keepFor time.Duration
}

// entry is a job that is not over.
type entry struct {
	id    int64
	job   *trace.JournalJob
	ended chan struct{} // closed when it is in the archive
	// Of a job that is over for the engine:
	outcome  *Outcome      // nil until it is known; for who finishes it
	unwanted chan struct{} // closed when it was cancelled nevertheless; r.mu is held
	why      string        // it is not over although nothing runs; r.mu is held
}

// cancelled tells whether somebody has cancelled the job although nothing of it runs any more.
func (e *entry) cancelled() bool {
	select {
	case <-e.unwanted:
		return true
	default:
		return false
	}
}

func newRegister(a *archive, over []record, keep int, keepFor time.Duration) *register {
	r := &register{
		live: map[int64]*entry{}, names: map[string]int64{}, keys: map[string]int64{}, making: map[string]chan struct{}{}, coming: map[string]bool{},
		readers: map[int64][]int64{}, archive: a, keep: keep, keepFor: keepFor,
	}
	r.setOver(over)
	return r
}

// setOver takes over a list of jobs that are over, and the names and keys of it.
func (r *register) setOver(over []record) {
	r.over, r.place = over, make(map[int64]int, len(over))
	clear(r.names)
	clear(r.keys)
	for i := range over {
		r.place[over[i].ID] = i
		r.call(over[i].ID, over[i].Name, over[i].Key)
	}
	for _, e := range r.live {
		r.call(e.id, e.job.Name, e.job.Key)
	}
}

// call gives a job its name and key.
func (r *register) call(id int64, name, key string) {
	if last, ok := r.names[name]; !ok || last < id {
		r.names[name] = id
	}
	if key != "" {
		r.keys[key] = id
	}
}

// begin claims the key of a submission. If there was one with the same key, its job is returned; one that is under way
// is waited for.
func (r *register) begin(key string) (id int64, known bool) {
	for key != "" {
		r.mu.Lock()
		under, ok := r.making[key]
		if !ok {
			id, known = r.keys[key]
			if !known {
				r.making[key] = make(chan struct{})
			}
			r.mu.Unlock()
			return id, known
		}
		r.mu.Unlock()
		<-under
	}
	return 0, false
}

// done gives back the key of a submission.
func (r *register) done(key string) {
	if key == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.making[key])
	delete(r.making, key)
}

// expect takes notice of a job that is ready, or is not any more: its output folder is not another's meanwhile.
func (r *register) expect(run string, yes bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if delete(r.coming, run); yes {
		r.coming[run] = true
	}
}

// add enters a job that is not over, once, and returns its entry; nil if it is over by now.
func (r *register) add(id int64, job *trace.JournalJob) *entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.coming, job.Run)
	if _, over := r.place[id]; over || r.live[id] != nil {
		return r.live[id]
	}
	e := &entry{id: id, job: job, ended: make(chan struct{}), unwanted: make(chan struct{})}
	r.live[id] = e
	r.call(id, job.Name, job.Key)
	for _, other := range job.After {
		r.readers[int64(other)] = append(r.readers[int64(other)], id)
	}
	return e
}

// end moves a job to those that are over, once that is on the disk, and returns the jobs that wait for it.
func (r *register) end(job *Job, result json.RawMessage) (readers []int64, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.live[job.ID]
	rec := record{*job, e.job.Key, result, shapeOf(e.job)}
	rec.Schema = ""
	if err := r.archive.add(&rec); err != nil {
		return nil, err
	}
	r.place[rec.ID] = len(r.over)
	r.over = append(r.over, rec)
	delete(r.live, rec.ID)
	for _, other := range e.job.After {
		if r.readers[int64(other)] = slices.DeleteFunc(r.readers[int64(other)], func(id int64) bool { return id == rec.ID }); len(r.readers[int64(other)]) == 0 {
			delete(r.readers, int64(other))
		}
	}
	close(e.ended)
	_ = r.prune(time.Now()) // the file stays longer than it should, until the next end
	return slices.Clone(r.readers[rec.ID]), nil
}

// prune forgets jobs that ended long ago, a good part of them at once.
func (r *register) prune(now time.Time) error {
	if len(r.over) < r.keep+r.keep/4+16 && r.archive.lines < 2*len(r.over)+16 {
		if len(r.over) == 0 || r.over[0].Ended == nil || now.Sub(*r.over[0].Ended) < r.keepFor+r.keepFor/16 {
			return nil
		}
	}
	left := kept(r.over, r.keep, now.Add(-r.keepFor), func(id int64) bool { return len(r.readers[id]) > 0 })
	if len(left) == len(r.over) && r.archive.lines == len(left) {
		return nil // others wait for them
	}
	if err := r.archive.rewrite(left); err != nil {
		return err
	}
	r.setOver(left)
	return nil
}

// runName is the length of the name of a run.
const runName = 16

// find returns the job that a name or an id stands for: its record if it is over, else its entry.
func (r *register) find(ref string) (*entry, *record, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	id, ok := r.names[ref]
	if n, err := strconv.ParseInt(ref, 10, 64); err == nil && len(ref) < runName {
		id, ok = n, true
	}
	for _, e := range r.live { // by the name of its run, which its folder has
		if !ok && len(ref) == runName && e.job.Run == ref {
			return e, nil, nil
		}
	}
	if ok {
		if e := r.live[id]; e != nil {
			return e, nil, nil
		}
		if i, there := r.place[id]; there {
			rec := r.over[i]
			return nil, &rec, nil
		}
	}
	return nil, nil, problem(http.StatusNotFound, "there is no job %.200q; 'tailcut jobs' lists those that there are", ref)
}

// blame says of a job that is not over why it is not, although nothing of it runs.
func (r *register) blame(e *entry, why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e.why = why
}

// giveUp cancels a job that is over for the engine, and whose results are not in their place.
func (r *register) giveUp(e *entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !e.cancelled() {
		close(e.unwanted)
		e.why = "is being cancelled"
	}
}

func (r *register) whyOf(e *entry) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return e.why
}

// standing tells how the jobs that a job waits for stand: whether all have succeeded, or else why they never will.
func (r *register) standing(e *entry) (ready bool, never string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	ready = true
	for _, other := range e.job.After {
		if r.live[int64(other)] != nil {
			ready = false
			continue
		}
		i, ok := r.place[int64(other)]
		switch {
		case !ok:
			return false, fmt.Sprintf("job %d, which it waits for, is not known any more", other)
		case r.over[i].State != Succeeded:
			return false, fmt.Sprintf("job %d (%s), which it waits for, has %s", other, r.over[i].Name, inWords(r.over[i].State))
		}
	}
	return ready, ""
}

// inWords is what a job in a state has done.
func inWords(s State) string {
	if s == Cancelled {
		return "been cancelled"
	}
	return string(s)
}

// ids returns the ids of all jobs, or of those of a name, the latest first.
func (r *register) ids() (all []int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all = append(slices.Collect(maps.Keys(r.live)), slices.Collect(maps.Keys(r.place))...)
	slices.SortFunc(all, func(a, b int64) int { return cmp.Compare(b, a) })
	return all
}

// get returns a job's record, or its entry if it is not over; neither if it is not known.
func (r *register) get(id int64) (*entry, *record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i, ok := r.place[id]; ok {
		rec := r.over[i]
		return nil, &rec
	}
	return r.live[id], nil
}

// submission is a job as it was submitted.
type submission struct {
	id   sched.JobID
	name string
	at   time.Time
	*shape
}

// latest returns the last submissions of so many before an id, in their order, as far as they are still known.
func (r *register) latest(n int, before sched.JobID) (all []submission) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := max(0, int64(before)-int64(n)); id < int64(before); id++ {
		if e := r.live[id]; e != nil {
			all = append(all, submission{sched.JobID(id), e.job.Name, e.job.Submitted, shapeOf(e.job)})
		} else if i, over := r.place[id]; over && r.over[i].Shape != nil {
			all = append(all, submission{sched.JobID(id), r.over[i].Name, r.over[i].Submitted, r.over[i].Shape})
		}
	}
	return all
}

// alive tells whether the job of a run is coming, or is not over.
func (r *register) alive(run string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.coming[run] {
		return true
	}
	for _, e := range r.live {
		if e.job.Run == run {
			return true
		}
	}
	return false
}

// entries returns the jobs that are not over, by id.
func (r *register) entries() []*entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.SortedFunc(maps.Values(r.live), func(a, b *entry) int { return cmp.Compare(a.id, b.id) })
}

// counts returns how many jobs ended in each state, of those that are still known.
func (r *register) counts() map[State]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := map[State]int{}
	for i := range r.over {
		all[r.over[i].State]++
	}
	return all
}
