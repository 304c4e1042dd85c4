package proc

import (
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/sched"
)

// Attempts that need memory begin only while the needs of all that run, of all jobs, fit into what the host may use.
// The others wait, the one that was launched first in front: if smaller ones could pass it, a large one might wait for
// ever. An attempt that needs nothing passes all. Waiting is no straggling: the attempt has its slot and no age, until
// the host tells that it has begun (docs/decisions/0020-waiting-is-not-straggling.md).

// ledger sets memory aside. It is the keeper's.
type ledger struct {
	total int64 // bytes; 0 sets nothing aside
	taken int64 // may be more than total: of one attempt that runs beside no other
	queue []*process
}

// need returns the bytes that are set aside for an attempt.
func (e *Executor) need(p *process) int64 {
	if e.host.ledger.total == 0 {
		return 0
	}
	return e.limits.of[p.attempt.Stage].Memory
}

// enter begins an attempt that has been launched, or has it wait.
func (e *Executor) enter(p *process) {
	if e.need(p) == 0 {
		e.begin(p)
		return
	}
	e.host.ledger.queue = append(e.host.ledger.queue, p)
	e.host.ledger.serve()
}

// serve begins what fits, and lets go of what was killed while it waited.
func (l *ledger) serve() {
	var rest []*process
	for i, p := range l.queue {
		need := p.of.need(p)
		switch {
		case p.killed():
			p.of.begin(p) // which finds that out
		case len(rest) > 0 || l.taken > 0 && l.taken+need > l.total:
			rest = append(rest, l.queue[i])
		default:
			p.reserved = need
			l.taken += need
			if p.of.begin(p) {
				p.of.report(live.Report{At: p.startedAt, Attempt: p.attempt.ID, Kind: sched.AttemptBegan})
			} else {
				l.taken -= need
			}
		}
	}
	l.queue = rest
}

// free gives back what was set aside for an attempt that has ended.
func (l *ledger) free(p *process) {
	if p.reserved > 0 {
		l.taken -= p.reserved
		l.serve()
	}
}
