package mapreduce

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadAccount(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mapped")
	for _, c := range []struct {
		name, text string
		want       []Mapped
		err        string
	}{
		{"two attempts at once", "0-00000.0 0 100\n0-00001.0 0 7\n0-00000.0 100 50\n0-00000.1 100 20\n", []Mapped{
			{"0-00000.0", 0, 150}, {"0-00001.0", 0, 7}, {"0-00000.1", 100, 20}}, ""},
		{"nothing", "", nil, ""},
		{"damage", "0-00000.0 0 100\n0-00000.0 x\n", nil, `mapped:2: expected an attempt, an offset and a length, got "0-00000.0 x"`},
		{"negative", "0-00000.0 0 -1\n", nil, "mapped:1: expected"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := os.WriteFile(path, []byte(c.text), 0o666); err != nil {
				t.Fatal(err)
			}
			got, err := ReadAccount(path)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("%v, want %q", err, c.err)
				}
				return
			}
			if d := cmp.Diff(c.want, got); err != nil || d != "" {
				t.Errorf("%v %s", err, d)
			}
		})
	}
	if got, err := ReadAccount(path + ".none"); got != nil || err != nil {
		t.Errorf("no account: %v, %v", got, err)
	}
}
