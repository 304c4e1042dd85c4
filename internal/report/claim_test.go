package report

import (
	"math"
	"strings"
	"testing"
)

func TestJudge(t *testing.T) {
	for name, c := range map[string]struct {
		mean, half float64
		want       Verdict
		says       string
	}{
		"all of it agrees":         {0.1, 0.01, Holds, "m"},
		"its end is at the bound":  {0.25, 0.05, Holds, "m"},
		"below":                    {-0.1, 0.01, Fails, "m"},
		"above":                    {0.4, 0.01, Fails, "m"},
		"the mean agrees":          {0.28, 0.97, Undecided, "m; about 23523 repetitions would decide"},
		"the mean does not":        {0.4, 0.2, Undecided, "m; about 40 repetitions would decide"},
		"the mean is at the bound": {0.3, 0.01, Undecided, "m; more than 100000 repetitions would decide"},
		"one repetition":           {0.1, math.NaN(), Undecided, "m; more than 100000 repetitions would decide"},
	} {
		got := Judge(c.mean, c.half, 10, 0.03, 0.3, "", "", "m")
		if got.Verdict != c.want || got.Measured != c.says {
			t.Errorf("%s: %s, %q; want %s, %q", name, got.Verdict, got.Measured, c.want, c.says)
		}
	}
	if got := Judge(1, math.NaN(), 1, 0, 2, "", "", "m"); got.Measured != "m" || got.Verdict != Undecided {
		t.Errorf("one repetition: %+v", got)
	}
}

// What fails as expected is no failure, and says why; what fails otherwise is one, and what holds needs no excuse.
func TestKnown(t *testing.T) {
	p := sample()
	p.Known = []Known{{"dolly is", "It never was."}, {"srew is", "no matter"}}
	if f := p.Settle().Failed(); len(f) != 0 {
		t.Errorf("failed: %v", f)
	}
	var text, html strings.Builder
	if err := p.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	if err := p.WriteHTML(&html); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"FAILS, as expected  dolly is second", "1 held, 1 failed (1 as expected)", "dolly is second: It never was.", "HOLDS "} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	if !strings.Contains(html.String(), "Known to fail: It never was.") || strings.Contains(text.String(), "no matter") {
		t.Errorf("%s\n%s", html.String(), text.String())
	}
}
