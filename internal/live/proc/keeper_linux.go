package proc

import (
	"fmt"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// keeper starts processes and waits for them, on one thread. It is always the same thread, because a child is told of
// the death of the thread that made it; and it waits for everything at once, because a goroutine for each child and a
// thread for each wait, woken in turn, would cost a small task as much as its process.
type keeper struct {
	ended func(*process)
	poll  int              // the epoll descriptor
	bell  int              // an event descriptor that tells of orders
	leads map[int]*process // by the descriptor of the leader
	pipes map[int]*process // by that of the progress pipe
	errs  map[int]*process // by that of the pipe from standard error; nil if that was of an attempt that has ended
	buf   [4 << 10]byte
	text  [64 << 10]byte // as much as a pipe holds

	over bool

	mu     sync.Mutex
	orders []func()
	closed bool // nobody obeys any more
}

// newKeeper begins to keep. ended is called on the keeper's thread for each process whose leader has ended, and is a
// zombie.
func newKeeper(ended func(*process)) (*keeper, error) {
	k := &keeper{ended: ended, leads: map[int]*process{}, pipes: map[int]*process{}, errs: map[int]*process{}}
	var err error
	if k.poll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, err
	}
	if k.bell, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		unix.Close(k.poll)
		return nil, err
	}
	if err = k.listen(k.bell, unix.EPOLLIN); err != nil {
		k.close()
		return nil, err
	}
	seat(1)
	go k.run()
	return k, nil
}

// order has the keeper's thread call do, soon; not at all once the keeper has ended.
func (k *keeper) order(do func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return
	}
	if k.orders = append(k.orders, do); len(k.orders) == 1 {
		_, _ = unix.Write(k.bell, []byte{1, 0, 0, 0, 0, 0, 0, 0}) // fails only if it rings already
	}
}

// stop ends the keeper once all that was ordered before is done. Nothing may be left to keep.
func (k *keeper) stop() { k.order(func() { k.over = true }) }

// keep follows a process to its end; on the keeper's thread.
func (k *keeper) keep(p *process) {
	if k.listen(int(p.progress), unix.EPOLLIN|unix.EPOLLET) == nil { // only edges: that all writers are gone is no news
		k.pipes[int(p.progress)] = p
	}
	if k.listen(int(p.errs), unix.EPOLLIN) == nil {
		k.errs[int(p.errs)] = p
	} else { // rather than let the attempt wait for ever
		p.errs.close()
	}
	if p.pidfd >= 0 && k.listen(p.pidfd, unix.EPOLLIN) == nil {
		k.leads[p.pidfd] = p
		return
	}
	go func() { // before Linux 5.3
		awaitEnd(p.pid)
		k.order(func() { k.end(p) })
	}()
}

func (k *keeper) listen(fd int, events uint32) error {
	return unix.EpollCtl(k.poll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: events, Fd: int32(fd)})
}

// turn is for how long the keeper works at a time, if others want the processor.
const turn = 100 * time.Microsecond

// hurry has the system give this thread short turns, and so early ones. A parent goes on once its child's program is
// loaded, and Linux likes to have it do that on the child's processor, after the child's turn of milliseconds, while
// other processors idle: a quarter of the time, the ends of all attempts would wait for that. Children get turns like
// everybody's, so this is not done if the system would change more in them. Before Linux 6.12 it does nothing.
func hurry() {
	attr, err := unix.SchedGetAttr(0, 0)
	if err != nil || attr.Policy != unix.SCHED_NORMAL || attr.Nice < 0 {
		return
	}
	attr.Runtime, attr.Flags = uint64(turn), attr.Flags|unix.SCHED_FLAG_RESET_ON_FORK
	_ = unix.SchedSetAttr(0, attr, 0)
}

func (k *keeper) run() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer seat(-1)
	defer k.close()
	hurry()
	var events [64]unix.EpollEvent
	for !k.over {
		n, err := unix.EpollWait(k.poll, events[:], -1)
		if err != nil && err != unix.EINTR {
			panic(fmt.Sprintf("epoll_wait: %v", err))
		}
		for i := range max(n, 0) { // a descriptor may have been closed, and given anew, since it was put on this list
			fd := int(events[i].Fd)
			if fd == k.bell {
				k.obey()
			} else if p := k.leads[fd]; p != nil && ended(p.pid) {
				k.end(p)
			} else if p := k.pipes[fd]; p != nil && events[i].Events&unix.EPOLLIN != 0 {
				k.hear(fd, p)
			} else if p, ok := k.errs[fd]; ok {
				k.hearErr(fd, p)
			}
		}
	}
}

// obey carries out the orders.
func (k *keeper) obey() {
	_, _ = unix.Read(k.bell, k.buf[:8])
	k.mu.Lock()
	orders := k.orders
	k.orders = nil
	k.mu.Unlock()
	for _, do := range orders {
		do()
	}
}

// pipeful is how many reads empty a full pipe.
const pipeful = 16

// end lets go of a process and tells of its end, after what it has written before: that may be on the same list of
// events, and behind. Whatever it left may write for ever, so a pipeful is read at most.
func (k *keeper) end(p *process) {
	if k.pipes[int(p.progress)] == p {
		for range pipeful {
			if n, err := k.read(p); n < len(k.buf) && err != unix.EINTR {
				break
			}
		}
		delete(k.pipes, int(p.progress))
	}
	if k.errs[int(p.errs)] == p {
		if k.hearErr(int(p.errs), p); k.errs[int(p.errs)] == p { // what it has left behind may write there, to nobody
			k.errs[int(p.errs)] = nil
		}
	}
	if p.pidfd >= 0 {
		delete(k.leads, p.pidfd)
		unix.Close(p.pidfd)
	}
	k.ended(p)
}

// hear reads a bit from a progress pipe. If there may be more, it will be told of again, after the others.
func (k *keeper) hear(fd int, p *process) {
	n, err := k.read(p)
	if n == len(k.buf) || err == unix.EINTR {
		_ = unix.EpollCtl(k.poll, unix.EPOLL_CTL_MOD, fd, &unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET, Fd: int32(fd)})
	}
}

// read hears once what is in a progress pipe.
func (k *keeper) read(p *process) (n int, err error) {
	n, err = unix.Read(int(p.progress), k.buf[:])
	if n > 0 {
		p.hear(k.buf[:n])
	}
	return n, err
}

// hearErr takes in what is in a pipe from standard error, for p unless that is nil, and closes it at its end.
func (k *keeper) hearErr(fd int, p *process) {
	n, err := unix.Read(fd, k.text[:])
	switch {
	case n > 0 && p != nil:
		p.hearErr(k.text[:n])
	case n <= 0 && err != unix.EAGAIN && err != unix.EINTR:
		delete(k.errs, fd)
		unix.Close(fd)
	}
}

func (k *keeper) close() {
	for fd := range k.errs {
		unix.Close(fd)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = true
	unix.Close(k.bell)
	unix.Close(k.poll)
}
