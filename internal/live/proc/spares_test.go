//go:build linux

package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/internal/live"
)

// The journal keeps outputs up to a size, of attempts that left no files, in stages that nobody waits for.
func TestInline(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		size   int // of the output that the report has; -1 for none
	}{
		"nothing":       {`true`, 0},
		"a line":        {`echo hello`, 6},
		"at the limit":  {fmt.Sprintf("printf %%0%dd 0", inlineMost), inlineMost},
		"above":         {fmt.Sprintf("printf %%0%dd 0", inlineMost+1), -1},
		"a file":        {`touch $TAILCUT_OUTPUT/x`, -1},
		"a hidden file": {`touch $TAILCUT_OUTPUT/.x`, -1},
		"came and went": {`touch $TAILCUT_OUTPUT/x; rm $TAILCUT_OUTPUT/x`, 0},
		"no folder":     {`rmdir $TAILCUT_OUTPUT`, 0},
		"moved away":    {`mv $TAILCUT_OUTPUT $TAILCUT_OUTPUT.mine; mkdir $TAILCUT_OUTPUT; touch $TAILCUT_OUTPUT/x`, -1},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil, c.script)
			a, rep := r.run(0, 0, 0)
			if (rep.Output == nil) != (c.size < 0) || len(rep.Output) != max(0, c.size) {
				t.Fatalf("%d bytes in the report %+v, want %d", len(rep.Output), rep, c.size)
			}
			if info, err := os.Stat(r.f.Attempt(a)); c.size < 0 && (err != nil || !info.IsDir()) {
				t.Errorf("no folder with the result: %v", err)
			}
			r.commit(a)
			if got := len(r.stdout(0, 0)); c.size >= 0 && got != c.size {
				t.Errorf("the result has %d bytes", got)
			}
		})
	}
	r := newRig(t, nil, `echo for the next stage`, `true`)
	if _, rep := r.run(0, 0, 0); rep.Output != nil {
		t.Errorf("the result of a stage that another waits for is in the report: %+v", rep)
	}
	r.left = 3
	for i, want := range []bool{true, true, false} { // two bytes, then one left
		r.cfg.Work.Array.Stages[1].Command = []string{"echo", "x"}
		if i > 0 {
			r.cfg.Work.Array.Stages[1].Command = []string{"printf", strings.Repeat("x", i)}
		}
		if _, rep := r.run(1, i, 0); (rep.Output != nil) != want {
			t.Errorf("attempt %d has %d bytes in the report", i, len(rep.Output))
		}
	}
}

// An attempt gets a folder and a file that are as new, whatever others did with theirs before.
func TestSparesAreAsNew(t *testing.T) {
	scripts := []string{
		`true`, `echo out; echo err >&2`, `touch $TAILCUT_OUTPUT/x; rm $TAILCUT_OUTPUT/x`, `rmdir $TAILCUT_OUTPUT`, `mv $TAILCUT_OUTPUT $TAILCUT_OUTPUT.mine`,
		`chmod 500 $TAILCUT_OUTPUT`, `chmod 400 /proc/self/fd/1`, `exit 3`, `echo much; exit 3`, `mkdir -p $TAILCUT_OUTPUT/a/b`, `printf %09999d 0`,
		`exec 3>&-; setsid sleep 100 3>&- &`, `setsid sleep 100 >&- 2>&- &`,
	}
	look := `stat -Lc %a%s /proc/self/fd/1; stat -c %a%h $TAILCUT_OUTPUT; ls -A $TAILCUT_OUTPUT; basename $TAILCUT_OUTPUT`
	cases := "case $TAILCUT_ATTEMPT in "
	for i, s := range scripts {
		cases += fmt.Sprintf("%d) %s;; ", i, s)
	}
	r := newRig(t, nil, cases+"*) "+look+";; esac")
	as := func(number int) string { return fmt.Sprintf("6440\n7552\n0-00000.%d\n", number) }
	for i := range scripts {
		r.run(0, 0, i)
		if _, rep := r.run(0, 0, 100+i); string(rep.Output) != as(100+i) {
			t.Errorf("after %q an attempt finds %q, want %q", scripts[i], rep.Output, as(100+i))
		}
	}
}

// In a row of attempts that leave nothing, nothing is made: there is one folder and one file, used again and again.
func TestSparesAreUsedAgain(t *testing.T) {
	r := newRig(t, nil, `echo $TAILCUT_ATTEMPT; echo err >&2`)
	for i := range 20 {
		_, rep := r.run(0, 0, i)
		if string(rep.Output) != fmt.Sprintln(i) {
			t.Fatalf("attempt %d: %+v", i, rep)
		}
		eventually(t, "what the attempt was given is back", patience, func() bool {
			r.spares.mu.Lock()
			defer r.spares.mu.Unlock()
			return len(r.spares.folders) > 0 && len(r.spares.outs) > 0
		})
	}
	if n := [3]int{r.spares.made, len(r.spares.folders), len(r.spares.outs)}; n != [3]int{1, 1, 1} {
		t.Errorf("files made, folders, files for output: %v", n)
	}
}

