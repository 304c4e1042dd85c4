package proc

import (
	"runtime"
	"sync"
)

// spareThreads is how many threads the engine has beyond those that it runs on, before attempts may use up what the
// system allows: a Go program that cannot make a thread when it needs one ends at once.
const spareThreads = 4

// warmThreads makes the threads. The runtime keeps them.
func warmThreads() {
	var all, begun sync.WaitGroup
	over := make(chan struct{})
	for range spareThreads {
		begun.Add(1)
		all.Go(func() {
			runtime.LockOSThread() // this one waits for nobody else
			defer runtime.UnlockOSThread()
			begun.Done()
			<-over
		})
	}
	begun.Wait()
	close(over)
	all.Wait()
}

// seats are the processors, in the runtime's sense, that keepers have beyond those of the machine: one each. A keeper
// that starts a process waits in a system call of which the runtime knows nothing (vfork) until the program is loaded,
// and holds its processor meanwhile. Without another, on two cores, half of the engine stands still with it.
var seats struct {
	sync.Mutex
	n int
}

func seat(n int) {
	seats.Lock()
	defer seats.Unlock()
	seats.n += n
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + n)
}

// Cores returns how many processors the program may use: those of its affinity, and of its cgroup.
func Cores() int {
	seats.Lock()
	defer seats.Unlock()
	return runtime.GOMAXPROCS(0) - seats.n
}
