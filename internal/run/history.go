package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailcut/tailcut/internal/live"
)

// The durations of a named job's tasks are kept from run to run, so that a deadline can be planned for before the first
// task is done: a file per name.

// historyFile returns the file of the name's history; "" if none is kept.
func (o *Options) historyFile() string {
	folder := historyFolder(o.History)
	if folder == "" || o.Name == "" {
		return ""
	}
	return historyPath(folder, o.Name)
}

// historyFolder returns the folder of the files, for what Options.History says; "" if none are kept.
func historyFolder(said string) string {
	switch state := stateFolder(); {
	case said == NoHistory:
		return ""
	case said == "" && state != "":
		return filepath.Join(state, "history")
	}
	return said
}

// HistoryNames returns the names of which durations are kept in a folder, "" for the user's, in alphabetical order.
func HistoryNames(folder string) (names []string) {
	if folder = historyFolder(folder); folder == "" {
		return nil
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		escaped, found := strings.CutSuffix(e.Name(), ".json")
		if name, err := url.PathUnescape(escaped); found && err == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// stateFolder is where what outlives a run is kept; "" if the system does not say.
func stateFolder() string {
	state := os.Getenv("XDG_STATE_HOME")
	if state == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "tailcut")
}

// historyPath returns the file of a name in a folder.
func historyPath(folder, name string) string {
	return filepath.Join(folder, url.PathEscape(name)+".json")
}

// readHistory reads a file of histories; there need not be one.
func readHistory(path string) (*live.Past, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &live.Past{}, nil
	}
	if err != nil {
		return nil, err
	}
	past, err := live.ParsePast(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return past, nil
}

// writeHistory replaces the file at once, so that whoever reads it finds the old or the new.
func writeHistory(path string, h *live.Past) error {
	data, err := json.Marshal(h)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = temp.Write(append(data, '\n'))
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temp.Name())
	}
	return err
}
