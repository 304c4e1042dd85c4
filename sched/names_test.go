package sched

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"strings"
	"testing"
)

// Every constant of a kind that is printed has a name of its own.
func TestNames(t *testing.T) {
	for _, c := range []struct {
		file, typ string
		name      func(i int) string
		values    []int
	}{
		{"decision.go", "DecisionKind", func(i int) string { return DecisionKind(i).String() }, span(Launch, Pace)},
		{"decision.go", "Reason", func(i int) string { return Reason(i).String() }, span(Unexplained, Waited)},
		{"event.go", "EventKind", func(i int) string { return EventKind(i).String() },
			append(span(MachineJoined, MachineStopped), span(AttemptLost, AttemptTaken)...)},
	} {
		t.Run(c.typ, func(t *testing.T) {
			constants := constantsOf(t, c.file, c.typ)
			if len(constants) != len(c.values) {
				t.Fatalf("%s declares %d constants, the test knows %d: %v", c.file, len(constants), len(c.values), constants)
			}
			for i, v := range c.values {
				want := hyphened(constants[i])
				if want == "unexplained" {
					want = "" // a reason that nobody gave is not printed
				}
				if got := c.name(v); got != want {
					t.Errorf("%s prints as %q, want %q", constants[i], got, want)
				}
			}
			if got := c.name(200); !strings.HasSuffix(got, "-200") {
				t.Errorf("an unknown value prints as %q", got)
			}
		})
	}
}

func span[T ~uint8](first, last T) (all []int) {
	for v := first; v <= last; v++ {
		all = append(all, int(v))
	}
	return all
}

// hyphened turns MachineJoined into machine-joined.
func hyphened(s string) string {
	var b strings.Builder
	for i, r := range s {
		if i > 0 && r >= 'A' && r <= 'Z' {
			b.WriteByte('-')
		}
		b.WriteRune(r)
	}
	return strings.ToLower(b.String())
}

// constantsOf lists the constants of a type in order of declaration; a group has the type of its first line.
func constantsOf(t *testing.T, file, typ string) (names []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		if id, ok := g.Specs[0].(*ast.ValueSpec).Type.(*ast.Ident); !ok || id.Name != typ {
			continue
		}
		for _, s := range g.Specs {
			for _, n := range s.(*ast.ValueSpec).Names {
				names = append(names, n.Name)
			}
		}
	}
	return names
}

func TestTime(t *testing.T) {
	for _, c := range []struct {
		seconds float64
		want    Time
	}{
		{0, 0}, {1.5, 1_500_000_000}, {-2, -2 * Second}, {0.4e-9, 0}, {0.6e-9, 1}, {-0.6e-9, -1},
		{1e10, Never}, {math.Inf(1), Never}, {math.Inf(-1), math.MinInt64}, {-1e10, math.MinInt64}, {math.NaN(), 0},
	} {
		if got := FromSeconds(c.seconds); got != c.want {
			t.Errorf("FromSeconds(%v) = %d, want %d", c.seconds, got, c.want)
		}
	}
	if got := fmt.Sprint(1500*Millisecond, " ", Never); got != "1.5s never" {
		t.Errorf("times print as %q", got)
	}
	if s := (250 * Millisecond).Seconds(); s != 0.25 {
		t.Errorf("250ms are %v s", s)
	}
}
