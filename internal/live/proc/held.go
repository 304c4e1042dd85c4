package proc

import (
	"fmt"
	"os"
)

// Gone says that a run's folder is not its own any more: what was in it does not come back.
type Gone struct{ Why string }

// Error says what has become of the folder.
func (g *Gone) Error() string { return g.Why }

// Held returns an error if the run's lock is not the file any more that an engine has locked: somebody has removed or
// replaced the folder, and another engine may be at work in a new one, with attempts and results of the same names.
func (f Folders) Held(lock *os.File) error {
	if mine, err := lock.Stat(); err == nil {
		if there, err := os.Stat(f.Lock()); err == nil && os.SameFile(mine, there) {
			return nil
		}
	}
	return &Gone{fmt.Sprintf("%s: somebody removed or replaced the folder while the run worked in it; run the same command again", f.Root)}
}

// held tells whether what is in the run's folder is the engine's own. It is asked before anything is done there by name
// that another engine's work could have.
func (e *Executor) held() error {
	if e.cfg.Lock == nil {
		return nil
	}
	return e.cfg.Folders.Held(e.cfg.Lock)
}
