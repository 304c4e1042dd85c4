package history

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// unit is what numbers are of: so many seconds each, or so many of them to a second. One of these is 1.
type unit struct{ seconds, perSecond float64 }

var oneSecond = unit{1, 1}

// columnUnits are the words for units at the end of a column's name. A lone m is not among them: it may be a minute or
// a millisecond.
var columnUnits = map[string]unit{
	"ns": {1, 1e9}, "nanos": {1, 1e9}, "nanoseconds": {1, 1e9},
	"us": {1, 1e6}, "µs": {1, 1e6}, "usec": {1, 1e6}, "usecs": {1, 1e6}, "micros": {1, 1e6}, "microseconds": {1, 1e6},
	"ms": {1, 1e3}, "msec": {1, 1e3}, "msecs": {1, 1e3}, "millis": {1, 1e3}, "milliseconds": {1, 1e3},
	"s": oneSecond, "sec": oneSecond, "secs": oneSecond, "second": oneSecond, "seconds": oneSecond,
	"min": {60, 1}, "mins": {60, 1}, "minute": {60, 1}, "minutes": {60, 1},
	"h": {3600, 1}, "hr": {3600, 1}, "hrs": {3600, 1}, "hour": {3600, 1}, "hours": {3600, 1},
}

var (
	nameWords = regexp.MustCompile(`[\pL]+`)
	camelEnd  = regexp.MustCompile(`\p{Ll}(Ns|Us|Ms|Millis|Micros|Nanos|Secs?|Seconds|Mins?|Minutes|Hours?)$`)
)

// unitOf reads the unit at the end of a column's name, such as duration_ms, elapsed (s) or runtimeMillis. known is
// false if there is none; then numbers are seconds.
func unitOf(name string) (u unit, known bool, err error) {
	words := nameWords.FindAllString(name, -1)
	if len(words) == 0 {
		return oneSecond, false, nil
	}
	last := words[len(words)-1]
	if m := camelEnd.FindStringSubmatch(last); m != nil {
		last = m[1]
	}
	if len(words) > 1 && strings.EqualFold(last, "m") {
		return u, false, fmt.Errorf("column %s: is m a minute or a millisecond? call it _min or _ms", name)
	}
	u, known = columnUnits[strings.ToLower(last)]
	if !known || len(words) == 1 && len(last) < 2 {
		return oneSecond, false, nil
	}
	return u, true, nil
}

// errDuration is what a duration must be.
var errDuration = errors.New("expected a duration in seconds, a finite number of at least 0, or one with a unit such as 250ms or 1h02m")

// written reads a duration as people write it. A number is of the unit; known says that the column's name has one.
func written(text string, u unit, known bool) (seconds float64, err error) {
	if x, err := strconv.ParseFloat(text, 64); err == nil {
		x = x * u.seconds / u.perSecond
		if math.IsNaN(x) || math.IsInf(x, 0) || x < 0 {
			return 0, errDuration
		}
		return x, nil
	}
	x, ok := withUnit(text)
	if !ok {
		return 0, errDuration
	}
	if known {
		return 0, errors.New("expected a number, because the column's name has a unit")
	}
	return x, nil
}

var (
	isoSpan   = regexp.MustCompile(`^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$`)
	clockSpan = regexp.MustCompile(`^(?:(\d+)-)?(\d+):([0-5]\d):([0-5]\d(?:\.\d+)?)$`)
)

// withUnit reads 10s, 1h02m, 3.5 min, 01:02:03, 1-02:03:04 and PT1H2M3S. 02:03 may be minutes or hours, and is none.
func withUnit(text string) (seconds float64, ok bool) {
	if d, err := time.ParseDuration(strings.ReplaceAll(text, " ", "")); err == nil {
		return d.Seconds(), d >= 0
	}
	if number, word, found := strings.Cut(text, " "); found {
		u, known := columnUnits[strings.ToLower(word)]
		x, err := strconv.ParseFloat(number, 64)
		return x * u.seconds / u.perSecond, known && err == nil && x >= 0 && !math.IsInf(x, 0)
	}
	for _, shape := range []*regexp.Regexp{isoSpan, clockSpan} {
		m := shape.FindStringSubmatch(text)
		if m == nil || strings.Join(m[1:], "") == "" {
			continue
		}
		for i, size := range []float64{86400, 3600, 60, 1} {
			x, _ := strconv.ParseFloat("0"+m[i+1], 64)
			seconds += x * size
		}
		return seconds, !math.IsInf(seconds, 0)
	}
	return 0, false
}
