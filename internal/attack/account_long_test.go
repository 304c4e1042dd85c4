//go:build linux && long

package attack

import (
	"fmt"
	"strconv"
	"testing"
	"time"
)

// Under the default policy a job with stragglers, attempts that are killed and engines that die maps less than 1.3 times its input. About
// one attempt dies in eight seconds of machine time.
func TestMappedBelow(t *testing.T) {
	const most = 1.3
	input := prose(t, 96<<20)
	for seed := 1; seed <= 6; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := newStory(t)
			stop := make(chan struct{})
			go s.hunt(uint64(seed), 4, stop)
			s.window = 20 * time.Second
			s.run(2, "run", "wordcount", input, "--split-size", "16MiB", "--slots", "4", "--retries", "9", "--disturb", "slow=0.3,factor=5,pace=1e6",
				"--seed", strconv.Itoa(seed))
			close(stop)
			s.check()
			all, sizes := s.mappings()
			var mapped, size int64
			for i := range all {
				mapped += all[i].bytes
			}
			for _, x := range sizes {
				size += x
			}
			t.Logf("%d attempts of %d tasks mapped %.3f times the input", len(all), len(sizes), float64(mapped)/float64(size))
			if float64(mapped) > most*float64(size) {
				t.Errorf("%d bytes are mapped of %d", mapped, size)
			}
		})
	}
}
