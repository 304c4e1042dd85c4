//go:build !linux

package proc

import (
	"errors"
	"time"

	"github.com/tailcut/tailcut/internal/live"
)

// ReadMachine returns an error: only Linux is asked.
func ReadMachine() (live.Reading, error) {
	return live.Reading{}, errors.New("works on Linux only: other systems do not say what is free")
}

// residents are not known here.
type residents map[int]struct{}

func timedResidents() (residents, time.Duration) { return residents{}, 0 }

func (r residents) of(group int, limit int64) int64 { return 0 }
