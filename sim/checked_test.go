//go:build race || invariants

package sim

// Checked: in such builds the core checks all its tables after every step, so that a run costs the square of its length. Long ones prove nothing more there.
const Checked = true
