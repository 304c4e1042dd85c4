package history

import (
	"cmp"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A rolling event log of Spark is a folder eventlog_v2_APP with files events_1_APP, events_2_APP, ... and an empty
// appstatus_APP. Compaction replaces the files up to number N by events_N_APP.compact, which lacks the tasks of jobs
// that had ended.

type rolledFile struct {
	path    string
	number  int
	compact bool
}

// rolledNumber takes the number from the name of a rolled file.
func rolledNumber(name string) (number int, compact, ok bool) {
	rest, ok := strings.CutPrefix(name, "events_")
	if !ok {
		return 0, false, false
	}
	digits, _, ok := strings.Cut(rest, "_")
	n, err := strconv.Atoi(digits)
	return n, strings.HasSuffix(name, ".compact"), ok && err == nil
}

// applicationsOf returns whose files they are, by their names.
func applicationsOf(files []rolledFile) (all []string) {
	for _, f := range files {
		_, rest, _ := strings.Cut(strings.TrimPrefix(filepath.Base(f.path), "events_"), "_")
		application, _, _ := strings.Cut(rest, ".")
		all = append(all, application)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// inOrder returns the paths of what is to be read: the last compacted file and all after it.
func inOrder(files []rolledFile) []string {
	compacted := -1
	for _, f := range files {
		if f.compact {
			compacted = max(compacted, f.number)
		}
	}
	files = slices.DeleteFunc(files, func(f rolledFile) bool {
		return f.number < compacted || f.number == compacted && !f.compact
	})
	slices.SortFunc(files, func(a, b rolledFile) int { return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.path, b.path)) })
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = f.path
	}
	return paths
}
