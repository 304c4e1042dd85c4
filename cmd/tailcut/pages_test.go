package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

var rewritePages = flag.Bool("rewrite", false, "write what commands print into the pages where these show something else")

// pageName is a page's name as the repository has it.
func pageName(path string) string {
	return filepath.ToSlash(strings.TrimPrefix(path, filepath.Join("..", "..")+"/"))
}

// TestDocsMarks: each block of code on a page says what a test is to do with it, and a how-to begins with a command.
func TestDocsMarks(t *testing.T) {
	for _, path := range pages(t) {
		name := pageName(path)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		blocks := parsePage(string(text))
		if strings.HasPrefix(name, "docs/howto/") && !beginsWithCommand(blocks) {
			t.Errorf("%s: the first block of code shows no command; begin a how-to with the command that does it, behind \"$ \", and what it prints", name)
		}
		for _, b := range blocks {
			if s := b.wrong(); s != "" {
				t.Errorf("%s:%d: %s", name, b.line, s)
			}
		}
	}
}

// beginsWithCommand tells whether the first block that a reader sees has a command.
func beginsWithCommand(blocks []block) bool {
	for _, b := range blocks {
		if !b.setup {
			return slices.ContainsFunc(b.lines, prompted)
		}
	}
	return false
}

// TestPages runs the pages: what they show is what the commands print. With -rewrite it makes it so.
func TestPages(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the commands of all pages")
	}
	for _, path := range pages(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if blocks := parsePage(string(text)); slices.ContainsFunc(blocks, func(b block) bool { return b.commands != nil }) {
			t.Run(strings.ReplaceAll(pageName(path), "/", "_"), func(t *testing.T) {
				t.Parallel() // most of them wait
				var wrong []string
				for range 3 { // on a busy machine a task may straggle that does not on the page, and get a clone
					p := page{t: t, path: path, name: pageName(path), dir: t.TempDir(), lines: strings.Split(string(text), "\n"), blocks: blocks}
					p.run()
					if wrong = p.wrong; len(wrong) == 0 {
						return
					}
				}
				for _, s := range wrong {
					t.Error(s)
				}
			})
		}
	}
}

// page is a page that is run.
type page struct {
	t          *testing.T
	path, name string
	dir        string // where its commands find what they need
	wrong      []string
	lines      []string
	blocks     []block
}

// run runs the page's commands in one shell, in a folder of their own, and compares what they print.
func (p *page) run() {
	work := filepath.Join(p.dir, "work")
	docs, err := filepath.Abs(filepath.Join("..", "..", "docs"))
	if err == nil {
		err = os.Mkdir(work, 0o777)
	}
	if err == nil {
		err = os.Symlink(docs, filepath.Join(work, "docs"))
	}
	if err != nil {
		p.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(p.t.Context(), 10*time.Minute)
	defer cancel()
	sh := exec.CommandContext(ctx, "sh")
	sh.Dir, sh.Stdin = work, strings.NewReader(p.script())
	sh.Env = append(os.Environ(), "HOME="+p.dir, "XDG_STATE_HOME="+filepath.Join(p.dir, "state"), "LC_ALL=C", "TERM=dumb",
		"TAILCUT_TRACES=") // the pages show what one who has no traces sees
	sh.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := sh.CombinedOutput()
	if err != nil {
		p.errorf("%s: the shell: %v\n%s", p.name, err, out)
	}
	_ = syscall.Kill(-sh.Process.Pid, syscall.SIGKILL) // a server that the page leaves running
	k := 0
	changed := false
	for i := len(p.blocks) - 1; i >= 0; i-- {
		k += len(p.blocks[i].commands)
	}
	for i := len(p.blocks) - 1; i >= 0; i-- { // from the end, so that numbers of lines stay right
		b := &p.blocks[i]
		for c := len(b.commands) - 1; c >= 0; c-- {
			k--
			if !b.skipped() && p.compare(b, c, k) {
				changed = true
			}
		}
	}
	if changed {
		if err := os.WriteFile(p.path, []byte(strings.Join(p.lines, "\n")), 0o666); err != nil {
			p.t.Fatal(err)
		}
	}
}

func (b *block) skipped() bool { return b.has("slow") && !slowPages }

func (p *page) errorf(format string, args ...any) {
	p.wrong = append(p.wrong, fmt.Sprintf(format, args...))
}

// script is what the shell reads: each command writes what it prints, and its status, into files of its number.
func (p *page) script() string {
	var s strings.Builder
	k := 0
	for i := range p.blocks {
		b := &p.blocks[i]
		if verb, rest := b.what(); verb == "file" {
			fmt.Fprintf(&s, "cat > '%s' <<'END OF THE FILE'\n%s\nEND OF THE FILE\n", rest, strings.Join(b.lines, "\n"))
		}
		for _, c := range b.commands {
			if text := c.text; !b.skipped() {
				if !c.checked && !b.has("fails") {
					text = "set -e\n" + text + "\nset +e" // each command of a script succeeds, or the shell goes no further
				}
				fmt.Fprintf(&s, "{\n%s\n} > '%s/out%d' 2>&1 < /dev/null\necho $? > '%s/status%d'\n", text, p.dir, k, p.dir, k)
			}
			k++
		}
	}
	return s.String()
}

// compare compares what a command printed with the page, or changes the page's lines and returns true.
func (p *page) compare(b *block, c, k int) bool {
	cmd := &b.commands[c]
	at := fmt.Sprintf("%s:%d", p.name, b.line)
	out, _ := os.ReadFile(fmt.Sprintf("%s/out%d", p.dir, k))
	status, err := os.ReadFile(fmt.Sprintf("%s/status%d", p.dir, k))
	if err != nil {
		p.errorf("%s: the shell did not come to the end of: %s\n%s", at, cmd.text, out)
		return false
	}
	fails := b.has("fails") && c == len(b.commands)-1
	if failed := strings.TrimSpace(string(status)) != "0"; failed != fails {
		p.errorf("%s: exit status %s of: %s\n%s", at, strings.TrimSpace(string(status)), cmd.text, out)
		return false
	}
	got := lines(string(out))
	if !cmd.checked || b.has("differs") || shows(trimmed(cmd.output), got, b.has("varies")) {
		return false
	}
	if !*rewritePages {
		p.errorf("%s: %s\nprints\n%s\nbut the page shows\n%s\n(go test ./cmd/tailcut -run TestPages/%s -rewrite changes the page)",
			at, cmd.text, out, strings.Join(cmd.output, "\n"), strings.ReplaceAll(p.name, "/", "_"))
		return false
	}
	for i := range got {
		if got[i] != "" {
			got[i] = b.indent + got[i]
		}
	}
	from, to := b.line-1+cmd.first, b.line-1+cmd.first+len(trimmed(cmd.output))
	p.lines = slices.Replace(p.lines, from, to, got...)
	return true
}

// lines are the lines of a text without blanks at their ends, and without empty ones at its own.
func lines(text string) []string {
	all := strings.Split(text, "\n")
	for i := range all {
		all[i] = strings.TrimRight(all[i], " \t")
	}
	return trimmed(all)
}

// trimmed is lines without empty ones at the end.
func trimmed(all []string) []string {
	for len(all) > 0 && all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	return all
}
