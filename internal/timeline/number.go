package timeline

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/tailcut/tailcut/sched"
)

// Seconds is an instant or a span that JSON has in seconds, with every digit of the nanoseconds that it is.
type Seconds sched.Time

// MarshalJSON writes the number.
func (s Seconds) MarshalJSON() ([]byte, error) { return appendSeconds(nil, sched.Time(s)), nil }

// String is the number as JSON has it.
func (s Seconds) String() string { return string(appendSeconds(nil, sched.Time(s))) }

// UnmarshalJSON reads it without rounding.
func (s *Seconds) UnmarshalJSON(text []byte) error {
	t, err := parseSeconds(string(text))
	*s = Seconds(t)
	return err
}

// appendSeconds writes a decimal number of seconds, without zeros that say nothing.
func appendSeconds(b []byte, t sched.Time) []byte {
	if t < 0 {
		b = append(b, '-')
		t = -t
	}
	b = strconv.AppendInt(b, int64(t/sched.Second), 10)
	rest := int64(t % sched.Second)
	if rest == 0 {
		return b
	}
	b = append(b, '.')
	for digit := int64(sched.Second) / 10; rest > 0; digit /= 10 {
		b = append(b, byte('0'+rest/digit))
		rest %= digit
	}
	return b
}

// parseSeconds reads what appendSeconds has written.
func parseSeconds(text string) (sched.Time, error) {
	bare, minus := strings.CutPrefix(text, "-")
	whole, part, _ := strings.Cut(bare, ".")
	if len(part) > 9 {
		return 0, fmt.Errorf("expected seconds with at most nine decimals, not %s", text)
	}
	n, err := strconv.ParseUint(whole+part+strings.Repeat("0", 9-len(part)), 10, 63)
	if err != nil || whole == "" {
		return 0, fmt.Errorf("expected a number of seconds, not %s", text)
	}
	if minus {
		return -sched.Time(n), nil
	}
	return sched.Time(n), nil
}

// times is a column of instants.
type times []sched.Time

// MarshalJSON writes seconds.
func (ts times) MarshalJSON() ([]byte, error) {
	b := append(make([]byte, 0, 2+12*len(ts)), '[')
	for i, t := range ts {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendSeconds(b, t)
	}
	return append(b, ']'), nil
}

// UnmarshalJSON reads seconds without rounding.
func (ts *times) UnmarshalJSON(text []byte) error {
	var all []Seconds
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	for _, s := range all {
		*ts = append(*ts, sched.Time(s))
	}
	return nil
}

// reasons is a column of reasons, by name.
type reasons []sched.Reason

// MarshalJSON writes names.
func (rs reasons) MarshalJSON() ([]byte, error) {
	names := make([]string, len(rs))
	for i, r := range rs {
		names[i] = r.String()
	}
	return json.Marshal(names)
}

// UnmarshalJSON reads names; one that a later version has added is Unexplained.
func (rs *reasons) UnmarshalJSON(text []byte) error {
	var names []string
	if err := json.Unmarshal(text, &names); err != nil {
		return err
	}
	for _, name := range names {
		*rs = append(*rs, reasonOf[name])
	}
	return nil
}

// reasonOf finds a reason by its name.
var reasonOf = func() map[string]sched.Reason {
	all := map[string]sched.Reason{}
	for r := sched.Unexplained; r <= sched.MachineGone; r++ {
		all[r.String()] = r
	}
	return all
}()
