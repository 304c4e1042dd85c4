package main

import (
	"runtime/debug"
	"testing"
)

func TestVersionOf(t *testing.T) {
	settings := func(revision, modified string) []debug.BuildSetting {
		return []debug.BuildSetting{{Key: "vcs.revision", Value: revision}, {Key: "vcs.modified", Value: modified}}
	}
	for want, info := range map[string]*debug.BuildInfo{
		"v1.2.3":        {Main: debug.Module{Version: "v1.2.3"}, Settings: settings("0123abc", "false")},
		"0123abc":       {Main: debug.Module{Version: "(devel)"}, Settings: settings("0123abc", "false")},
		"0123abc+dirty": {Settings: settings("0123abc", "true")},
		"(devel)":       {Main: debug.Module{Version: "(devel)"}},
	} {
		if got := versionOf(info); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
