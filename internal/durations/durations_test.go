package durations

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// Whatever the text, what is read can be planned with, and an error is one line.
func FuzzReadDurations(f *testing.F) {
	for _, seed := range []string{"1\n2\n", "# c\n\n 3 # d\n", "x\n", "a,b\n1,2\n", "\"1\n", "1e999", "-1", "NaN", "1,2,3\n4\n", "\x00", "0x1p-3", "0 1 1 1\n1 1 2 2\n"} {
		f.Add(seed, "", "")
		f.Add(seed, "2", "1")
		f.Add(seed, "b", "")
	}
	f.Fuzz(func(t *testing.T, text, column, job string) {
		log := Log{Path: "-", Stdin: strings.NewReader(text), Column: column, Job: job}
		s, err := log.Sample()
		if err != nil {
			if strings.ContainsRune(err.Error(), '\n') && !strings.ContainsAny(column, "\n\r") {
				t.Errorf("more than a line: %q", err)
			}
			return
		}
		if l := s.Law; !(l.Quantile(0) >= 0) || math.IsInf(l.Quantile(1), 1) {
			t.Errorf("%v: no law of durations", l)
		}
	})
}

// Numbers are planned with as they are written, also where they are finer than a nanosecond or longer than a life.
func TestDurationsKeepTheirDigits(t *testing.T) {
	text := "0.0012345678912345\n1e300\n5e-324\n"
	for _, column := range []string{"", "1"} {
		log := Log{Path: "-", Stdin: strings.NewReader(text), Column: column}
		s, err := log.Sample()
		if err != nil || !slices.Equal(s.Ended, []float64{0.0012345678912345, 1e300, 5e-324}) {
			t.Error(s, err)
		}
	}
}

// Durations 1, 2 and 4, and attempts cut off at 2 and 5. Of the five, 1 ended: S = 4/5. Of the four left, 2 ended: 3/5. Cut off at 2 counts as longer, so
// of two left 4 ended: 3/10, which nobody saw end. One lasted 1 beyond 4, so these are taken to last 1 beyond 5 on average.
func TestCensored(t *testing.T) {
	s, err := New([]float64{4, 1, 2}, []float64{5, 2})
	if err != nil {
		t.Fatal(err)
	}
	for x, want := range map[float64]float64{0.5: 1, 1: 0.8, 3: 0.6, 4: 0.3, 5: 0.3, 6: 0.3 / math.E} {
		if got := s.Law.Survival(x); math.Abs(got-want) > 0.3/32+1e-3 { // the tail has 16 steps
			t.Errorf("S(%v) = %v, expected %v", x, got, want)
		}
	}
	if cut := s.Beyond; cut == nil || cut.Last != 5 || math.Abs(cut.Share-0.3) > 1e-9 || cut.Mean != 6 {
		t.Errorf("beyond the longest: %+v", cut)
	}
}

func TestNoLaw(t *testing.T) {
	for want, c := range map[string][2][]float64{
		"negative": {{1, -2}, nil}, "finite": {{1, math.Inf(1)}, nil}, "no": {nil, {3}},
	} {
		if s, err := New(c[0], c[1]); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %+v, %v; expected an error with %q", c, s, err, want)
		}
	}
}

// A stage is chosen by the flags that tell it from others, and the user is told what became of attempts that did not end.
func TestChoice(t *testing.T) {
	jobs := "0 2 1 1 1\n1 3 2 1 1 5\n"
	for want, l := range map[string]Log{
		"has 2 jobs; choose one with --job": {},
		`no job "7" in it`:                  {Job: "7"},
		`no stage "x" of job`:               {Job: "1", Stage: "x"},
	} {
		l.Path, l.Stdin, l.Title = "-", strings.NewReader(jobs), "jobs"
		if _, err := l.Sample(); err == nil || !strings.HasPrefix(err.Error(), "jobs: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, expected %q", l, err, want)
		}
	}
	var told []string
	l := Log{Path: "-", Tell: func(line string) { told = append(told, line) }, Stdin: strings.NewReader(
		`{"schema":"tailcut.history/v1","job":"report","runs":[{"stages":[{"name":"tasks","durations_seconds":[5,5,6],"cut_seconds":[12]}]}]}`)}
	s, err := l.Sample()
	if err != nil || s.Size() != 4 || s.Longest() != 12 || s.Tasks != 3 {
		t.Errorf("%+v, %v", s, err)
	}
	if len(told) != 2 || !strings.HasPrefix(told[0], "stdin: 1 attempt killed or still running") || !strings.Contains(told[1], "the longest attempt was cut off at 12.00s") {
		t.Errorf("%q", told)
	}
}
