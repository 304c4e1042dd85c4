package inputs

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func mustPack(t testing.TB, rows ...[]string) *Rows {
	t.Helper()
	r, err := Pack(rows)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func fill(t testing.TB, command []string, line bool, rows *Rows, index int) []string {
	t.Helper()
	tmpl, err := NewTemplate(command, line, rows)
	if err != nil {
		t.Fatal(err)
	}
	args, err := tmpl.Fill(&Given{Index: index, Tasks: 7, Slot: 2, Row: rows.Row(index)})
	if err != nil {
		t.Fatal(err)
	}
	return args
}

// What comes out is what parallel 20221122 --dry-run prints, but where the comment says otherwise.
func TestFill(t *testing.T) {
	one := []string{"a/b.c.d"}
	for _, c := range []struct {
		name, command string
		row           []string
		want          string // words with | between them
	}{
		{"whole", "echo {}", one, "echo|a/b.c.d"},
		{"appended", "echo", one, "echo|a/b.c.d"},
		{"several appended", "echo", []string{"x", "y z"}, "echo|x|y z"},
		{"none appended", "echo -{#}", []string{"x"}, "echo|-1"},
		{"parts", "{.} {/} {//} {/.}", one, "a/b.c|b.c.d|a|b.c"},
		{"inside words", "in={};out={.}.jpg", one, "in=a/b.c.d;out=a/b.c.jpg"},
		{"sequence, total, slot", "{#}/{##}/{%} {}", []string{"v"}, "1/7/2|v"},
		{"positions", "{2}{1} {-1} {1/}", []string{"p/q", "r"}, "rp/q|r|q"},
		{"all values", "x{}y", []string{"1", "2", "3"}, "x1|2|3y"},
		{"all parts", "{.}", []string{"a.b", "c.d"}, "a|c"},
		{"no value", "echo {} x{}", nil, "echo|x"},
		{"not a place", "{print $1} {x} {0} {.x} {} {", []string{"v"}, "{print|$1}|{x}|{0}|{.x}|v|{"},
		{"the shell's", "${1} ${#} $ {} ${}", []string{"v"}, "${1}|${#}|$|v|$v"}, // parallel: $v $1
		{"plus without --plus", "{..} {+/} {}", one, "{..}|{+/}|a/b.c.d"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := strings.Join(fill(t, strings.Split(c.command, " "), false, mustPack(t, c.row), 0), "|")
			if got != c.want {
				t.Errorf("got %s, expected %s", got, c.want)
			}
		})
	}
}

// The parts of a value, as parallel 20221122 --plus --dry-run has them. {+.} of a.b/c is b/c there, which is no
// extension.
func TestTake(t *testing.T) {
	all := append(append([]string{}, ops[1:]...), plusOps...)
	for value, want := range map[string][]string{
		//             .         /          //    /.      +/   +.   ..       +..    ...    +...    /..     /...
		"a/b.c.d.e": {"a/b.c.d", "b.c.d.e", "a", "b.c.d", "a", "e", "a/b.c", "d.e", "a/b", "c.d.e", "b.c", "b"},
		"x":         {"x", "x", ".", "x", "", "", "x", "", "x", "", "x", "x"},
		".b":        {"", ".b", ".", "", "", "b", ".b", "", ".b", "", ".b", ".b"},
		"/e/":       {"/e/", "", "/", "", "/e", "", "/e/", "", "/e/", "", "", ""},
		"a.b/c":     {"a.b/c", "c", "a.b", "c", "a.b", "", "a.b/c", "", "a.b/c", "", "c", "c"},
		"a//b":      {"a//b", "b", "a", "b", "a/", "", "a//b", "", "a//b", "", "b", "b"},
		"///":       {"///", "", "/", "", "//", "", "///", "", "///", "", "", ""},
		"":          {"", "", ".", "", "", "", "", "", "", "", "", ""},
		"a..b":      {"a.", "a..b", ".", "a.", "", "b", "a", ".b", "a..b", "", "a", "a..b"},
	} {
		var got []string
		for _, op := range all {
			got = append(got, string(take([]byte(value), op)))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", value, diff)
		}
	}
}

func TestNamesAndOtherMarks(t *testing.T) {
	rows := mustPack(t, []string{"d/f.txt", "7"})
	rows.Names = []string{"file", "n"}
	rows.Replace, rows.Plus = ",,", true
	got := fill(t, []string{"{file/} {n} {file+.}", ",,", "{}", "{x}"}, false, rows, 0)
	want := []string{"f.txt 7 txt", "d/f.txt", "7", "{}", "{x}"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for text, problem := range map[string]string{
		"{3}":        "the command has {3}, and a task has 2",
		"{-3/}":      "the command has {-3/}, and a task has 2",
		"{= $_++ =}": "Perl",
	} {
		if _, err := NewTemplate([]string{"echo", text}, false, rows); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%s: got error %v, expected %s", text, err, problem)
		}
	}
}

