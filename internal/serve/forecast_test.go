package serve

import (
	"testing"
	"time"

	"github.com/tailcut/tailcut/internal/promise"
)

// Forecasts cost their share and no more, however much happens; what was saved is for jobs that come.
func TestPurse(t *testing.T) {
	now := time.Unix(0, 0)
	p := purse{left: mostSaved, at: now}
	spent := time.Duration(0)
	for range 100_000 { // 1000 s
		now = now.Add(10 * time.Millisecond)
		if p.enough(now, false) {
			p.spend(40 * time.Millisecond)
			spent += 40 * time.Millisecond
		}
	}
	if share := spent.Seconds() / 1000; share < 0.9*forecastShare || share > forecastShare+0.0005 {
		t.Errorf("%.4f of a core is spent", share)
	}
	if !p.enough(now, true) || p.left < mostSaved/2-40*time.Millisecond {
		t.Errorf("%v is left for a job that comes", p.left)
	}
	p.spend(time.Second)
	if p.enough(now, true) || p.enough(now.Add(time.Minute), true) || !p.enough(now.Add(3*time.Minute), true) {
		t.Errorf("%v is left", p.left)
	}
}

// What is kept of a job's promises is the first, and those that said something else, as far as there is room.
func TestPromisesKept(t *testing.T) {
	f := newForecast(nil)
	at := time.Unix(1e9, 0)
	made := func(after, end time.Duration) promise.Promise {
		p := promise.Promise{Made: at.Add(after)}
		for range promise.Levels {
			p.Ends = append(p.Ends, at.Add(end))
		}
		return p
	}
	f.take(1, promise.Promise{Made: at})                      // unknown
	f.take(1, made(time.Second, 100*time.Second))             // the first
	f.take(1, made(2*time.Second, 105*time.Second))           // nearly the same
	f.take(1, made(50*time.Second, 110*time.Second))          // 10 s of 50 s that are left
	f.take(1, made(109*time.Second, 110*time.Second))         // the same
	f.take(1, made(109*time.Second, 109500*time.Millisecond)) // half of what is left
	latest, kept := f.of(1)
	if len(kept) != 3 || !kept[0].Made.Equal(at.Add(time.Second)) || !latest.Middle().Equal(at.Add(109500*time.Millisecond)) {
		t.Errorf("%v, %v", latest, kept)
	}
	for i := range 100 {
		f.take(1, made(0, time.Duration(1000*(i+1))*time.Second))
	}
	if len(f.kept(1)) != mostPromises {
		t.Errorf("%d are kept", len(f.kept(1)))
	}
	if f.over(1, "n"); f.kept(1) != nil {
		t.Error("promises of a job that is over stay")
	}
}
