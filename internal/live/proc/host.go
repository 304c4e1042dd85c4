package proc

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/tailcut/tailcut/internal/live"
)

// HostConfig describes a host.
type HostConfig struct {
	// Name is the same whenever the same work is taken up again, and no other host's: of what an earlier host of this
	// name has left, nothing goes on. "" for a host that nobody succeeds.
	Name string
	// Memory is how many bytes attempts that need some (jobfile.Limits) may use together; 0 for any number.
	Memory int64
}

// Host is what the executors of one process share: the thread that starts processes and waits for them, the guard, the
// numbers of slots, and what is known of the limits of the machine. The executors of many jobs can be open at once.
type Host struct {
	tag     string // NAME/ENGINE, the middle of TAILCUT_RUN of all its processes
	self    string // path of this program
	reports chan live.Report
	keeper  *keeper
	guard   *guard
	slots   slots
	crowd   *crowd
	watch   watch
	ledger  ledger
	null    *os.File // nothing to read

	descriptors int // above which none is taken for another attempt
}

// NewHost ends what an earlier host of the name has left and makes ready to start attempts.
func NewHost(cfg HostConfig) (*Host, error) {
	if cfg.Name != "" {
		sweep("*/" + cfg.Name)
	}
	h, err := newHost(cmp.Or(cfg.Name, "host"))
	if err == nil {
		h.ledger.total = cfg.Memory
	}
	return h, err
}

func newHost(name string) (*Host, error) {
	h := &Host{
		tag: fmt.Sprintf("%s/%d.%d", name, os.Getpid(), time.Now().UnixNano()), reports: make(chan live.Report, 1024), descriptors: mostDescriptors(),
	}
	warmThreads()
	var err error
	if h.null, err = os.Open(os.DevNull); err != nil {
		return nil, err
	}
	if h.self, err = os.Executable(); err != nil {
		return nil, errors.Join(err, h.null.Close())
	}
	if h.guard, err = startGuard(h.self, "*/"+h.tag); err != nil {
		return nil, errors.Join(err, h.null.Close())
	}
	if h.keeper, err = newKeeper(func(p *process) { p.of.ended(p) }); err != nil {
		h.guard.close()
		return nil, errors.Join(err, h.null.Close())
	}
	limit, used := processLimit(), 0
	if limit < math.MaxInt {
		used = userThreads()
	}
	h.crowd = newCrowd(limit, used)
	return h, nil
}

// Reports returns the channel of what all executors of the host report. Somebody must listen as long as one of them is
// open.
func (h *Host) Reports() <-chan live.Report { return h.reports }

// Close lets go of a host whose executors are closed. What runs although it was killed keeps its keeper and nothing
// else.
func (h *Host) Close() {
	h.keeper.stop()
	h.guard.close()
	h.null.Close()
}
