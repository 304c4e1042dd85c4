package proc

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/mapreduce"
	"github.com/tailcut/tailcut/internal/strides"
)

// work is what attempts do, as processes and folders of this machine.
type work struct{ *jobfile.Work }

// How long a map attempt works at least between two points from which another can go on. A mapper's command is started
// anew for each stride, and many need half a second for that.
const (
	saveEvery       = 200 * time.Millisecond
	saveMapperEvery = 10 * time.Second
)

// command returns the process of an attempt whose folder is dir, and which goes on behind the stride from. Map attempts
// read at a pace, 0 for none.
func (w work) command(self string, f Folders, a live.Attempt, slot int, dir string, from *strides.Stride, pace float64) (*jobfile.Command, error) {
	if w.Array != nil {
		return w.arrayCommand(f, a, slot, dir, from)
	}
	var upstream []string
	earlier, first, end := w.MapReduce.Reads(a.Stage, a.Index)
	for i := first; i < end; i++ {
		upstream = append(upstream, f.Done(earlier, i))
	}
	spec, err := w.MapReduce.Attempt(a.Stage, a.Index, upstream, dir)
	if err != nil {
		return nil, err
	}
	spec.Account, spec.Pace = f.Account(), pace
	if w.MapReduce.Resumes(a.Stage) {
		if spec.SaveEvery = saveEvery; spec.Operator.ByLine {
			spec.SaveEvery = saveMapperEvery
		}
	}
	if from != nil {
		spec.Resume = &mapreduce.Resume{Offset: from.Offset()}
		for _, s := range from.Chain() {
			spec.Resume.Runs = append(spec.Resume.Runs, s.Path)
		}
	}
	data, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	return &jobfile.Command{Path: self, Args: []string{attemptName}, Stdin: data}, nil
}

// parts lists what is to be published: the results of the last stage, or of all stages of an array.
func (w work) parts(f Folders, won winners, works []*jobfile.Work) (all []mapreduce.Part) {
	if w.Array != nil {
		return w.arrayParts(f, won, works)
	}
	last := len(w.MapReduce.Stages) - 1
	for i := range w.MapReduce.Stages[last].Tasks {
		all = append(all, mapreduce.Part{
			Stage: w.MapReduce.Stages[last].Name, Task: i, Attempt: won.of(last, i).number(), File: mapreduce.ResultPath(f.Done(last, i)),
		})
	}
	return all
}

// assemble makes the folder of an attempt that has ended well the folder of a result.
func (w work) assemble(stage int, dir, stdout string) error {
	if w.Array == nil {
		return nil
	}
	if w.Array.Stages[stage].Resumable {
		if err := gather(dir, stdout); err != nil {
			return err
		}
	}
	if err := assembleArray(dir); err != nil {
		return err
	}
	return os.Rename(stdout, filepath.Join(dir, jobfile.StdoutName))
}

// stages returns the names of the stages.
func (w work) stages() (names []string) {
	if w.Array == nil {
		for i := range w.MapReduce.Stages {
			names = append(names, w.MapReduce.Stages[i].Name)
		}
		return names
	}
	for i := range w.Array.Stages {
		names = append(names, w.Array.Stages[i].Name)
	}
	return names
}

// resumable tells for each stage whether its attempts can go on from what others have saved.
func (w work) resumable(stages int) []bool {
	can := make([]bool, stages)
	for s := range can {
		if w.Array != nil {
			can[s] = w.Array.Stages[s].Resumable
		} else {
			can[s] = w.MapReduce.Resumes(s)
		}
	}
	return can
}

// saved returns the file with what came of an attempt's stride that begins at an offset.
func (w work) saved(dir string, begin int64) string {
	if w.Array != nil {
		return segmentPath(dir, begin)
	}
	return mapreduce.SavedPath(dir, begin)
}

// keepsStdout tells whether what an attempt writes to standard output is part of its result.
func (w work) keepsStdout() bool { return w.Array != nil }

// inline tells for each stage whether the journal may keep its results: if no attempt looks for them in a folder.
func (w work) inline(stages int) []bool {
	may := make([]bool, stages)
	if w.Array == nil {
		return may
	}
	for s := range may {
		may[s] = !slices.ContainsFunc(w.Array.Stages, func(st jobfile.Stage) bool {
			return slices.Contains(st.After, s) || slices.Contains(st.AfterEach, s)
		})
	}
	return may
}

// sync makes a result durable, in its folder.
func (w work) sync(dir string) error {
	if w.Array != nil {
		return syncTree(dir)
	}
	return nil // a map/reduce attempt has done so itself
}