// Whoever outlives an attempt outside of its group, without its progress pipe, and goes on writing to its standard output and its folder writes neither
// into the result nor into another's, be the folder given to the next attempt or only to the one after that.
func TestOutputAfterTheEnd(t *testing.T) {
	script := `case $TAILCUT_ATTEMPT in
		0) setsid sh -c 'echo early; touch '$PWD/ready'; while [ ! -e '$PWD/go' ]; do sleep 0.01; done; echo late; echo x >'$TAILCUT_OUTPUT'/late; touch '$PWD/wrote 3>&- &
			while [ ! -e $PWD/ready ]; do sleep 0.01; done; rm -f go;;
		1) touch go; while [ ! -e wrote ]; do sleep 0.01; done; sleep 0.05; echo mine; ls -A $TAILCUT_OUTPUT;;
		*) echo mine; ls -A $TAILCUT_OUTPUT;;
		esac`
	for name, next := range map[string]bool{"to the next": true, "to the one after": false} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil, script)
			first := r.win(0, 0, 0)
			var given *folder
			eventually(t, "the folder is back", patience, func() bool {
				var ok bool
				given, ok = pop(&r.spares, &r.spares.folders)
				return ok
			})
			back := func() { push(&r.spares, &r.spares.folders, given) }
			if next {
				back()
			}
			for number := 1; number <= 2; number++ {
				if _, rep := r.run(0, number, number); string(rep.Output) != "mine\n" {
					t.Errorf("attempt %d wrote %q", number, rep.Output)
				}
				if number == 1 && !next {
					if _, err := os.Stat(filepath.Join(r.f.Attempt(first), "late")); err != nil {
						t.Fatalf("nothing was written late: %v", err)
					}
					back()
				}
			}
			r.commit(first)
			if got := r.stdout(0, 0); got != "early\n" {
				t.Errorf("the result is %q", got)
			}
			if _, err := os.Stat(r.f.Attempt(first)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the folder of the first attempt: %v", err)
			}
		})
	}
}

// A crash between the record of a commit and the publishing loses nothing: what the journal keeps is committed again, by another engine, to
// which nothing else of it is left.
func TestInlineAfterCrash(t *testing.T) {
	r := newRig(t, nil, `echo out $TAILCUT_TASK`)
	outputs := map[int][]byte{}
	for i := range 3 {
		a, rep := r.run(0, i, 0)
		outputs[i] = rep.Output
		r.commit(a)
	}
	r.close()                                                                            // without publishing
	if err := os.WriteFile(filepath.Join(r.out, "part-00001"), nil, 0o666); err != nil { // it had begun to, and the machine died as well
		t.Fatal(err)
	}
	next, err := New(r.cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close()
	for i, output := range outputs {
		if err := next.Commit(live.Attempt{Index: i}, output); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(next.Clean(), next.Publish()); err != nil {
		t.Fatal(err)
	}
	var all []string
	for i := range 3 {
		all = append(all, slurp(t, filepath.Join(r.out, fmt.Sprintf("part-%05d", i))))
	}
	if !slices.Equal(all, []string{"out 0\n", "out 1\n", "out 2\n"}) {
		t.Errorf("published %q", all)
	}
}

// The kernel tells whether somebody may still write to a file.
func TestNobodyWrites(t *testing.T) {
	s := &spares{root: t.TempDir(), held: func() error { return nil }}
	o, err := s.takeOut()
	if err != nil {
		t.Fatal(err)
	}
	w, err := os.OpenFile(o.path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if nobodyWrites(o.handle) {
		t.Error("an open file is said to have no writer")
	}
	w.Close()
	if !nobodyWrites(o.handle) {
		t.Skip("this file system grants no leases: every attempt gets a new file")
	}
	if err := os.WriteFile(o.path, bytes.Repeat([]byte("x"), 100), 0o666); err != nil { // the lease is given back: opening does not block
		t.Fatal(err)
	}
	if b := o.read(99); b != nil {
		t.Errorf("read %q of a file over the limit", b)
	}
	s.giveOut(o)
	if again, err := s.takeOut(); err != nil || again != o {
		t.Errorf("another file: %v", err)
	} else if b := again.read(10); b == nil || len(b) != 0 {
		t.Errorf("in the file that was emptied: %q", b)
	}
	s.close()
}
