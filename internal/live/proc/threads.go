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
