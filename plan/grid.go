package plan

// Grid is the exact evaluation of every single-fork policy of a job: all s from 0 to n, all r up to a most, both modes.
type Grid struct {
	span      *span
	maxClones int
	all       *sums
}

// blocks is into how many parts the forks of a grid are cut, whatever the number of cores: the sums are then added in
// the same order everywhere and come out the same to the last bit.
const blocks = 64

// Block is a part of a grid, made by [Sweep.Block].
type Block struct {
	number int
	sums   *sums
}

// Sweep is a grid about to be evaluated. Its blocks are independent: evaluate them on as many goroutines as there are
// cores, and add them in order, from one.
type Sweep struct {
	span      *span
	maxClones int
	all       *sums
	added     int
}

// Sweep prepares the grid of all policies with at most maxClones clones.
func (e *Exact) Sweep(maxClones int) *Sweep {
	r := e.newSpan(1, e.tasks, 0, maxClones, true, true)
	return &Sweep{span: r, maxClones: maxClones, all: r.run(0, 0, 1)}
}

// Blocks returns the number of blocks.
func (s *Sweep) Blocks() int { return blocks }

// Block evaluates the i-th block, 0 <= i < Blocks().
func (s *Sweep) Block(i int) Block {
	// Every blocks-th fork, so that blocks cost the same: early forks have longer residuals.
	return Block{i, s.span.run(i, s.span.e.forks.len(), blocks)}
}

// Add adds a block. It panics unless that is the next.
func (s *Sweep) Add(b Block) {
	if b.number != s.added {
		panic("plan: blocks of a grid are added in order")
	}
	s.all.plus(b.sums)
	s.added++
}

// Grid returns the grid. It panics unless all blocks have been added.
func (s *Sweep) Grid() *Grid {
	if s.added != blocks {
		panic("plan: a grid wants all its blocks")
	}
	return &Grid{s.span, s.maxClones, s.all}
}

// Grid evaluates every policy with at most maxClones clones.
func (e *Exact) Grid(maxClones int) *Grid {
	s := e.Sweep(maxClones)
	for i := range blocks {
		s.Add(s.Block(i))
	}
	return s.Grid()
}

// Evaluate returns a policy of the grid, and evaluates other rules as [Exact] does.
func (g *Grid) Evaluate(r Rule) (Outcome, error) {
	e := g.span.e
	p, ok := r.(Policy)
	if !ok {
		return e.Evaluate(r)
	}
	if err := p.Validate(e.tasks); err != nil {
		return Outcome{}, err
	}
	if p.Baseline() {
		return e.baseline(), nil
	}
	if p.Clones > g.maxClones {
		return e.Evaluate(p)
	}
	return g.span.outcome(g.all, p), nil
}

// plus adds other sums.
func (x *sums) plus(other *sums) {
	for i, v := range other.norm {
		x.norm[i] += v
	}
	for i, v := range other.keep {
		x.keep[i].largest += v.largest
		x.keep[i].sum += v.sum
	}
	for i, v := range other.kill {
		x.kill[i].largest += v.largest
		x.kill[i].sum += v.sum
	}
}
