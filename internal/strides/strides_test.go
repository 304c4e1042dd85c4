package strides

import (
	"fmt"
	"strings"
	"testing"
)

// What can be gone on from is what leads back to the beginning of the task, by whatever attempts.
func TestLink(t *testing.T) {
	first := &Stride{Number: 0, Begin: 0, End: 10, Fraction: 0.1}
	second := &Stride{Before: first, Number: 0, Begin: 10, End: 20, Fraction: 0.2}
	heir := &Stride{Before: second, Number: 3, Begin: 20, End: 40, Fraction: 0.4, Sum: 7}
	other := &Stride{Number: 1, Begin: 0, End: 20, Fraction: 0.2}
	orphan := &Stride{Before: &Stride{Number: 5, End: 30}, Number: 5, Begin: 30, End: 35, Fraction: 0.35}
	names := []string{orphan.Name(), heir.Name(), "lost+found", second.Name(), other.Name(), first.Name()}
	var got []string
	for _, s := range Link(names) {
		var chain []string
		for _, x := range s.Chain() {
			chain = append(chain, fmt.Sprintf("%d:%d", x.Number, x.End))
		}
		got = append(got, strings.Join(chain, " "))
	}
	want := []string{"1:20", "0:10", "0:10 0:20", "0:10 0:20 3:40"}
	if strings.Join(got, ", ") != strings.Join(want, ", ") {
		t.Errorf("chains %q, want %q", got, want)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("0-10.0.0.3fd0000000000000.0000002a")
	f.Add("10-20.3.1.3fe0000000000000.deadbeef")
	f.Add("10-20.3.1.7ff8000000000000.00000000")
	f.Add("0-9223372036854775807.1.1.0000000000000001.ffffffff")
	f.Fuzz(func(t *testing.T, name string) {
		s, before, ok := Parse(name)
		if !ok {
			return
		}
		s.Before = &Stride{Number: before}
		again, number, ok := Parse(s.Name())
		if again.Before = s.Before; !ok || number != before || *again != *s {
			t.Fatalf("%q is %+v after %d, and %+v after %d, %v, once more", name, s, before, again, number, ok)
		}
	})
}
