package kit

import (
	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/sched"
)

// LawParam is the parameter of policies that reckon with a law of durations.
var LawParam = Param{Name: "law", Kind: Law, Help: "of one attempt's duration; none: Pareto's with the stage's mean and standard deviation"}

// StageLaw is what a policy knows of the durations of a stage's attempts. Pareto's laws that match two moments have
// tail indexes above 2; who knows of heavier tails has to say so.
type StageLaw struct {
	mean, sd float64 // that fitted has
	fitted   laws.Law
}

// Of returns the law that is given, or else one that fits what is known of the stage; nil if nothing is.
func (l *StageLaw) Of(given laws.Law, st *sched.Stage) laws.Law {
	if given != nil {
		return given
	}
	mean, sd, ok := st.Estimate()
	switch {
	case !ok || mean <= 0:
		return nil
	case l.fitted != nil && mean == l.mean && sd == l.sd:
	case sd <= 0:
		l.fitted = laws.Deterministic{Value: mean}
	default:
		f := FitPareto(mean, sd)
		l.fitted = laws.Pareto{Alpha: f.Alpha, Xm: f.Mu}
	}
	l.mean, l.sd = mean, sd
	return l.fitted
}
