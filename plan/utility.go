package plan

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Utility is the α of an α-fair utility of PoCD (Shed, Section IV-B; Lan, Kao, Chiang and Sabharwal, "An axiomatic
// theory of fairness", 2010), α >= 0: the larger, the more the worst job counts. In the form
//
//	U(R) = (R^(1-α)-1)/(1-α), log R where α = 1
//
// it is 0 for a job that is certain to make it and negative otherwise, and keeps its digits at both ends.
type Utility float64

// The utilities that have names.
const (
	UtilitySum    Utility = 0               // the expected number of jobs that meet their deadlines
	UtilityLog    Utility = 1               // proportional fairness
	UtilityMaxMin Utility = math.MaxFloat64 // stands for α = ∞: the worst job first, then the second worst, and so on
)

// ParseUtility reads sum, log, maxmin, or alpha=2.
func ParseUtility(s string) (Utility, error) {
	switch s {
	case "sum":
		return UtilitySum, nil
	case "log":
		return UtilityLog, nil
	case "maxmin":
		return UtilityMaxMin, nil
	}
	if text, ok := strings.CutPrefix(s, "alpha="); ok {
		if a, err := strconv.ParseFloat(text, 64); err == nil && a >= 0 && a <= maxAlpha {
			return Utility(a), nil
		}
	}
	return 0, fmt.Errorf("a utility is maxmin, sum, log, or alpha=A with A from 0 to %d, got %q", maxAlpha, s)
}

// maxAlpha is the largest α that is computed with; beyond it only the worst job counts, as in maxmin.
const maxAlpha = 100

// String returns what [ParseUtility] reads.
func (u Utility) String() string {
	switch u {
	case UtilitySum:
		return "sum"
	case UtilityLog:
		return "log"
	case UtilityMaxMin:
		return "maxmin"
	}
	return "alpha=" + strconv.FormatFloat(float64(u), 'g', -1, 64)
}

// gain returns U(after)-U(before) of two PoCDs given as logarithms, before <= after, for α < ∞. It has all its digits
// where both are nearly 0 or nearly 1. Where U(before) is below -1e277 it is as if it were that.
func (u Utility) gain(before, after float64) float64 {
	if before == after {
		return 0
	}
	switch b := float64(1 - u); {
	case b > 0:
		return -math.Exp(b*after) * math.Expm1(b*(before-after)) / b
	case b < 0:
		return math.Exp(min(b*before, 640)) * math.Expm1(b*(after-before)) / b
	}
	return max(after, -1e277) - max(before, -1e277)
}
