package mapreduce

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGlob(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{
		"logs/a.gz", "logs/b.gz", "logs/b.txt", "logs/.hidden.gz", "logs/sub/c.gz", "logs/sub/deep/d.gz", "logs/.git/e.gz",
		"logs/[x].gz", "logs/_SUCCESS", "logs/_MANIFEST.json", "logs/_tailcut/journal.gz", "[odd]/one", "logs/ü.gz",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "logs/sub"), filepath.Join(dir, "logs/link")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ pattern, want string }{
		{"logs/a.gz", "logs/a.gz"},
		{"logs/none", "logs/none"}, // no pattern: who opens it finds that it is not there
		{"logs/?.gz", "logs/a.gz logs/b.gz logs/ü.gz"},
		{"logs/[!a].gz", "logs/b.gz logs/ü.gz"},
		{"logs/[a-c].*", "logs/a.gz logs/b.gz logs/b.txt"},
		{"logs/[x].gz", "logs/[x].gz"},
		{`logs/\[x\].*`, "logs/[x].gz"},
		{"[odd]/*", "[odd]/one"},
		{"*/b.txt", "logs/b.txt"},
		{"logs/*", "logs/[x].gz logs/a.gz logs/b.gz logs/b.txt logs/link logs/sub logs/ü.gz"},
		{"logs/.h*", "logs/.hidden.gz"},
		{"logs/*/c.gz", "logs/link/c.gz logs/sub/c.gz"},
		{"logs/**/*.gz", "logs/[x].gz logs/a.gz logs/b.gz logs/sub/c.gz logs/sub/deep/d.gz logs/ü.gz"},
		{"**/d.gz", "logs/sub/deep/d.gz"},
		{"logs/sub/**", "logs/sub/c.gz logs/sub/deep/d.gz"},
		{"logs/**/**/c.gz", "logs/sub/c.gz"},
		{"logs/b.txt/*", "-no file matches"},
		{"none/*", "-no file matches"},
		{"logs/*.bz2", "-no file matches"},
		{"logs/[a", "-a [ without its ]"},
	} {
		found, err := Glob(t.Context(), dir+"/"+c.pattern)
		var names []string
		for _, path := range found {
			names = append(names, strings.TrimPrefix(path, dir+"/"))
		}
		if want, bad := strings.CutPrefix(c.want, "-"); bad {
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), c.pattern) {
				t.Errorf("%s: %q, %v; want an error with %q", c.pattern, names, err, want)
			}
			continue
		}
		if diff := cmp.Diff(c.want, strings.Join(names, " ")); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got)\n%s", c.pattern, err, diff)
		}
	}
	t.Chdir(filepath.Join(dir, "logs"))
	if found, err := Glob(t.Context(), "s*/*.gz"); err != nil || !cmp.Equal(found, []string{"sub/c.gz"}) {
		t.Errorf("below the working directory: %q, %v", found, err)
	}
}
