//go:build long

package mapreduce

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestGoTree counts the words of Go's own source and compares with the pipeline that the package comment promises
// equality to, byte for byte after the same formatting; likewise sort and grep with their namesakes.
func TestGoTree(t *testing.T) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip(err)
	}
	src := filepath.Join(strings.TrimSpace(string(root)), "src")
	const cat = `find "$1" -type f -exec sh -c 'for f; do cat "$f"; echo; done' sh {} + | `
	terminated := `find "$1" -type f -size +0 -exec sh -c 'for f; do cat "$f"; test "$(tail -c 1 "$f" | od -An -tx1)" = " 0a" || echo; done' sh {} + | `
	tests := []struct {
		op     Operator
		ours   string // how the parts are formatted
		script string
	}{
		{Operator{Name: "wordcount"}, `cat "$1"/part-* | sort`,
			cat + `tr -s ' \t\n\v\f\r' '\n' | sed '/^$/d' | sort | uniq -c | sed 's/^ *\([0-9]*\) \(.*\)/\2\t\1/' | sort`},
		{Operator{Name: "sort"}, `cat "$1"/part-*`, terminated + `sort`},
		{Operator{Name: "grep", Pattern: "fun[a-z]*"}, `cat "$1"/part-*`,
			cat + `grep -aoE 'fun[a-z]*' | sort | uniq -c | sed 's/^ *\([0-9]*\) \(.*\)/\1\t\2/' | sort -t "$(printf '\t')" -k1,1nr -k2,2`},
	}
	for _, tt := range tests {
		t.Run(tt.op.Name, func(t *testing.T) {
			begin := time.Now()
			out := t.TempDir()
			for i, part := range runJob(t, Request{Operator: tt.op, Inputs: []string{src}, Reducers: 3}) {
				if err := os.WriteFile(filepath.Join(out, PartName(i)), []byte(part), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			t.Logf("took %v", time.Since(begin))
			script := `set -e; export LC_ALL=C; cd "$2"; (set -- .; ` + tt.ours + `) >ours; ` + tt.script + ` >theirs; cmp ours theirs`
			got, err := exec.Command("sh", "-c", script, "sh", src, out).CombinedOutput()
			if err != nil {
				t.Errorf("%v: %s", err, got)
			}
			if info, err := os.Stat(filepath.Join(out, "ours")); err != nil || info.Size() < 1000 {
				t.Errorf("nothing to compare: %v", err)
			}
		})
	}
}
