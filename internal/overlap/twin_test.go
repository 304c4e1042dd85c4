package overlap

import (
	"cmp"
	"math"
	"slices"
)

// twin simulates by definition. At every event it looks at every job, sorts them, and gives out capacity along the order or by
// filling water; nothing is kept from one event to the next but what remains of each job.
type twin struct {
	policy         Discipline
	maps, shuffles []int // the orders to serve in instead, by index
	jobs           []*twinJob
	filling        *twinFill // under FillSRPT
	clock          float64
}

type twinJob struct {
	Demand
	index         int
	x, y          float64
	mapRate, take float64
	done          bool
	completion    float64
}

func (j *twinJob) backlog() float64 {
	if j.x == 0 {
		return j.y
	}
	return j.y - j.Shuffle*(j.x/j.Map)
}

func (j *twinJob) stock() bool { return j.backlog() > crumb*j.Shuffle }

// released is the rate at which map work sets shuffle work free.
func (j *twinJob) released() float64 {
	if j.mapRate == 0 || j.Map == 0 {
		return 0
	}
	return j.mapRate * (j.Shuffle / j.Map)
}

func runTwin(t *twin, jobs []Demand) []float64 {
	for i, j := range jobs {
		t.jobs = append(t.jobs, &twinJob{Demand: j, index: i, x: j.Map, y: j.Shuffle})
	}
	for {
		next := math.Inf(1)
		for _, j := range t.jobs {
			if j.Arrival > t.clock {
				next = min(next, j.Arrival)
			}
		}
		t.finish()
		present := t.present()
		if len(present) == 0 {
			if math.IsInf(next, 1) {
				break
			}
			t.clock = next
			continue
		}
		t.rates(present)
		t.step(present, next)
	}
	out := make([]float64, len(jobs))
	for i, j := range t.jobs {
		out[i] = j.completion
	}
	return out
}

func (t *twin) finish() {
	for _, j := range t.jobs {
		if !j.done && j.Arrival <= t.clock && j.x == 0 && j.y == 0 {
			j.done, j.completion = true, t.clock
		}
	}
}

func (t *twin) present() (present []*twinJob) {
	for _, j := range t.jobs {
		if !j.done && j.Arrival <= t.clock {
			present = append(present, j)
		}
	}
	return present
}

// step serves to the next event and snaps what is left of what ends there.
func (t *twin) step(present []*twinJob, arrival float64) {
	dt := arrival - t.clock
	for _, j := range present {
		if j.mapRate > 0 {
			dt = min(dt, j.x/j.mapRate)
		}
		dt = min(dt, t.filling.catches())
		if fall := j.take - j.released(); j.stock() && fall > 1e-12*j.take {
			dt = min(dt, j.backlog()/fall)
		}
	}
	for _, j := range present {
		lean := !j.stock() && j.take == j.released() && j.x > 0
		j.x -= j.mapRate * dt
		if j.x <= crumb*j.Map {
			j.x = 0
		}
		j.y -= j.take * dt
		if lean || j.x > 0 && !j.stock() && j.take > j.released() {
			j.y = 0
			if j.x > 0 {
				j.y = j.Shuffle * (j.x / j.Map)
			}
		}
		if j.y <= crumb*j.Shuffle {
			j.y = 0
		}
	}
	if dt == arrival-t.clock {
		t.clock = arrival
		return
	}
	t.clock += dt
}

func (t *twin) rates(present []*twinJob) {
	for _, j := range present {
		j.mapRate, j.take = 0, 0
	}
	if t.maps != nil {
		giveMap(ranked(present, t.maps), 1)
		giveShuffle(ranked(present, t.shuffles), 1)
		return
	}
	switch t.policy.Kind {
	case FCFS, MaxSRPT:
		sorted := t.sorted(present, t.policy.Kind)
		giveMap(sorted, 1)
		if t.policy.Literal {
			giveShuffle(sorted[:1], 1)
			return
		}
		giveShuffle(sorted, 1)
	case SplitSRPT:
		t.split(present)
	case KLPS, WPS:
		t.sharing(present)
	case FillSRPT:
		t.fill(present)
	}
}

