package run

import (
	"os"
	"path/filepath"

	"github.com/tailcut/tailcut/internal/past"
)

// The durations of a named job's tasks are kept from run to run, so that a deadline can be planned for before the first
// task is done: a file per name.

// historyFile returns the file of the name's history; "" if none is kept.
func (o *Options) historyFile() string {
	folder := HistoryFolder(o.History)
	if folder == "" || o.Name == "" {
		return ""
	}
	return past.Files{Folder: folder}.FileOf(o.Name)
}

// HistoryFolder returns the folder of the files, for what Options.History says; "" if none are kept.
func HistoryFolder(said string) string {
	switch state := stateFolder(); {
	case said == NoHistory:
		return ""
	case said == "" && state != "":
		return filepath.Join(state, "history")
	}
	return said
}

// HistoryNames returns the names of which durations are kept in a folder, "" for the user's, in alphabetical order.
func HistoryNames(folder string) []string {
	if folder = HistoryFolder(folder); folder == "" {
		return nil
	}
	return past.Files{Folder: folder}.ListNames()
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
