package proc

import "testing"

// Whatever is accepted is in range.
func FuzzParseDisturb(f *testing.F) {
	for _, s := range []string{"slow=0.1,factor=8,fail=0.02", "slow=0x1p-2", "factor=1e3", "fail=NaN", "slow==1", ",", "slow=1,slow=0", "pace=4e6"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := ParseDisturb(s)
		if err == nil && !(d.Slow >= 0 && d.Slow <= 1 && d.Fail >= 0 && d.Fail <= 1 && d.Factor >= 1 && d.Factor <= 1000 && (d.Pace == 0 || d.Pace >= 1 && d.Pace <= 1e12)) {
			t.Errorf("%q: %+v", s, d)
		}
	})
}
