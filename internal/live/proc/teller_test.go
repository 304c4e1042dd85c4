package proc

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// Of what is told too often the last is told all the same, and nothing after the end.
func TestTeller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []float64
		var when []time.Duration
		began := time.Now()
		s := &teller{every: 200 * time.Millisecond, last: began, tell: func(x float64) { told, when = append(told, x), append(when, time.Since(began)) }}
		for _, x := range []float64{0.1, 0.2, 0.3} {
			s.say(x)
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(time.Second)
		s.say(0.4)
		time.Sleep(210 * time.Millisecond)
		s.say(0.5)
		s.say(0.6)
		s.hush()
		s.say(0.7)
		time.Sleep(time.Second)
		synctest.Wait()
		if want := []float64{0.3, 0.4, 0.5}; !slices.Equal(told, want) {
			t.Errorf("told %v at %v, want %v", told, when, want)
		}
		if len(when) > 0 && when[0] != s.every {
			t.Errorf("the last of three was told after %v, not %v", when[0], s.every)
		}
	})
}
