package serve

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/tailcut/tailcut/internal/disk"
	"github.com/tailcut/tailcut/internal/run"
)

// claims is a file with the output folders that were claimed for submissions, from just before each was: a server that
// was killed before it took a job in has left a folder that belongs to nobody, and only this says where.
type claims struct {
	path string
	mu   sync.Mutex
	file *os.File
	size int
	most int              // size at which the file is begun anew
	all  map[string]claim // by run, since the file was begun
}

type claim struct {
	Run    string `json:"run"`
	Output string `json:"output"`
}

// fewClaims is the least size at which the file is begun anew, with what is needed of it.
const fewClaims = 64 << 10

// openClaims returns the claims of earlier servers.
func openClaims(path string) (*claims, error) {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	c := &claims{path: path, all: map[string]claim{}}
	for line := range strings.Lines(string(text)) {
		var one claim
		if json.Unmarshal([]byte(line), &one) == nil { // the last may be torn, and nothing was claimed for it
			c.all[one.Run] = one
		}
	}
	return c, c.rewrite(func(string) bool { return true })
}

// note writes down that a folder will be claimed. needed tells of which runs it is still to be known.
func (c *claims) note(name, output string, needed func(run string) bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all[name] = claim{name, output}
	if c.size > c.most {
		return c.rewrite(needed)
	}
	return cmp.Or(c.write(c.all[name]), c.file.Sync())
}

// rewrite begins the file anew, with what is needed of it. Next time it does so when the file is twice as long: many
// jobs that are alive do not have it written for each of them.
func (c *claims) rewrite(needed func(run string) bool) error {
	draft, err := os.OpenFile(c.path+".new", os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	last := c.file
	c.file, c.size = draft, 0
	for name, one := range c.all {
		if !needed(name) {
			delete(c.all, name)
			continue
		}
		err = cmp.Or(err, c.write(one)) // of many that find no room the first says it
	}
	c.most = max(fewClaims, 2*c.size)
	err = cmp.Or(err, draft.Sync())
	if err == nil {
		err = os.Rename(c.path+".new", c.path)
	}
	if last != nil {
		last.Close()
	}
	return cmp.Or(err, disk.SyncFolder(filepath.Dir(c.path)))
}

func (c *claims) write(one claim) error {
	text, err := json.Marshal(one)
	if err != nil {
		return err
	}
	n, err := c.file.WriteAt(append(text, '\n'), int64(c.size))
	c.size += n
	return err
}

// clear gives back the folders that earlier servers have claimed for jobs that they have not taken in. Those that
// cannot be looked at now are looked at by the next server.
func (c *claims) clear(server string, alive func(run string) bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, one := range c.all {
		if alive(name) || run.Forsake(one.Output, name, server) == nil {
			delete(c.all, name)
		}
	}
	return c.rewrite(func(string) bool { return true })
}
