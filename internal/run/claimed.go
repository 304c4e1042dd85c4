package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/tailcut/tailcut/internal/disk"
	"github.com/tailcut/tailcut/internal/live/proc"
	"github.com/tailcut/tailcut/internal/mapreduce"
)

// Claimed says that an output folder belongs to a job of a server, from its submission to its end: a small file beside
// the journal, so that a job that waits holds no lock, and that of a server that is down is still its own.
type Claimed struct {
	Run    string `json:"run"`
	Server string `json:"server"` // its folder
	Place  string `json:"place"`  // where it listens
	// Left says that the journal that the job leaves is written, maybe under the name that it has until it is in place.
	Left bool `json:"left,omitempty"`
}

const claimedName = "server"

// ReadClaimed returns whose an output folder is; nil if it is no server's.
func ReadClaimed(private string) (*Claimed, error) {
	text, err := os.ReadFile(filepath.Join(private, claimedName))
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission),
		errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ENAMETOOLONG): // making the folder says what is wrong
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	c := &Claimed{}
	if err := json.Unmarshal(text, c); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(private, claimedName), err)
	}
	return c, nil
}

// answers tells whether the server is there.
func (c *Claimed) answers() bool {
	conn, err := net.DialTimeout("unix", c.Place, time.Second)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

// write takes a folder for a job of a server.
func (c *Claimed) write(private string) error {
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	path := filepath.Join(private, claimedName)
	f, err := os.OpenFile(path+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil { // a name without its content would keep everybody out
		return err
	}
	if err := os.Rename(path+".new", path); err != nil {
		return err
	}
	return disk.SyncFolder(private)
}

// release gives a folder back.
func (c *Claimed) release(private string) error {
	err := os.Remove(filepath.Join(private, claimedName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(err, disk.SyncFolder(private))
}

// Forsake gives back an output folder that a server has claimed for a job and not taken the job in. One that is
// another's by now, or gone, is left alone.
func Forsake(out, name, server string) error {
	folders := proc.Folders{Root: filepath.Join(out, mapreduce.PrivateName)}
	mine := func() bool {
		c, err := ReadClaimed(folders.Root)
		return err == nil && c != nil && c.Run == name && c.Server == server
	}
	if !mine() {
		return nil
	}
	lock, err := proc.LockRun(folders)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer lock.Close()
	if !mine() {
		return nil
	}
	err = (&Claimed{}).release(folders.Root)
	if isMissing(folders.Journal()) {
		folders.Run = name
		(&Engine{out: out, folders: folders}).withdraw()
	}
	return err
}

// refuseClaimed is the error of an output folder that belongs to a job of a server, nil if it can be taken. With
// --force the folder of a server that is gone can.
func (e *Engine) refuseClaimed() error {
	c, err := ReadClaimed(e.folders.Root)
	switch {
	case err != nil:
		return Failure{err}
	case c == nil:
		return nil
	case e.server != nil && e.server.Dir == c.Server:
		if e.server.Alive == nil || !e.server.Alive(c.Run) {
			return nil // it was never accepted, or has ended
		}
		return fmt.Errorf("%s: another job of the server writes there; wait for it or cancel it ('tailcut jobs' lists them), or name another --output", e.out)
	case c.answers():
		return fmt.Errorf("%s: a job of the server at %s writes there; wait for it or cancel it ('tailcut jobs --server %s' lists them), or name another --output",
			e.out, c.Place, pasteWord(c.Place))
	case e.o.Force:
		return c.release(e.folders.Root)
	}
	return fmt.Errorf("%s: belongs to a job of the server in %s, which does not answer; start it and the job goes on (tailcut serve --dir %s), name another --output, or take the folder with --force",
		e.out, c.Server, pasteWord(c.Server))
}
