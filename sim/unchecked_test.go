//go:build !race && !invariants

package sim

// Checked: see checked_test.go.
const Checked = false
