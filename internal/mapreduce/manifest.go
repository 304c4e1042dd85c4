package mapreduce

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/tailcut/tailcut/internal/disk"
)

// ManifestName is the file that says what a result consists of. It is written before SuccessName.
const ManifestName = "_MANIFEST.json"

// ManifestSchema names the format.
const ManifestSchema = "tailcut.manifest/v1"

// Manifest says what a published result consists of, and where each piece is from.
type Manifest struct {
	Schema string  `json:"schema"`
	Run    string  `json:"run"` // unique name
	Parts  []Entry `json:"parts"`
}

// Entry is a file, a folder or a link of a result. Of the two latter, and of what is neither, there is no hash.
type Entry struct {
	Path    Path   `json:"path"` // below the output folder, with slashes
	Stage   string `json:"stage"`
	Task    int    `json:"task"`
	Attempt int    `json:"attempt"` // that won, from 0
	Kind    string `json:"kind,omitempty"`
	Size    int64  `json:"size"`
	SHA256  string `json:"sha256,omitempty"`
	Link    Path   `json:"link,omitempty"`    // where it leads
	Command string `json:"command,omitempty"` // that made it, {} in it its task; only where a run had several
}

// Kinds of entries; a file has none.
const (
	KindFolder = "folder"
	kindLink   = "link"
	kindOther  = "other"

	KindNothing = "nothing" // what Compare is told of a path where nothing is
)

// Part is the result of a task as it is to be published: a file or its content, and perhaps a folder of files.
type Part struct {
	Stage         string
	Folder        string // below the output, for jobs with several stages; "" for the output itself
	Task, Attempt int
	Command       string // that made it; "" if all are of one
	File          string // to be published as PartName; "" if Data is the content
	Data          []byte
	Files         string // to be moved to PartName with FilesSuffix; nothing need be there

	name string // instead of PartName; "" for that
}

// FilesSuffix ends the name of the folder with the files of a part.
const FilesSuffix = ".files"

func (p *Part) path() string { return filepath.Join(p.Folder, p.base()) }

func (p *Part) base() string { return cmp.Or(p.name, PartName(p.Task)) }

// StderrName is what an output folder calls the folder of what tasks wrote to standard error, where that is kept.
const StderrName = "_stderr"

// StderrPart is what the attempt of a task that won wrote to standard error, which is in a file.
func StderrPart(stage string, several bool, task, attempt int, file string) Part {
	return Part{Stage: stage, Folder: StderrName, Task: task, Attempt: attempt, File: file, name: StderrBase(stage, several, task)}
}

// StderrBase returns the name of a task's file in the folder StderrName. Where there are several stages it begins with
// the stage's.
func StderrBase(stage string, several bool, task int) string {
	name := fmt.Sprintf("%05d", task)
	if several {
		name = stage + "-" + name
	}
	return name
}

// sumOfNothing is the hash of a part without content, which the parts of many a job are.
var sumOfNothing = hexSum(nil)

func hexSum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// describe returns what a part consists of: itself, and its files.
func (p *Part) describe() (e Entry, files []Entry, err error) {
	base := Entry{Path: Path(filepath.ToSlash(p.path())), Stage: p.Stage, Task: p.Task, Attempt: p.Attempt, Command: p.Command}
	e = base
	if p.empty() {
		e.SHA256 = sumOfNothing
	} else if p.File == "" {
		e.Size, e.SHA256 = int64(len(p.Data)), hexSum(p.Data)
	} else if err := e.look(p.File); err != nil {
		return e, nil, err
	} else if e.Kind != "" {
		return e, nil, fmt.Errorf("%s: expected a file", p.File)
	}
	if p.Files == "" {
		return e, nil, nil
	}
	base.Path += FilesSuffix
	files, err = describeTree(p.Files, base)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if len(files) == 1 && files[0].Kind == KindFolder { // nothing is in it
		files = nil
	}
	return e, files, err
}

// describeTree lists a path and all below it; like is the entry of the path but for what is there.
func describeTree(root string, like Entry) (all []Entry, err error) {
	err = filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		e := like
		if path != root {
			rest, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			e.Path += Path("/" + filepath.ToSlash(rest))
		}
		if err := e.look(path); err != nil {
			return err
		}
		all = append(all, e)
		return nil
	})
	return all, err
}

