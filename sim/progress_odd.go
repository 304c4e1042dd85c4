package sim

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/tailcut/tailcut/internal/grammar"
	"github.com/tailcut/tailcut/sched"
)

// ProgressUsage lists the specs that [ParseProgress] reads.
const ProgressUsage = "none, exact, the span between reports such as 10s, or one of hang, freeze, lie, back and late with parameters, such as " +
	"hang:p=0.05,lasts=1h,interval=10s"

// Oddity is what is wrong with what attempts report. Which attempts it befalls depends on seed, job, task and number.
type Oddity struct {
	Kind  oddKind
	Share float64    // of the attempts that it befalls
	At    float64    // freeze: the progress that is said again and again
	Span  sched.Time // hang: how long an attempt stands still; late: how old reports are
}

type oddKind uint8

const (
	honest oddKind = iota
	hang           // it stands still once, at a random point, and reports nothing in the meantime
	freeze         // from a quarter of its work on it has done At, by its reports
	lie            // by its reports it is nearly done all the time
	back           // it falls back to the beginning, twice, by its reports
	late           // its reports say what was so a while ago
)

var oddKinds = map[string]Oddity{
	"hang":   {Kind: hang, Share: 0.05, Span: sched.Time(time.Hour)},
	"freeze": {Kind: freeze, Share: 1, At: 0.99},
	"lie":    {Kind: lie, Share: 1},
	"back":   {Kind: back, Share: 1},
	"late":   {Kind: late, Share: 1, Span: 30 * sched.Second},
}

// parseOddity reads what follows the name of an oddity: p=SHARE and interval=SPAN, and the parameters of its own.
func parseOddity(name, rest string) (Progress, error) {
	p := Progress{Every: 10 * sched.Second, Odd: oddKinds[name]}
	o := &p.Odd
	for _, field := range grammar.Fields(rest) {
		key, value, _ := strings.Cut(field, "=")
		switch {
		case field == "": // no parameter
		case key == "p", key == "at" && o.Kind == freeze:
			x, err := strconv.ParseFloat(value, 64)
			if err != nil || !(x >= 0 && x <= 1) {
				return Progress{}, fmt.Errorf("%s: %s: expected a number from 0 to 1, got %q", name, key, value)
			}
			if key == "p" {
				o.Share = x
			} else {
				o.At = x
			}
		case key == "interval", key == "lasts" && o.Kind == hang, key == "delay" && o.Kind == late:
			d, err := time.ParseDuration(value)
			if err != nil || d < time.Microsecond {
				return Progress{}, fmt.Errorf("%s: %s: expected a duration such as 10s, got %q", name, key, value)
			}
			if key == "interval" {
				p.Every = sched.Time(d)
			} else {
				o.Span = sched.Time(d)
			}
		default:
			own := map[oddKind]string{hang: ", lasts", freeze: ", at", late: ", delay"}[o.Kind]
			return Progress{}, fmt.Errorf("%s: unknown parameter %q; valid: p, interval%s", name, key, own)
		}
	}
	return p, nil
}

// odd tells whether an attempt is one of those that the oddity befalls.
func (s *Simulator) odd(r *running) bool {
	o := &s.o.Progress.Odd
	return o.Kind != honest && uniform(draw(s.o.Seed, forOddity, r.job, r.task, r.number)) < o.Share
}

// interrupt lets an attempt that works for a span hang on the way, and returns how long it takes then.
func (s *Simulator) interrupt(r *running, span sched.Time) sched.Time {
	o := &s.o.Progress.Odd
	if o.Kind != hang || span <= 0 || span >= sched.Never-o.Span || !s.odd(r) {
		return span
	}
	r.hangs, r.stops = o.Span, scaled(span, uniform(draw(s.o.Seed, forHang, r.job, r.task, r.number)))
	return span + o.Span
}

// hung tells whether an attempt stands still.
func (s *Simulator) hung(r *running) bool {
	gone := s.now - r.begun
	return r.hangs > 0 && gone > r.stops && gone < r.stops+r.hangs
}

// says returns what an odd attempt reports of the share of its own work that it has done, which took did seconds.
func (s *Simulator) says(share, did float64) float64 {
	switch o := &s.o.Progress.Odd; o.Kind {
	case freeze:
		return o.At * min(1, 4*share)
	case lie:
		return 1 - math.Pow(1-share, 4)
	case back:
		return share - math.Floor(3*share)/3
	}
	return share * max(0, 1-s.o.Progress.Odd.Span.Seconds()/did)
}
