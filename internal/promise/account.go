package promise

import (
	"slices"
	"time"

	"github.com/tailcut/tailcut/laws"
)

// Outcome is a promise beside what became of it.
type Outcome struct {
	Name     string    `json:"name"`
	Promised Promise   `json:"promised"`
	First    bool      `json:"first,omitempty"` // made at the job's submission
	Ended    time.Time `json:"ended"`
}

// Calibration is the account of all promises.
type Calibration struct {
	Schema       string `json:"schema"`        // tailcut.calibration/v1
	AtSubmission Record `json:"at_submission"` // the first promise of each job
	Later        Record `json:"later"`         // all others; those of one job are not independent
}

// Record is the account of promises of a kind.
type Record struct {
	Promises int `json:"promises"`
	// Held is the share of jobs that ended within the interval of 80 %, the number to judge by; nil if there are none.
	Held   *float64 `json:"held_80_ratio"`
	HeldCI Span     `json:"held_80_ci95"`
	Points []Point  `json:"points"` // of the plot: what happened over what was said
	// Late is by how much jobs ended after the promised time, as a share of the time from the promise to that: the
	// median, negative if they were early; nil if there are none.
	Late *float64 `json:"median_late_ratio"`
}

// Point is a level, and how many jobs ended by the quantile at it.
type Point struct {
	Level float64 `json:"level"`
	Share float64 `json:"share"`
	CI    Span    `json:"ci95"`
}

// Span is an interval of shares.
type Span [2]float64

const calibrationSchema = "tailcut.calibration/v1"

// Calibrate keeps account of promises. Those that said nothing do not count.
func Calibrate(all []Outcome) *Calibration {
	return &Calibration{Schema: calibrationSchema, AtSubmission: recordOf(all, true), Later: recordOf(all, false)}
}

func recordOf(all []Outcome, first bool) (r Record) {
	held := 0
	var below [len(Levels)]int
	var late []float64
	for i := range all {
		o := &all[i]
		if o.First != first || !o.Promised.Known() {
			continue
		}
		r.Promises++
		from, to := o.Promised.Interval()
		if !o.Ended.Before(from) && !o.Ended.After(to) {
			held++
		}
		for k, at := range o.Promised.Ends {
			if !o.Ended.After(at) {
				below[k]++
			}
		}
		if span := o.Promised.Middle().Sub(o.Promised.Made).Seconds(); span > 0 {
			late = append(late, o.Ended.Sub(o.Promised.Middle()).Seconds()/span)
		}
	}
	if r.Promises == 0 {
		return r
	}
	share := float64(held) / float64(r.Promises)
	r.Held, r.HeldCI = &share, wilson(held, r.Promises)
	for k, level := range Levels {
		r.Points = append(r.Points, Point{level, float64(below[k]) / float64(r.Promises), wilson(below[k], r.Promises)})
	}
	if n := len(late); n > 0 {
		m := median(late)
		r.Late = &m
	}
	return r
}

// wilson is the interval of a share with a confidence of 95 %.
func wilson(k, n int) Span {
	low, high := laws.ShareInterval(k, n)
	return Span{low, high}
}

// median sorts its argument.
func median(x []float64) float64 {
	slices.Sort(x)
	n := len(x)
	return (x[(n-1)/2] + x[n/2]) / 2
}
