//go:build linux

package proc

import (
	"bytes"
	"os"
	"testing"

	"github.com/tailcut/tailcut/sched"
)

// Of a task's failures the last one's standard error is kept, its end if it is long; a failure without a word takes it away.
func TestStderrOfFailures(t *testing.T) {
	r := newRig(t, nil, `case $TAILCUT_ATTEMPT in
		0) echo short >&2; exit 1 ;;
		1) yes | head -c 1000000 >&2; echo end >&2; exit 2 ;;
		2) exit 3 ;;
		3) echo well >&2 ;;
	esac`)
	for number, want := range []struct {
		kind sched.EventKind
		size int
		end  string
	}{
		{sched.AttemptFailed, 6, "short\n"}, {sched.AttemptFailed, 16 << 10, "y\ny\nend\n"}, {sched.AttemptFailed, -1, ""}, {sched.AttemptDone, -1, ""},
	} {
		if rep := r.end(r.begin(0, 1, number)); rep.Kind != want.kind {
			t.Fatalf("attempt %d: %+v", number, rep)
		}
		text, err := os.ReadFile(r.f.Stderr(0, 1))
		if (err == nil) != (want.size >= 0) || err == nil && len(text) != want.size || !bytes.HasSuffix(text, []byte(want.end)) {
			t.Errorf("attempt %d: %d bytes are kept, %v; want %d that end with %q", number, len(text), err, want.size, want.end)
		}
	}
}
