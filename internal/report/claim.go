package report

import (
	"fmt"
	"math"
	"strings"
)

// Verdict is what became of a claim.
type Verdict string

// The verdicts.
const (
	Holds     Verdict = "holds"     // all of the measured interval agrees with the claim
	Fails     Verdict = "fails"     // none of it does
	Undecided Verdict = "undecided" // a part of it does: these repetitions do not decide
	Reported  Verdict = "reported"  // shown beside the paper's value, but not judged; the reason belongs into the text
)

// Claim is a statement that a run can bear out or refute.
type Claim struct {
	What      string  `json:"what"`
	Published string  `json:"published,omitempty"`
	Measured  string  `json:"measured"`
	Verdict   Verdict `json:"verdict"`
	Known     string  `json:"known,omitempty"` // of a claim that fails as expected: why
}

// Known is a claim that fails, as whoever wrote the page knows. It is shown with its reason and is no error.
type Known struct {
	What string `json:"what"` // a part of the claim that tells it from others; several claims may contain it
	Why  string `json:"why"`
}

// Check is a claim about something that does not vary between repetitions. It holds if ok.
func Check(ok bool, what, published, measured string) Claim {
	c := Claim{What: what, Published: published, Measured: measured, Verdict: Fails}
	if ok {
		c.Verdict = Holds
	}
	return c
}

// Judge is the claim that a mean lies from low to high, either of which may be infinite. It holds if all of
// mean ± half, a 95 % interval over so many repetitions, lies there; it fails if none of it does.
func Judge(mean, half float64, repetitions int, low, high float64, what, published, measured string) Claim {
	c := Claim{What: what, Published: published, Measured: measured, Verdict: Undecided}
	switch {
	case mean-half >= low && mean+half <= high:
		c.Verdict = Holds
	case mean+half < low || mean-half > high:
		c.Verdict = Fails
	default:
		c.Measured += enough(mean, half, repetitions, low, high)
	}
	return c
}

// mostRepetitions is the number beyond which nobody waits.
const mostRepetitions = 100_000

// enough says how many repetitions would decide, if the mean is where it seems to be: the interval is then as wide as
// the mean is far from the nearest bound, and widths fall with the square root of the number.
func enough(mean, half float64, repetitions int, low, high float64) string {
	if repetitions < 2 {
		return "" // there is no interval to go by
	}
	far := min(math.Abs(mean-low), math.Abs(mean-high))
	n := math.Ceil(float64(repetitions) * (half / far) * (half / far))
	if !(n <= mostRepetitions) {
		return fmt.Sprintf("; more than %d repetitions would decide", mostRepetitions)
	}
	return fmt.Sprintf("; about %.0f repetitions would decide", n)
}

// known returns why the claim fails, if that is known.
func (p *Page) known(c *Claim) string {
	if c.Verdict != Fails {
		return ""
	}
	for _, k := range p.Known {
		if strings.Contains(c.What, k.What) {
			return k.Why
		}
	}
	return ""
}

// Settle gives the claims that fail as expected their reasons, and returns the page. Pages with a list of known
// failures need it once, when all claims are there.
func (p *Page) Settle() *Page {
	for i := range p.Sections {
		for j := range p.Sections[i].Claims {
			c := &p.Sections[i].Claims[j]
			c.Known = p.known(c)
		}
	}
	return p
}

// Failed returns the claims that fail and are not known to, in the page's order.
func (p *Page) Failed() []Claim {
	var failed []Claim
	for _, s := range p.Sections {
		for _, c := range s.Claims {
			if c.Verdict == Fails && c.Known == "" {
				failed = append(failed, c)
			}
		}
	}
	return failed
}

// Tally says how many claims there are of each verdict, "" for a page without claims.
func (p *Page) Tally() string {
	n, known := map[Verdict]int{}, 0
	for _, s := range p.Sections {
		for _, c := range s.Claims {
			n[c.Verdict]++
			if c.Known != "" {
				known++
			}
		}
	}
	if len(n) == 0 {
		return ""
	}
	return fmt.Sprintf("Claims: %d held, %d failed (%d as expected), %d undecided, %d reported only.",
		n[Holds], n[Fails], known, n[Undecided], n[Reported])
}

// claims is all claims of the page as a table.
func (p *Page) claims() Table {
	t := Table{Name: "claims", Columns: []string{"verdict", "claim", "published", "measured"}}
	for _, s := range p.Sections {
		for _, c := range s.Claims {
			t.Add(c.word(), c.What, c.Published, c.Measured)
		}
	}
	return t
}

// word is the verdict as the table of all has it.
func (c *Claim) word() string {
	if c.Known != "" {
		return "FAILS, as expected"
	}
	return strings.ToUpper(string(c.Verdict))
}

// reasons is the claims that fail as expected, with why, in the page's order.
func (p *Page) reasons() (reasons []Known) {
	for _, s := range p.Sections {
		for _, c := range s.Claims {
			if c.Known != "" {
				reasons = append(reasons, Known{c.What, c.Known})
			}
		}
	}
	return reasons
}
