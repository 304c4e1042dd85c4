package version

import (
	"runtime/debug"
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	settings := func(revision, modified string) []debug.BuildSetting {
		return []debug.BuildSetting{{Key: "vcs.revision", Value: revision}, {Key: "vcs.modified", Value: modified}}
	}
	for _, c := range []struct {
		name, release string
		info          debug.BuildInfo
		want          string
	}{
		{"a release", "v1.2.3", debug.BuildInfo{Main: debug.Module{Version: "v1.2.4-0.2026+dirty"}}, "v1.2.3"},
		{"a module", "", debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}, Settings: settings("0123abc", "false")}, "v1.2.3"},
		{"a revision", "", debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: settings("0123abc", "false")}, "0123abc"},
		{"a changed revision", "", debug.BuildInfo{Settings: settings("0123abc", "true")}, "0123abc+dirty"},
		{"an archive", "", debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, "(devel)"},
	} {
		if got := of(c.release, &c.info); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestLine(t *testing.T) {
	if line := Line("tailcut-controller"); !strings.HasPrefix(line, "tailcut-controller ") || len(strings.Fields(line)) != 4 {
		t.Errorf("got %q", line)
	}
}
