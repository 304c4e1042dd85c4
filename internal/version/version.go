// Package version says of which version of Tailcut a program is.
package version

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"
)

// release is the version of a release. Its build sets it with -ldflags '-X ...version.release=v1.2.3', since source
// that is built from an archive has neither a module version nor a revision.
var release string

// String returns the version: of the release, of the module, or the revision of the source where there is neither.
func String() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return of(release, info)
}

// of returns the version of a build.
func of(release string, info *debug.BuildInfo) string {
	if release != "" {
		return release
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	v := cmp.Or(setting(info, "vcs.revision"), "(devel)")
	if setting(info, "vcs.modified") == "true" {
		v += "+dirty"
	}
	return v
}

// setting returns one of the settings that a build records, "" if it does not.
func setting(info *debug.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// Line is what a program prints for --version.
func Line(program string) string {
	return fmt.Sprintf("%s %s %s %s/%s", program, String(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// Time returns when the source was committed; the zero time if the build does not say.
func Time() time.Time {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339, setting(info, "vcs.time"))
	if err != nil {
		return time.Time{}
	}
	return t
}
