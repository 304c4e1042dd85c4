package sched

// site is the row of a site. Its machines are those of its runs.
type site struct {
	slots, used [Classes]int // of its machines that are up
	first, last int32        // indexes of View.runs, -1 if it has no machine
}

// run is machines of one site with neighbouring ids. Who adds machines site by site makes one run per site, so that the
// one set of free machines answers for each site too, and launching and ending attempts costs no more than where there
// are no sites.
type run struct {
	first, end MachineID // machines first .. end-1
	next       int32     // of the same site, -1 at the end
}

// growSites makes room for sites 0..n-1.
func (v *View) growSites(n int) {
	for len(v.sites) < n {
		v.sites = append(v.sites, site{first: -1, last: -1})
	}
}

// settleIn puts a new machine into the runs of its site.
func (v *View) settleIn(m MachineID, s SiteID) {
	v.growSites(int(s) + 1)
	at := &v.sites[s]
	if at.last >= 0 && v.runs[at.last].end == m {
		v.runs[at.last].end++
		return
	}
	i := int32(len(v.runs))
	v.runs = append(v.runs, run{first: m, end: m + 1, next: -1})
	if at.last >= 0 {
		v.runs[at.last].next = i
	} else {
		at.first = i
	}
	at.last = i
}

// Sites is a View for questions about where machines and data are.
type Sites View

// Sites groups the view's questions about where machines and data are.
func (v *View) Sites() *Sites { return (*Sites)(v) }

// Len returns how many sites there are; ids run from 0. They are those of the network if the core is connected, else
// those that machines name.
func (at *Sites) Len() int { return len(at.sites) }

// Network returns the sites and links of the cluster, nil if the core is not connected. It is shared and not to be
// changed.
func (at *Sites) Network() *Network { return at.network }

// Slots returns the slots of the machines at a site that are up, FreeSlots those that nothing runs in.
func (at *Sites) Slots(s SiteID) int     { return (*View)(at).sum(&at.sites[s].slots) }
func (at *Sites) FreeSlots(s SiteID) int { return at.Slots(s) - (*View)(at).sum(&at.sites[s].used) }

// FreeMachine returns the first machine of a site with an id of at least from that has a free slot. It is as fast as
// View.FreeMachine where the machines of the site were added one after the other, and takes a step for each
// interruption otherwise. Ask FreeSlots first.
func (at *Sites) FreeMachine(s SiteID, from MachineID) (MachineID, bool) {
	v := (*View)(at)
	for i := v.sites[s].first; i >= 0; i = v.runs[i].next {
		r := &v.runs[i]
		if from >= r.end {
			continue
		}
		n := v.next(&v.free, int(max(from, r.first)))
		if n < 0 {
			return 0, false
		}
		if MachineID(n) < r.end {
			return MachineID(n), true
		}
	}
	return 0, false
}

// Result returns the site where a task's result is: that of the attempt that won. ok is false unless the task is
// done.
func (at *Sites) Result(t TaskID) (s SiteID, ok bool) {
	task := at.tasks.look(t)
	return SiteID(task.site), task.State == TaskDone
}
