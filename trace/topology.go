package trace

// topological returns an order of n things in which each comes behind what it needs, otherwise as given: needs(i) lists
// what thing i needs. If there is a circle, order is nil and circle is a thing on it.
func topological(n int, needs func(i int) []uint32) (order []uint32, circle int) {
	const (
		waiting = iota
		open
		placed
	)
	state := make([]uint8, n)
	order = make([]uint32, 0, n)
	var visit func(i int) bool
	visit = func(i int) bool {
		switch state[i] {
		case placed:
			return true
		case open:
			circle = i
			return false
		}
		state[i] = open
		for _, k := range needs(i) {
			if !visit(int(k)) {
				return false
			}
		}
		state[i] = placed
		order = append(order, uint32(i))
		return true
	}
	for i := range n {
		if !visit(i) {
			return nil, circle
		}
	}
	return order, -1
}