// look tells what is at a path. Links are not followed. A file that may not be read has no hash.
func (e *Entry) look(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	e.Kind, e.Size, e.SHA256, e.Link = "", 0, "", ""
	switch mode := info.Mode(); {
	case mode.IsDir():
		e.Kind = KindFolder
	case mode&fs.ModeSymlink != 0:
		e.Kind = kindLink
		to, err := os.Readlink(path)
		e.Link = Path(to)
		return err
	case !mode.IsRegular():
		e.Kind = kindOther
	default:
		e.Size, e.SHA256, err = hashFile(path)
		if errors.Is(err, fs.ErrPermission) {
			e.Size, err = info.Size(), nil
		}
		return err
	}
	return nil
}

func hashFile(path string) (size int64, sum string, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	h := sha256.New()
	size, err = io.Copy(h, f)
	return size, hex.EncodeToString(h.Sum(nil)), err
}

// Encode returns the manifest as a file has it: a line for each entry.
func (m *Manifest) Encode() ([]byte, error) {
	var text bytes.Buffer
	fmt.Fprintf(&text, "{\"schema\":%q,\"run\":%q,\"parts\":[", ManifestSchema, m.Run)
	for i := range m.Parts {
		line, err := json.Marshal(&m.Parts[i])
		if err != nil {
			return nil, err
		}
		if i > 0 {
			text.WriteByte(',')
		}
		text.WriteByte('\n')
		text.Write(line)
	}
	text.WriteString("\n]}\n")
	return text.Bytes(), nil
}

// write makes the manifest a file, at once and durably.
func (m *Manifest) write(path string) error {
	text, err := m.Encode()
	if err != nil {
		return err
	}
	temp := filepath.Join(filepath.Dir(path), "."+strings.TrimPrefix(filepath.Base(path), ".")+".tmp")
	if err := createWhole(temp, bytes.NewReader(text), true); err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return err
	}
	return disk.SyncFolder(filepath.Dir(path))
}

// createWhole makes a file that was not there, or was left by somebody who was cut short, and follows no link.
func createWhole(path string, from io.Reader, sync bool) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		if err := os.Remove(path); err != nil {
			return err
		}
		f, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	}
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	if err == nil && sync {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// ReadManifest reads a manifest. The error says what is wrong with it.
func ReadManifest(path string) (*Manifest, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return ParseManifest(path, data)
}

// ParseManifest reads the content of a manifest, whose errors begin with a name.
func ParseManifest(name string, data []byte) (*Manifest, error) {
	m := &Manifest{}
	if err := json.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("%s: not a manifest: %w", name, err)
	}
	if m.Schema != ManifestSchema {
		return nil, fmt.Errorf("%s: schema is %q, expected %q", name, m.Schema, ManifestSchema)
	}
	for i := range m.Parts {
		if p := string(m.Parts[i].Path); !filepath.IsLocal(filepath.FromSlash(p)) || p == "." {
			return nil, fmt.Errorf("%s: parts[%d]: path %q is not below the output", name, i, p)
		}
	}
	return m, nil
}

// folders returns the folders, below the output, that parts are in.
func (m *Manifest) folders() []string {
	var all []string
	for i := range m.Parts {
		path := string(m.Parts[i].Path)
		folder := ""
		if at := strings.Index(path, "/"); at >= 0 && !strings.HasPrefix(path, "part-") {
			folder = path[:at]
		}
		if !slices.Contains(all, folder) {
			all = append(all, folder)
		}
	}
	return all
}

// IsPart tells whether the entry is a task's result itself, and no file beside it.
func (e *Entry) IsPart() bool {
	return !strings.Contains(string(e.Path), FilesSuffix) && !strings.HasPrefix(string(e.Path), StderrName+"/")
}

// Count returns how many tasks' results there are and how many bytes all files have.
func (m *Manifest) Count() (parts int, bytes int64) {
	for i := range m.Parts {
		e := &m.Parts[i]
		if bytes += e.Size; e.IsPart() {
			parts++
		}
	}
	return parts, bytes
}

// Made is how many parts of a result a command has made.
type Made struct {
	Command string `json:"command"`
	Parts   int    `json:"parts"`
}

// Made counts the parts by the commands that made them, in the order of the parts; nil if all are of one.
func (m *Manifest) Made() (all []Made) {
	for i := range m.Parts {
		e := &m.Parts[i]
		if e.Command == "" || strings.Contains(string(e.Path), FilesSuffix) {
			continue
		}
		k := slices.IndexFunc(all, func(x Made) bool { return x.Command == e.Command })
		if k < 0 {
			k, all = len(all), append(all, Made{Command: e.Command})
		}
		all[k].Parts++
	}
	return all
}
