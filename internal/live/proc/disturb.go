package proc

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/tailcut/tailcut/internal/live"
)

// Disturb makes some attempts stragglers and lets some fail, for trying things out and for tests. Which ones depends on
// the seed, the task and the attempt's number alone.
type Disturb struct {
	Slow   float64 // probability of a slow attempt
	Factor float64 // how many times longer a slow attempt computes
	Fail   float64 // probability of an attempt that fails
	Pace   float64 // bytes per second that map attempts read at most; 0 for as many as they can
	Seed   uint64
}

// ParseDisturb reads slow=0.1,factor=8,fail=0.02,pace=4e6. What is not named is slow=0, factor=8, fail=0, and no pace.
func ParseDisturb(s string) (Disturb, error) {
	d := Disturb{Factor: 8}
	for _, kv := range strings.Split(s, ",") {
		key, value, _ := strings.Cut(kv, "=")
		x, err := strconv.ParseFloat(value, 64)
		field, most := &d.Slow, 1.0
		switch key {
		case "slow":
		case "fail":
			field = &d.Fail
		case "factor":
			field, most = &d.Factor, 1000
		case "pace":
			field, most = &d.Pace, 1e12
		default:
			return d, fmt.Errorf("unknown key %q; valid: slow, factor, fail, pace", key)
		}
		if err != nil || !(x >= 0 && x <= most) || (key == "factor" || key == "pace") && x < 1 {
			return d, fmt.Errorf("%s is out of range; slow and fail are probabilities, factor is between 1 and 1000, pace is in bytes per second", kv)
		}
		*field = x
	}
	return d, nil
}

// fate is what happens to one attempt on purpose.
type fate struct {
	factor float64       // 1 leaves it alone
	fails  bool          // it ends without result,
	after  time.Duration // at the latest when it has run this long
}

func (d Disturb) fate(a live.Attempt) fate {
	r := rand.New(rand.NewPCG(d.Seed, uint64(a.Stage)<<48^uint64(a.Index)<<16^uint64(a.Number)))
	r.Uint64() // adjacent seeds differ in few bits; let them mix
	f := fate{factor: 1}
	if r.Float64() < d.Slow {
		f.factor = d.Factor
	}
	if r.Float64() < d.Fail {
		f.fails, f.after = true, time.Duration(r.Float64()*float64(time.Second))
	}
	return f
}

// awake is how long a slowed attempt runs between two stops, if the engine is not late.
const awake = 4 * time.Millisecond

// slow stops and continues a process group so that it computes factor times longer, until it ends. A stop lasts in
// proportion to how long the group really ran before it: on a busy machine the engine is late to stop it.
func (p *process) slow(factor float64) {
	for began := time.Now(); p.rest(awake) && p.stop(); began = time.Now() {
		ran := time.Since(began)
		if !p.rest(time.Duration(float64(ran)*(factor-1))) || !p.cont() {
			return
		}
	}
}

// rest waits; false means that the process has ended meanwhile.
func (p *process) rest(d time.Duration) bool {
	select {
	case <-p.ended:
		return false
	case <-time.After(d):
		return true
	}
}
