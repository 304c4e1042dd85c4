package proc

import (
	"slices"
	"testing"
)

func TestEnvironment(t *testing.T) {
	e := newEnvironment([]string{"A=1", "B=2", "A=3", "odd", "=C:=4"})
	if want := []string{"A=3", "B=2", "odd", "=C:=4"}; !slices.Equal(e.vars, want) {
		t.Errorf("%q, want %q", e.vars, want)
	}
	for _, c := range []struct{ more, want []string }{
		{nil, []string{"A=3", "B=2", "odd", "=C:=4"}},
		{[]string{"B=5", "D=6", "D=7", "B=8"}, []string{"A=3", "B=8", "odd", "=C:=4", "D=7"}},
		{[]string{"AB=1"}, []string{"A=3", "B=2", "odd", "=C:=4", "AB=1"}},
	} {
		if got := e.with(c.more); !slices.Equal(got, c.want) {
			t.Errorf("with %q: %q, want %q", c.more, got, c.want)
		}
	}
	if want := []string{"A=3", "B=2", "odd", "=C:=4"}; !slices.Equal(e.vars, want) {
		t.Errorf("afterwards %q, want %q", e.vars, want)
	}
}
