// Package reproduce re-creates the evaluations of the papers that Tailcut's policies come from, one paper a file.
//
// An experiment runs the same core, policies and mathematics that users run, and describes what came out as a page on
// which the published numbers stand beside the measured ones. What a paper claims is a claim of the page, with a
// verdict. Nothing is tuned per policy, and a claim that does not hold is shown as such.
package reproduce

import (
	"context"
	"os"
	"path/filepath"

	"github.com/tailcut/tailcut/internal/report"
)

// Options is what a user may choose of any experiment.
type Options struct {
	Quick bool   // fewer repetitions or jobs; the experiment says in its page what it left out
	Runs  int    // repetitions, where the experiment has any; 0 for as many as it has by itself
	Seed  uint64 // of all random draws
	// the folder with the real traces, or "": then what needs them is left out, and the page says so
	Traces   string
	Only     []string              // the parts of the experiment to run, of Experiment.Parts; none for all
	Workers  int                   // simulations at once; the result is the same whatever it is
	Self     []string              // the command that is this program, to run real jobs with
	Progress func(done, total int) // called from one goroutine at a time while steps end; nil if nobody looks
}

// Experiment re-creates one paper's evaluation.
type Experiment struct {
	Name  string // what a user types
	Paper string // title, authors, venue
	Run   func(ctx context.Context, o Options) (*report.Page, error)
	// whether it is repeated with other random draws: Options.Runs
	Repeats bool
	// the names of the parts that can be run alone, in the page's order; nil if there are none
	Parts []string
	// the same at small scale with real jobs on this machine; nil if there is no such thing
	Real func(ctx context.Context, o *Options) (*report.Page, error)
}

// Experiments is all of them, in the order in which they are listed. It does not change.
var Experiments = []Experiment{overlapPaper, forkPaper, srewPaper, shedPaper, geoclonePaper, probesPaper}

// Find returns the experiment of that name.
func Find(name string) (Experiment, bool) {
	for _, e := range Experiments {
		if e.Name == name {
			return e, true
		}
	}
	return Experiment{}, false
}

// Trace returns the path of a real trace, or false if it is not there.
func (o *Options) Trace(parts ...string) (string, bool) {
	if o.Traces == "" {
		return "", false
	}
	path := filepath.Join(append([]string{o.Traces}, parts...)...)
	_, err := os.Stat(path)
	return path, err == nil
}

// verdicts explains how repetitions are judged, for the introduction of a page.
const verdicts = "A claim holds if all of its 95 % interval agrees with it, fails if none of the interval does, and is undecided otherwise; then the page says " +
	"about how many repetitions would decide (--runs). Claims that fail as expected are listed at the end with the reason."
