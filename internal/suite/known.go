package suite

import "slices"

// Known returns the outcomes of the cells in which all these policies are known, in the order of the cells. The first
// of the policies, as many as published says, compete to be best.
func Known(cells []Cell, known map[Cell]*Outcome, policies []string, published int) []*Outcome {
	var all []*Outcome
	for _, c := range cells {
		from := known[c]
		if from == nil {
			continue
		}
		out := &Outcome{Cell: c}
		for _, name := range policies {
			if r := from.Of(name); r != nil {
				out.Rows = append(out.Rows, *r)
			}
		}
		if len(out.Rows) == len(policies) {
			out.compare(published)
			all = append(all, out)
		}
	}
	return all
}

// Of returns what is known of a policy in an outcome, which may be nil; nil if there is nothing.
func (out *Outcome) Of(name string) *Row {
	if out == nil {
		return nil
	}
	i := slices.IndexFunc(out.Rows, func(r Row) bool { return r.Policy == name })
	if i < 0 {
		return nil
	}
	return &out.Rows[i]
}
