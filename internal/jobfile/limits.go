package jobfile

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/tailcut/tailcut/internal/grammar"
)

// Limits bound one attempt. The zero value bounds nothing.
type Limits struct {
	Timeout Timeout
	Memory  int64 // bytes that its processes may have resident, and that are set aside for it; 0: no limit
	Nice    int   // niceness of its processes, from 0 to MostNice; 0 for that of the engine
}

// LimitsOf returns the limits of a stage in a list that may be too short: then it has none.
func LimitsOf(all []Limits, stage int) Limits {
	if stage < len(all) {
		return all[stage]
	}
	return Limits{}
}

// MostNice is the greatest niceness that systems know.
const MostNice = 19

// Own are the limits that a stage has of its own. Nil stands for those of the run.
type Own struct {
	Timeout *Timeout `json:"timeout,omitempty"`
	Retries *int     `json:"retries,omitempty"`
	Memory  *int64   `json:"memory,omitempty"`
	Nice    *int     `json:"nice,omitempty"`
}

// Over returns the limits of a stage in a run with limits for all.
func (o *Own) Over(all Limits) Limits {
	if o.Timeout != nil {
		all.Timeout = *o.Timeout
	}
	if o.Memory != nil {
		all.Memory = *o.Memory
	}
	if o.Nice != nil {
		all.Nice = *o.Nice
	}
	return all
}

// String lists what is given, as in a job file.
func (o Own) String() string {
	var all []string
	if o.Timeout != nil {
		all = append(all, "timeout "+o.Timeout.String())
	}
	if o.Retries != nil {
		all = append(all, "retries "+strconv.Itoa(*o.Retries))
	}
	if o.Memory != nil {
		all = append(all, "memory "+grammar.FormatSize(*o.Memory))
	}
	if o.Nice != nil {
		all = append(all, "nice "+strconv.Itoa(*o.Nice))
	}
	return strings.Join(all, ", ")
}

// Timeout is how long an attempt may run: for a while, or for a percentage of the median duration of the attempts of
// its stage that have won. The zero value is no limit.
type Timeout struct {
	After   time.Duration
	Percent float64 // over 100
}

// ParseTimeout reads a duration (90s, 10m), seconds (90) or a percentage (300%). 0 is no limit.
func ParseTimeout(text string) (Timeout, error) {
	if digits, ok := strings.CutSuffix(text, "%"); ok {
		x, err := strconv.ParseFloat(digits, 64)
		if err != nil || !(x > 100 && x <= 1e6) { // every other attempt takes longer than the median
			return Timeout{}, fmt.Errorf("expected more than 100%% of the median, such as 300%%, not %q", text)
		}
		return Timeout{Percent: x}, nil
	}
	d, err := ParseDuration(text)
	if err != nil {
		return Timeout{}, fmt.Errorf("expected a duration such as 90s or 10m, or a percentage of the median such as 300%%, not %q", text)
	}
	return Timeout{After: d}, nil
}

// ParseDuration reads a duration of at least 0. A number without a unit is in seconds.
func ParseDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if s, bad := strconv.ParseFloat(text, 64); bad == nil && s >= 0 && s < math.MaxInt64/1e9 {
		d, err = time.Duration(math.Round(s*1e9)), nil
	}
	if err != nil || d < 0 {
		return 0, fmt.Errorf("expected a duration such as 90s, 10m or 2h, not %q", text)
	}
	return d, nil
}

// String is what ParseTimeout reads.
func (t Timeout) String() string {
	if t.Percent > 0 {
		return strconv.FormatFloat(t.Percent, 'f', -1, 64) + "%"
	}
	return t.After.String()
}

// MarshalText is String, for journals.
func (t Timeout) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText is ParseTimeout.
func (t *Timeout) UnmarshalText(text []byte) (err error) {
	*t, err = ParseTimeout(string(text))
	return err
}
