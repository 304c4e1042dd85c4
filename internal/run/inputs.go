package run

import (
	"context"

	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/mapreduce"
	"github.com/tailcut/tailcut/internal/show"
)

// tellNew tells of files that the job's paths name by now and that the run does not read, because a run that is taken
// up reads the files that it was begun with. Where the input cannot be listed any more nothing is said: the attempts
// will say what is gone.
func (e *Engine) tellNew(ctx context.Context, work *jobfile.Work) {
	if e.cloud != nil || work.MapReduce == nil {
		return
	}
	files, err := mapreduce.ListInputs(ctx, e.Job.MapReduce.Inputs)
	if err != nil {
		return
	}
	read := map[mapreduce.Path]bool{}
	for _, split := range work.MapReduce.Stages[0].Splits {
		for i := range split {
			read[split[i].Path] = true
		}
	}
	added, first := 0, mapreduce.Path("")
	for i := range files {
		if f := &files[i]; f.Size > 0 && !read[f.Path] { // empty files are in no split
			if added == 0 {
				first = f.Path
			}
			added++
		}
	}
	if added > 0 {
		e.notice("warning: this run does not read %s that came after it began, such as %s; to read all, begin a new run with another --output, or with --force",
			show.Count(added, "file"), first)
	}
}
