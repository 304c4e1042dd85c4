package trace

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tailcut/tailcut/internal/disk"
	"github.com/tailcut/tailcut/sched"
)

// A journal is the memory of a live run: a header that says what runs, then one record per call of sched.Core.Advance
// with the facts it was given, the decisions it made, and the outputs of the attempts that won, where they are small.
// A record is appended before its decisions are carried out, so whatever happened in the world is in the file, and a
// restart that replays the file knows all of it. What outlives a crash of the system waits for Sync, see
// journal_sync.go.
//
// On disk: the 8 bytes of journalMagic, then records. A record is
//
//	length uint32 | CRC-32C of the length uint32 | CRC-32C of the payload uint32 | payload
//
// in little-endian order. The first payload is the header as JSON. The others begin with how many bytes of the journal
// the disk had for sure when they were written, an unsigned varint, and a batch follows (see journal_batch.go). Where
// none does, the record says that alone: a journal that is closed ends so. What a segment begins with has neither. The
// checksum of a payload goes on from that of the header, so that no record of another journal checks in this one.

// JournalSchema names the format. In v1 there were no outputs, in v2 no sites. A reader takes v3 to v6, too, in which
// records do not say what the disk has. Runs of v3 did not keep what they have under their names, those of v5 have
// attempts that wait until they begin (JournalHeader.Waits), and v6 are segments of an engine of many jobs.
const JournalSchema = "tailcut.journal/v7"

