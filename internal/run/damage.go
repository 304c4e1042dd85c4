package run

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/trace"
)

// unreadable says of a journal with which no run can go on what is wrong with it, what there is of results, and what to
// do: first what loses nothing. What the system says of the file needs no advice.
func (e *Engine) unreadable(err error) error {
	var system *fs.PathError
	if err == nil || errors.As(err, &system) {
		return err
	}
	what := "no run can go on with it"
	var version *trace.VersionError
	if errors.As(err, &version) {
		what = "go on with that version"
	}
	advice := fmt.Sprintf("name another --output, or move the folder away (mv %s %s), to run the job from the start; ", pasteWord(e.out), pasteWord(e.out+".old"))
	if e.cloud != nil {
		advice = "name another --output to run the job from the start; "
	}
	return Failure{fmt.Errorf("%w: %s; %s; %s--force removes the files of this run, and no others", err, what, e.salvage(), advice)}
}

// salvage says what there is of the results of a run whose journal cannot be read.
func (e *Engine) salvage() string {
	if e.cloud != nil {
		return fmt.Sprintf("what is in %s stays as it is", e.out)
	}
	if e.complete() {
		return fmt.Sprintf("the finished result stands ('tailcut verify %s' checks it)", pasteWord(e.out))
	}
	done, _ := filepath.Glob(filepath.Join(globText(e.folders.Root), "*", "done", "*", "*")) // the pattern is good
	switch parts, _ := filepath.Glob(filepath.Join(globText(e.out), "part-*[0-9]")); {
	case len(parts) > 0:
		return fmt.Sprintf("%s of the result can be seen, but not all", show.Count(len(parts), "part"))
	case len(done) > 0:
		return fmt.Sprintf("nothing is published, and %s of tasks are below %s", show.Count(len(done), "result"), e.folders.Root)
	}
	return "nothing is published"
}

// globText is a pattern that only a text itself matches.
func globText(text string) string {
	var pattern []byte
	for i := range len(text) {
		if c := text[i]; c == '*' || c == '?' || c == '[' || c == '\\' {
			pattern = append(pattern, '\\')
		}
		pattern = append(pattern, text[i])
	}
	return string(pattern)
}
