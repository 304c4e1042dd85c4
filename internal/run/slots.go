package run

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tailcut/tailcut/internal/grammar"
	"github.com/tailcut/tailcut/internal/live/proc"
)

// Cores returns how many processors the program may use: those of its affinity, and of its cgroup.
func Cores() int { return proc.Cores() }

// Slots say how many attempts run at once.
type Slots struct {
	N int // at least 1
	// Classes are those that they are of, in order; nil if all slots are alike.
	Classes []ClassSlots
	File    string // absolute path of the file that says so, and is read again while the run goes; "" for none
	OfPC    bool   // they depend on this machine
}

// ParseSlots reads what GNU parallel's -j takes: a number, 0 for as many as the system lets start, a percentage of the
// cores, cores and some more (+2) or less (-1), or the name of a file that says one of these. A number for each class
// of slots is something else, such as map=4,shuffle=2.
func ParseSlots(text string) (s Slots, err error) {
	if strings.Contains(text, "=") {
		s.Classes, err = ParseClasses(text)
		for _, c := range s.Classes {
			s.N += c.Slots
		}
		return s, err
	}
	n, ofPC, err := countSlots(text, Cores())
	if err == nil {
		return Slots{N: n, OfPC: ofPC}, nil
	}
	if text == "" {
		return Slots{}, err
	}
	path, bad := filepath.Abs(text)
	if bad != nil {
		return Slots{}, err
	}
	n, bad = ReadSlots(path)
	if errors.Is(bad, fs.ErrNotExist) {
		return Slots{}, err
	}
	return Slots{N: n, File: path, OfPC: true}, bad
}

// mostOfFile bounds how much of a file of slots is read.
const mostOfFile = 100

// ReadSlots reads a file that says how many attempts run at once.
func ReadSlots(path string) (int, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, mostOfFile))
	if err != nil {
		return 0, err
	}
	n, _, err := countSlots(strings.TrimSpace(string(data)), Cores())
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	return n, nil
}

// countSlots reads a number of slots, and tells whether it depends on the machine. Rounded up, and at least one where
// the machine is too small, as GNU parallel does it.
func countSlots(text string, cores int) (n int, ofPC bool, err error) {
	wrong := fmt.Errorf("expected a number from 0 to %d, a share of the cores such as 80%%, +2 or -1, classes such as map=4,shuffle=2, or a file that says so, not %q", MostSlots, text)
	x := 0.0
	switch digits, percent := strings.CutSuffix(text, "%"); {
	case percent:
		x, err = strconv.ParseFloat(digits, 64)
		x *= float64(cores) / 100
		if !(x >= 0) {
			return 0, true, wrong
		}
	case strings.HasPrefix(text, "+"), strings.HasPrefix(text, "-"):
		n, err = strconv.Atoi(text)
		x = float64(cores) + float64(n)
	default:
		n, err = grammar.ParseInt(text)
		if err != nil || n < 0 || n > MostSlots {
			return 0, false, wrong
		}
		if n == 0 {
			return min(MostSlots, proc.MostAttempts()), true, nil
		}
		return n, false, nil
	}
	if err != nil || x > MostSlots {
		return 0, true, wrong
	}
	return max(1, int(math.Ceil(x))), true, nil
}

// ParseLoad reads what --load takes: a number of processes that run or wait for a disk, or a percentage of the cores.
func ParseLoad(text string) (float64, error) {
	digits, percent := strings.CutSuffix(text, "%")
	x, err := strconv.ParseFloat(digits, 64)
	if err != nil || !(x > 0 && x <= 1e6) {
		return 0, fmt.Errorf("expected a number above 0 such as 4, or a percentage of the cores such as 80%%, not %q", text)
	}
	if percent {
		x *= float64(Cores()) / 100
	}
	return x, nil
}