const (
	schemaUnnamed = "tailcut.journal/v3"
	schemaNamed   = "tailcut.journal/v4"
	schemaWaits   = "tailcut.journal/v5"
	schemaMany    = "tailcut.journal/v6"

	journalMagic = "tailcut\n"
	frameSize    = 12
	maxRecord    = 1 << 30
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ErrCorrupt is wrapped by the errors of a journal that is damaged before its end.
var ErrCorrupt = errors.New("the journal is damaged")

// VersionError is wrapped by the error of a journal that this version of the tool cannot read.
type VersionError struct{ Version string } // that wrote it

// Error names the version.
func (e *VersionError) Error() string {
	return fmt.Sprintf("another version of tailcut (%s) wrote it", e.Version)
}

// JournalRules numbers the core's rules, by which a journal is replayed. Before 1, where journals have no number, the
// failure of a clone counted as any other. Before 2 policies could kill an attempt at the instant of its launch.
const JournalRules = 2

// JournalHeader says what a run is: enough to rebuild its core and its executor.
type JournalHeader struct {
	Schema   string           `json:"schema"`
	Version  string           `json:"version"`         // of the tool that wrote it
	Run      string           `json:"run"`             // unique name of the run
	Started  time.Time        `json:"started"`         // wall clock at sched.Time 0
	Rules    int              `json:"rules,omitempty"` // JournalRules of the writer
	Policy   string           `json:"policy"`          // canonical specification
	Seed     uint64           `json:"seed"`
	Limits   sched.Limits     `json:"limits"`
	Waits    bool             `json:"waits,omitempty"` // attempts wait until they begin, see sched.Core.WaitToBegin
	Machines []JournalMachine `json:"machines"`
	// ClassNames are those of the classes of slots, by sched.Class; none if all slots are alike.
	ClassNames []string       `json:"class_names,omitempty"`
	Network    *sched.Network `json:"network,omitempty"` // of the sites of Machines; nil if there are none
	Job        sched.JobSpec  `json:"job"`
	Stages     []string       `json:"stages"` // names, in the order of Job.Stages
	// Segment is nil in the journal of a run, which has one job. One that has many has none of Job, Stages, Command and
	// Work.
	Segment *JournalSegment `json:"segment,omitempty"`
	Command json.RawMessage `json:"command"` // what was asked for; a run is resumed only by the same
	Work    json.RawMessage `json:"work"`    // what the executor needs to run an attempt
}

// Folder returns the name of the folder beside the journal in which the run keeps all else; "" if that is the folder of
// the journal.
func (h *JournalHeader) Folder() string {
	if h.Schema == schemaUnnamed {
		return ""
	}
	return h.Run
}

// Classes returns how many classes of slots there are. Machines that were there once may have others.
func (h *JournalHeader) Classes() int {
	if len(h.ClassNames) > 0 {
		return len(h.ClassNames)
	}
	n := 1
	for _, m := range h.Machines {
		n = max(n, int(m.Class)+1)
	}
	return n
}

// ClassName returns the name of a class of slots; "" where all slots are alike.
func (h *JournalHeader) ClassName(c sched.Class) string {
	if int(c) >= len(h.ClassNames) {
		return ""
	}
	return h.ClassNames[c]
}

// JournalMachine is a machine of the run; ids are positions.
type JournalMachine struct {
	Name  string       `json:"name"`
	Site  sched.SiteID `json:"site"`
	Class sched.Class  `json:"class,omitempty"` // of its slots
	Slots int          `json:"slots"`
}

// Journal is a journal open for appending. Only Sync and SyncTo can be called from several goroutines.
type Journal struct {
	file  *os.File
	buf   []byte
	size  atomic.Int64
	disk  durable
	seed  uint32 // with which checksums of payloads begin
	tells bool   // records say what the disk has
	later bool   // something has been written that no later record tells of
}

// unborn is what the name of a journal ends with until it is whole.
const unborn = ".new"

// CreateJournal makes a new journal. The file must not exist. It appears under its name once its header is on disk, so
// that a crash leaves a journal or none. The state is that of a segment: what was before its first batch.
func CreateJournal(path string, h *JournalHeader, state ...[]byte) (*Journal, error) {
	h.Schema = JournalSchema
	payload, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if _, err := os.Lstat(path); err == nil {
		return nil, fmt.Errorf("%s: %w", path, fs.ErrExist)
	}
	f, err := os.OpenFile(path+unborn, os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	j := &Journal{file: f, buf: append([]byte(journalMagic), make([]byte, frameSize)...)}
	j.buf = append(j.buf, payload...)
	err = j.write(len(journalMagic))
	j.tells, j.seed = true, crc32.Checksum(payload, castagnoli)
	for i := range state {
		if err == nil {
			j.buf = append(append(j.buf[:0], make([]byte, frameSize)...), state[i]...)
			err = j.write(0)
		}
	}
	if err == nil {
		err = j.Sync()
	}
	if err == nil {
		err = bear(path+unborn, path)
	}
	if err != nil {
		f.Close()
		_, _ = os.Remove(path+unborn), os.Remove(path) // they may be what takes the last room
		if disk.Full(err) && !errors.Is(err, ErrNoRoom) {
			err = fmt.Errorf("%w: %w", ErrNoRoom, err)
		}
		return nil, err
	}
	return j, nil
}

// bear gives a file its name for good.
func bear(from, path string) error {
	if err := os.Rename(from, path); err != nil {
		return err
	}
	if err := disk.SyncFolder(filepath.Dir(path)); err != nil {
		return err
	}
	return nil
}

// ErrNoRoom is wrapped by the error of a record that was not written, for want of room on the disk. It can be written
// again.
var ErrNoRoom = errors.New("no room for the journal")

// CheckRoom returns an error that wraps ErrNoRoom if fewer bytes are free where a folder is. Of quotas it knows
// nothing.
func CheckRoom(folder string, need int64) error {
	free, err := disk.Free(folder)
	if err != nil || free >= need {
		return nil // or writing will tell
	}
	return fmt.Errorf("%w: %d kB are free where %s is, and %d kB have to be: make room there and try again", ErrNoRoom, free>>10, folder, need>>10)
}

// Append writes the record of one call of Advance. From then on the end of the engine cannot lose it. A crash of the
// system can, with all after it, until Sync returns; if it is wanted, that is done soon.
func (j *Journal) Append(b *Batch, wanted bool) error {
	j.begin()
	j.buf = appendBatch(j.buf, b)
	err := j.wait()
	if err == nil {
		err = j.write(0)
	}
	if err != nil {
		return err
	}
	j.later = true
	if wanted {
		j.syncSoon()
	}
	return j.disk.failed()
}

// begin begins a record in the buffer.
func (j *Journal) begin() {
	j.buf = append(j.buf[:0], make([]byte, frameSize)...)
	if j.tells {
		j.buf = binary.AppendUvarint(j.buf, uint64(j.Synced()))
	}
}

// write fills in the frame that begins at start of the buffer and writes the buffer.
func (j *Journal) write(start int) error {
	frame, payload := j.buf[start:start+frameSize], j.buf[start+frameSize:]
	if len(payload) > maxRecord {
		return fmt.Errorf("%s: a record of %d bytes is over the limit", j.file.Name(), len(payload))
	}
	binary.LittleEndian.PutUint32(frame, uint32(len(payload)))
	binary.LittleEndian.PutUint32(frame[4:], crc32.Checksum(frame[:4], castagnoli))
	binary.LittleEndian.PutUint32(frame[8:], crc32.Update(j.seed, castagnoli, payload))
	if _, err := j.file.Write(j.buf); err != nil {
		if err = j.named(err); disk.Full(err) && j.file.Truncate(j.size.Load()) == nil { // of the part that was written
			err = fmt.Errorf("%w: %w", ErrNoRoom, err)
		}
		return err
	}
	j.size.Add(int64(len(j.buf)))
	return nil
}

// named has an error name the journal as it is called since it is whole.
func (j *Journal) named(err error) error {
	if of := (*fs.PathError)(nil); errors.As(err, &of) {
		return &fs.PathError{Op: of.Op, Path: strings.TrimSuffix(of.Path, unborn), Err: of.Err}
	}
	return err
}

// Size returns how long the journal is, in bytes.
func (j *Journal) Size() int64 { return j.size.Load() }

// Close closes the file after syncing it. The last record says that it is synced, and need not be.
func (j *Journal) Close() error {
	err := j.Sync()
	if err == nil && j.tells && j.later {
		j.begin()
		_ = j.write(0) // if there is no room, it can be missed
	}
	j.disk.mu.Lock()
	defer j.disk.mu.Unlock()
	j.disk.closed = true
	return errors.Join(err, j.file.Close())
}

// JournalReader reads a journal from its beginning.
type JournalReader struct {
	Header JournalHeader
	State  [][]byte // of a segment, see CreateJournal
	data   []byte
	pos    int
	path   string
	batch  Batch
	seed   uint32 // as in a Journal
	tells  bool
}

// Batch is the record of one call of sched.Core.Advance.
type Batch struct {
	Now       sched.Time
	Facts     []sched.Event
	Decisions []sched.Decision
	Outputs   []Output
	Settings  *Settings     // nil but in the batch with which a run was taken up otherwise than before
	Jobs      []*JournalJob // submitted before the facts, in this order
	Told      []sched.JobID // whose ends their owner knows
}

// Empty tells whether there is nothing in the batch for the core to be told of, or for others to be kept.
func (b *Batch) Empty() bool { return len(b.Facts) == 0 && len(b.Jobs) == 0 && len(b.Told) == 0 }

// Output is what an attempt wrote, for a Commit among the decisions of the same batch.
type Output struct {
	Attempt sched.AttemptID
	Data    []byte // never nil
}

// OpenJournalReader reads the file and its header.
func OpenJournalReader(path string) (*JournalReader, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return NewJournalReader(path, data)
}

// NewJournalReader reads the header of the journal data, which errors call path.
func NewJournalReader(path string, data []byte) (*JournalReader, error) {
	r := &JournalReader{data: data, path: path}
	if len(data) < len(journalMagic) || string(data[:len(journalMagic)]) != journalMagic {
		return nil, fmt.Errorf("%s: not a journal: it does not begin with %q", path, journalMagic)
	}
	r.pos = len(journalMagic)
	payload, err := r.frame()
	if err == io.EOF {
		return nil, fmt.Errorf("%s: the journal has no header: %w", path, ErrCorrupt)
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(payload, &r.Header); err != nil {
		return nil, fmt.Errorf("%s: header: %w: %w", path, err, ErrCorrupt)
	}
	switch r.Header.Schema {
	case schemaUnnamed, schemaNamed, schemaWaits:
		r.Header.Segment = nil
	case schemaMany:
		if r.Header.Segment == nil {
			return nil, r.noSegment()
		}
	case JournalSchema:
		r.seed = crc32.Checksum(payload, castagnoli)
	default:
		return nil, fmt.Errorf("%s: schema is %q, expected %q: %w", path, r.Header.Schema, JournalSchema, &VersionError{r.Header.Version})
	}
	if r.Header.Segment != nil {
		if err := r.readState(); err != nil {
			return nil, err
		}
	}
	r.tells = r.Header.Schema == JournalSchema
	return r, nil
}

// Next returns the next batch, valid until the call after, or io.EOF at the end. A record that was being written when
// the writer died counts as the end: see Size.
func (r *JournalReader) Next() (*Batch, error) {
	for {
		at := r.pos
		payload, err := r.frame()
		if err != nil {
			return nil, err
		}
		if r.tells {
			had, n := binary.Uvarint(payload)
			if n <= 0 || had > uint64(at) {
				return nil, fmt.Errorf("%s: the record at byte %d says that more was before it: %w", r.path, at, ErrCorrupt)
			}
			if payload = payload[n:]; len(payload) == 0 {
				continue
			}
		}
		if err := r.batch.decode(payload); err != nil {
			return nil, fmt.Errorf("%s: record before byte %d: %w: %w", r.path, r.pos, err, ErrCorrupt)
		}
		return &r.batch, nil
	}
}

// Size returns the length of what has been read, in bytes: after io.EOF, where the next record belongs.
func (r *JournalReader) Size() int64 { return int64(r.pos) }

// Torn tells, after io.EOF, whether bytes of an unfinished record follow.
func (r *JournalReader) Torn() bool { return r.pos < len(r.data) }

// frame returns the next payload, or io.EOF where the journal ends.
func (r *JournalReader) frame() ([]byte, error) {
	rest := r.data[r.pos:]
	if allZero(rest) { // where data had not arrived
		return nil, io.EOF
	}
	payload, wrong, after := check(rest, r.seed)
	if wrong != "" {
		return nil, r.bad(wrong, after)
	}
	r.pos += frameSize + len(payload)
	return payload, nil
}

// check returns the payload of the record that data begins with, or what is wrong with it and what follows it.
func check(data []byte, seed uint32) (payload []byte, wrong string, after []byte) {
	if len(data) < frameSize {
		return nil, "end", nil
	}
	n := binary.LittleEndian.Uint32(data)
	if crc32.Checksum(data[:4], castagnoli) != binary.LittleEndian.Uint32(data[4:]) || n > maxRecord {
		return nil, "length", data[frameSize:]
	}
	end := frameSize + int(n)
	if end > len(data) {
		return nil, "end", nil
	}
	payload = data[frameSize:end]
	if crc32.Update(seed, castagnoli, payload) != binary.LittleEndian.Uint32(data[8:]) {
		return nil, "checksum", data[end:]
	}
	return payload, "", nil
}

// bad judges a record that does not check. If the disk may have lacked it when the writer died, it is the end, and what
// follows it is what the disk happened to have: see docs/decisions/0040-a-lost-page-is-no-damage.md. Else it is damage.
// Of a journal that does not tell what the disk had, only the last record can have been lacking.
func (r *JournalReader) bad(what string, after []byte) error {
	if r.tells && !r.had() || !r.tells && allZero(after) {
		return io.EOF
	}
	return fmt.Errorf("%s: bad %s of the record at byte %d: %w", r.path, what, r.pos, ErrCorrupt)
}

// had tells whether a whole record somewhere behind the next one says that the disk had that.
func (r *JournalReader) had() bool {
	for at := r.pos + 1; at < len(r.data); at++ {
		payload, wrong, _ := check(r.data[at:], r.seed)
		if wrong != "" {
			continue
		}
		if size, n := binary.Uvarint(payload); n > 0 && size > uint64(r.pos) {
			return true
		}
		at += frameSize + len(payload) - 1
	}
	return false
}

func allZero(b []byte) bool {
	for _, x := range b {
		if x != 0 {
			return false
		}
	}
	return true
}

// ResumeJournal opens a journal for appending behind what a reader has read to its end, and cuts off what follows. It
// stays of the version that it is of.
func ResumeJournal(path string, r *JournalReader) (*Journal, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(f.Truncate(r.Size()), f.Sync()); err != nil {
		f.Close()
		return nil, err
	}
	j := &Journal{file: f, seed: r.seed, tells: r.tells}
	j.size.Store(r.Size())
	j.disk.size.Store(r.Size())
	return j, nil
}
