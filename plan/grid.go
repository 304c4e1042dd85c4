package plan

// Grid is the exact evaluation of every single-fork policy of a job: all s from 0 to n, all r up to a most, both modes.
type Grid struct {
	span      *span
	maxClones int
	all       *sums
}

// blocks is into how many parts the forks of a grid are cut, whatever the number of cores: the sums are then added in the
// same order everywhere and come out the same to the last bit.
const blocks = 64

// Block is a part of a grid, made by [Sweep.Block].
type Block struct{ sums *sums }

// Sweep is a grid about to be evaluated. Its blocks are independent: evaluate them in any order and on as many
// goroutines as there are cores, and hand all of them to Grid.
type Sweep struct {
	span      *span
	maxClones int
}

// Sweep prepares the grid of all policies with at most maxClones clones.
func (e *Exact) Sweep(maxClones int) *Sweep {
	return &Sweep{e.newRange(1, e.tasks, 0, maxClones, true, true), maxClones}
}

// Blocks returns the number of blocks.
func (s *Sweep) Blocks() int { return blocks }

// Block evaluates the i-th block, 0 <= i < Blocks().
func (s *Sweep) Block(i int) Block {
	// Every blocks-th fork, so that blocks cost the same: early forks have longer residuals.
	return Block{s.span.run(i, s.span.e.forks.len(), blocks)}
}

// Grid adds the blocks, which must be all of them and in order.
func (s *Sweep) Grid(parts []Block) *Grid {
	if len(parts) != blocks {
		panic("plan: a grid wants all its blocks")
	}
	all := s.span.run(0, 0, 1)
	for _, part := range parts {
		all.plus(part.sums)
	}
	return &Grid{s.span, s.maxClones, all}
}

// Grid evaluates every policy with at most maxClones clones.
func (e *Exact) Grid(maxClones int) *Grid {
	s := e.Sweep(maxClones)
	parts := make([]Block, s.Blocks())
	for i := range parts {
		parts[i] = s.Block(i)
	}
	return s.Grid(parts)
}

// Evaluate returns a policy of the grid; an error if it is none.
func (g *Grid) Evaluate(p Policy) (Outcome, error) {
	e := g.span.e
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