// Without rows only the index, the number and the slot are known.
func TestFillWithoutRows(t *testing.T) {
	tmpl, err := NewTemplate([]string{"x{}", "{#}", "{##}", "{%}", "{1}", "{.}"}, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := tmpl.Fill(&Given{Index: 4, Tasks: 9, Slot: 3})
	if diff := cmp.Diff([]string{"x4", "5", "9", "3", "{1}", "{.}"}, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
}

func TestGuard(t *testing.T) {
	for _, c := range []struct {
		command []string
		value   string
		refused bool
	}{
		{[]string{"sh", "-c", "echo {}"}, "plain-1.txt", false},
		{[]string{"sh", "-c", "echo {}"}, "a b", true},
		{[]string{"sh", "-c", "echo '{}'"}, "'; rm -rf x; '", true},
		{[]string{"/bin/bash", "-e", "-xc", "echo {}"}, "$(date)", true},
		{[]string{"nice", "env", "bash", "-o", "-c", "echo {}"}, "a;b", true},
		{[]string{"sh", "-c", `echo "$1"`, "sh", "{}"}, "a;b", false},
		{[]string{"echo", "{}"}, "a;b", false},
		{[]string{"sh", "script", "{}"}, "a;b", false},
		{[]string{"sh", "-c", "{}"}, "a b", true},
	} {
		tmpl, err := NewTemplate(c.command, false, mustPack(t, []string{c.value}))
		if err != nil {
			t.Fatal(err)
		}
		_, err = tmpl.Fill(&Given{Row: [][]byte{[]byte(c.value)}})
		if errors.Is(err, ErrUnsafe) != c.refused {
			t.Errorf("%q with %q: %v", c.command, c.value, err)
		}
	}
}

// Whatever a value is, a shell that reads the line takes it for that value and nothing else; or it is refused.
func TestLineQuotes(t *testing.T) {
	for _, line := range []string{
		`printf '%s\0' {}`, `printf '%s\0' x{}y`, `printf '%s\0' "{}"`, `printf '%s\0' "x{}y"`, `printf '%s\0' '{}'`,
		`printf '%s\0' "$(printf %s. {})"`, `printf '%s\0' "$(printf %s. "{}")"`, `printf '%s\0' "$(printf '%s.' '{}')" # {`,
		`(printf '%s\0' {}) # a comment`, `printf '%s\0' a"b"{}`, "cat <<X\n{}\nX", "printf '%s\\0' \"`printf %s. {}`\"", `x=${y:-{}}; printf '%s\0' "$x"`,
		`printf '%s\0' \{}`, `: $(case a in a) :;; esac; printf {})`, `printf '%s\0' $'{}'`, `: # {}`, `x=$((1+{}))`, `printf '%s\0' "$"{}`,
	} {
		t.Run(line, func(t *testing.T) {
			dir := t.TempDir()
			rapid.Check(t, func(t *rapid.T) {
				v := rapid.OneOf(
					rapid.StringOfN(rapid.RuneFrom([]rune("ab '\"\\$`;&|()<>{}*?[]~#=!\n\té-")), 1, 12, -1),
					rapid.SampledFrom([]string{"$(touch pwned)", "`touch pwned`", "'; touch pwned; '", `"; touch pwned; "`, "-n", "~", "*", "\\", "a'", "''", "#x", "$HOME", "X\ntouch pwned", "a]; touch pwned"}),
				).Draw(t, "value")
				rows, err := Pack([][]string{{v}})
				if err != nil {
					t.Fatal(err)
				}
				tmpl, err := NewTemplate([]string{"sh", "-c", line}, true, rows)
				if err != nil {
					t.Fatal(err)
				}
				args, err := tmpl.Fill(&Given{Row: rows.Row(0)})
				if err != nil {
					return // refused
				}
				if tmpl.Picky() && isPlain([]byte(v)) {
					return // and no shell takes it for anything else
				}
				cmd := exec.Command(args[0], args[1:]...)
				cmd.Dir = dir
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%s: %v: %s", args[2], err, out)
				}
				if !strings.Contains(string(out), v) {
					t.Fatalf("%s: printed %q, expected %q in it", args[2], out, v)
				}
				if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
					t.Fatalf("%s: left %v, %v", args[2], entries, err)
				}
			})
		})
	}
}

func TestLineOfSeveral(t *testing.T) {
	rows := mustPack(t, []string{"a b", "c'd"}, []string{"x"})
	for _, c := range [][2]string{
		{"echo {} | cat", `echo 'a b' 'c'"'"'d' | cat`},
		{`echo "{}"`, `echo "a b c'd"`},
		{"echo", `echo 'a b' 'c'"'"'d'`},
		{"{}", "a b c'd"}, // the values are the line
	} {
		if got := fill(t, []string{"sh", "-c", c[0]}, true, rows, 0)[2]; got != c[1] {
			t.Errorf("%s: got %s, expected %s", c[0], got, c[1])
		}
	}
}

func FuzzTemplate(f *testing.F) {
	for _, text := range []string{"{}", "a{1.}b{-2/}", "{#}{%}{##}", "${1}{name/.}", `"{}" '{}' $(x {}) # {}`, "{= x =}", "{+..}{...}", "{{}}}{{"} {
		f.Add(text, "v", ",,", true)
	}
	f.Fuzz(func(t *testing.T, text, v, replace string, line bool) {
		rows, err := Pack([][]string{{v, "w"}, {}})
		if err != nil {
			return
		}
		rows.Replace, rows.Plus, rows.Names = replace, true, []string{"name", "}"}
		tmpl, err := NewTemplate([]string{"sh", "-c", text}, line, rows)
		if err != nil {
			return
		}
		for i := range 3 {
			args, err := tmpl.Fill(&Given{Index: i, Tasks: 2, Slot: 1, Row: rows.Row(i)})
			if err == nil && len(args) < 2 {
				t.Errorf("%q became %q", text, args)
			}
		}
	})
}
