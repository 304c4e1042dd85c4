package overlap

// place numbers the heaps that a job can be in at once, and says where the job keeps its place in each.
type place uint8

const (
	slotMap   place = iota // jobs with map work
	slotReady              // jobs with shuffle work that is available
	slotOther
)

// heap is a binary heap of jobs, least key first, ties by the job's tie and index. It knows every job's place, so that
// a job can change its key and leave from the middle in O(log n).
type heap struct {
	entries []entry
	slot    place
}

// entry keeps the key beside the job: most comparisons then touch nothing else.
type entry struct {
	key float64
	job *present
}

func (a *entry) before(b *entry) bool {
	return a.key < b.key || a.key == b.key && tied(a.job, b.job)
}

// tied says whether a goes before b when their keys are equal. The index orders by arrival too: jobs arrive in order.
func tied(a, b *present) bool {
	return a.tie < b.tie || a.tie == b.tie && a.index < b.index
}

func (h *heap) len() int { return len(h.entries) }

func (h *heap) has(j *present) bool { return j.pos[h.slot&3] >= 0 }

// top returns the first job, nil when there is none.
func (h *heap) top() *present {
	if len(h.entries) == 0 {
		return nil
	}
	return h.entries[0].job
}

// first returns the first entry, if there is one.
func (h *heap) first() (*entry, bool) {
	if len(h.entries) == 0 {
		return nil, false
	}
	return &h.entries[0], true
}

func (h *heap) push(j *present, key float64) {
	h.entries = append(h.entries, entry{})
	h.up(len(h.entries)-1, entry{key, j})
}

// lower gives a job a key that is not above its old one.
func (h *heap) lower(j *present, key float64) { h.up(int(j.pos[h.slot&3]), entry{key, j}) }

func (h *heap) pop() { h.removeAt(0) }

func (h *heap) remove(j *present) { h.removeAt(int(j.pos[h.slot&3])) }

func (h *heap) removeAt(i int) {
	last := len(h.entries) - 1
	h.entries[i].job.pos[h.slot&3] = -1
	e := h.entries[last]
	h.entries = h.entries[:last]
	switch {
	case i == last:
	case i > 0 && e.before(&h.entries[uint(i-1)/2]):
		h.up(i, e)
	default:
		h.down(i, e)
	}
}

// up places e at i or above.
func (h *heap) up(i int, e entry) {
	s, slot := h.entries, h.slot&3
	for i > 0 {
		parent := int(uint(i-1) / 2)
		if !e.before(&s[parent]) {
			break
		}
		s[i] = s[parent]
		s[i].job.pos[slot] = int32(i)
		i = parent
	}
	s[i] = e
	e.job.pos[slot] = int32(i)
}

// down places e at i or below.
func (h *heap) down(i int, e entry) {
	s, slot := h.entries, h.slot&3
	for {
		child := 2*i + 1
		if child >= len(s) {
			break
		}
		if child+1 < len(s) && s[child+1].before(&s[child]) {
			child++
		}
		if !s[child].before(&e) {
			break
		}
		s[i] = s[child]
		s[i].job.pos[slot] = int32(i)
		i = child
	}
	s[i] = e
	e.job.pos[slot] = int32(i)
}