func (t *twin) sorted(jobs []*twinJob, k Kind) []*twinJob {
	return slices.SortedFunc(slices.Values(jobs), func(a, b *twinJob) int {
		if k == MaxSRPT {
			return cmp.Or(cmp.Compare(max(a.x, a.y), max(b.x, b.y)), cmp.Compare(a.index, b.index))
		}
		return cmp.Compare(a.index, b.index)
	})
}

func ranked(jobs []*twinJob, order []int) []*twinJob {
	return slices.SortedFunc(slices.Values(jobs), func(a, b *twinJob) int {
		return cmp.Compare(slices.Index(order, a.index), slices.Index(order, b.index))
	})
}

// giveMap gives all to the first job that has map work, and says how much was given.
func giveMap(jobs []*twinJob, rate float64) float64 {
	for _, j := range jobs {
		if j.x > 0 {
			j.mapRate += rate
			return rate
		}
	}
	return 0
}

// giveShuffle walks the jobs and says how much was given.
func giveShuffle(jobs []*twinJob, rate float64) float64 {
	left := rate
	for _, j := range jobs {
		want := j.released()
		if j.stock() {
			want = math.Inf(1)
		}
		j.take = min(left, want)
		left -= j.take
	}
	return rate - left
}

func (t *twin) split(present []*twinJob) {
	beta := math.Inf(1)
	var s1, s2 []*twinJob
	for _, j := range present {
		if j.Map > 0 && j.Shuffle > 0 {
			beta = min(beta, max(j.Map/j.Shuffle, j.Shuffle/j.Map))
		}
		if j.Map >= j.Shuffle {
			s1 = append(s1, j)
		} else {
			s2 = append(s2, j)
		}
	}
	mu1 := 1 / (1 + beta)
	mu2 := 1 - mu1
	slices.SortFunc(s1, func(a, b *twinJob) int {
		return cmp.Or(cmp.Compare(a.x, b.x), cmp.Compare(a.y, b.y), cmp.Compare(a.index, b.index))
	})
	slices.SortFunc(s2, func(a, b *twinJob) int {
		return cmp.Or(cmp.Compare(a.y, b.y), cmp.Compare(a.index, b.index))
	})
	used1, used2 := giveMap(s1, mu2), giveMap(s2, mu1)
	if !t.policy.Literal {
		if used1 == 0 {
			giveMap(s2, mu2)
		}
		if used2 == 0 {
			giveMap(s1, mu1)
		}
	}
	used1, used2 = giveShuffle(s1, mu1), giveShuffle(s2, mu2)
	if !t.policy.Literal {
		giveShuffle(s1, mu1+mu2-used2)
		giveShuffle(s2, mu2+mu1-used1)
	}
}

func (t *twin) sharing(present []*twinJob) {
	weight := func(j *twinJob) float64 {
		if t.policy.Kind == WPS && j.Weight > 0 {
			return j.Weight
		}
		return 1
	}
	var mapped []*twinJob
	total := 0.0
	for _, j := range t.sorted(present, FCFS) {
		if j.x > 0 && (t.policy.Kind == WPS || len(mapped) < t.policy.K) {
			mapped = append(mapped, j)
			total += weight(j)
		}
	}
	for _, j := range mapped {
		j.mapRate = weight(j) / total
	}
	// Fill water: the least want per weight first.
	want := func(j *twinJob) float64 {
		if j.stock() {
			return math.Inf(1)
		}
		return j.released() / weight(j)
	}
	byWant := slices.SortedStableFunc(slices.Values(present), func(a, b *twinJob) int { return cmp.Compare(want(a), want(b)) })
	left, weights := 1.0, 0.0
	for _, j := range byWant {
		weights += weight(j)
	}
	for _, j := range byWant {
		w := weight(j)
		j.take = w * left / weights
		if !j.stock() && j.released() <= j.take*(1+slack) {
			j.take = j.released()
		}
		left, weights = max(0, left-j.take), weights-w
	}
}
