package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// ServerJournal is the name of the folder with a server's journal, in the folder of the server.
const ServerJournal = "journal"

// segmentsIn returns the segments of a server's journal, which is in a folder or below it; none if it is of no server.
func segmentsIn(folder string) (paths []string, err error) {
	for _, at := range []string{folder, filepath.Join(folder, ServerJournal)} {
		all, err := trace.Segments(at)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			continue // a file
		}
		for i, n := range all {
			if i > 0 && n != all[i-1]+1 {
				return nil, fmt.Errorf("%s: segment %d follows segment %d; the ones between are missing", at, n, all[i-1])
			}
			paths = append(paths, trace.SegmentPath(at, n))
		}
		if len(paths) > 0 {
			return paths, nil
		}
	}
	return nil, nil
}

// replayChain compares the decisions of a server's journal with those of a fresh core, segment by segment.
func (j *Journal) replayChain() (*Replay, error) {
	res := &Replay{Schema: "tailcut.replay/v1", Policy: j.Header.Policy, Equal: true, Segments: len(j.segments)}
	torn, err := live.Chain(j.segments, policiesOf, func(_ *sched.Core, b *trace.Batch) { res.add(b) })
	if err != nil {
		return nil, err
	}
	res.Torn = torn
	return res, nil
}
