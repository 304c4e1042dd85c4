package jobfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/internal/mapreduce"
)

func parseJob(t *testing.T, text string) *File {
	t.Helper()
	f, err := Parse("job.yaml", "/jobs", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFileForms(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want Job
	}{
		"operator": {
			"operator: wordcount\ninput: [a, /b/c]\n",
			Job{Name: "job", MapReduce: &mapreduce.Request{Operator: mapreduce.Operator{Name: "wordcount"}, Inputs: []string{"/jobs/a", "/b/c"}}},
		},
		"one input": {
			"operator: sort\ninput: ../logs\n",
			Job{Name: "job", MapReduce: &mapreduce.Request{Operator: mapreduce.Operator{Name: "sort"}, Inputs: []string{"/logs"}}},
		},
		"grep": {
			"name: find it\noperator: grep\npattern: 'a+'\ninput: x\n",
			Job{Name: "find it", MapReduce: &mapreduce.Request{Operator: mapreduce.Operator{Name: "grep", Pattern: "a+"}, Inputs: []string{"/jobs/x"}}},
		},
		"streaming": {
			"mapper: cut -f2\nreducer: uniq -c\ncombiner: cat\ninput: x\n",
			Job{Name: "job", MapReduce: &mapreduce.Request{
				Operator: mapreduce.Operator{Name: "streaming", Mapper: "cut -f2", Reducer: "uniq -c", Combiner: "cat"}, Inputs: []string{"/jobs/x"},
			}},
		},
		"by line": {
			"mapper: cut -f2\nresumable: true\ninput: x\n",
			Job{Name: "job", MapReduce: &mapreduce.Request{Operator: mapreduce.Operator{Name: "streaming", Mapper: "cut -f2", ByLine: true}, Inputs: []string{"/jobs/x"}}},
		},
		"stages": {
			`
stages:
  - name: join
    command: cat "$TAILCUT_INPUT"/*/stdout
    after: split
  - {name: split, tasks: 3, command: [./split, "{}", 08, 1.10, no, ""]}
  - name: each
    tasks: 3
    command: [x]
    after: [join]
    after_each: split
    env: {VERSION: 1.10, FLAG: no, EMPTY: ""}
`,
			Job{Name: "job", Array: &Array{Stages: []Stage{
				{Name: "join", Tasks: 1, Command: []string{"sh", "-c", `cat "$TAILCUT_INPUT"/*/stdout`}, After: []int{1}},
				{Name: "split", Tasks: 3, Command: []string{"./split", "{}", "08", "1.10", "no", ""}},
				{Name: "each", Tasks: 3, Command: []string{"x"}, After: []int{0}, AfterEach: []int{1}, Env: []string{"VERSION=1.10", "FLAG=no", "EMPTY="}},
			}}},
		},
		"limits": {
			"stages:\n- {name: a, command: x, timeout: 300%, retries: 0, memory: 2GiB, nice: 5, workdir: sub}\n- {name: b, command: x, timeout: 90, workdir: /tmp}\n",
			Job{Name: "job", Array: &Array{Stages: []Stage{
				{Name: "a", Tasks: 1, Command: []string{"sh", "-c", "x"}, Dir: "/jobs/sub", Limits: Own{
					Timeout: &Timeout{Percent: 300}, Retries: new(0), Memory: new(int64(2 << 30)), Nice: new(5),
				}},
				{Name: "b", Tasks: 1, Command: []string{"sh", "-c", "x"}, Dir: "/tmp", Limits: Own{Timeout: &Timeout{After: 90 * time.Second}}},
			}}},
		},
		"alias": {
			"stages:\n- {name: a, command: &c [x, y]}\n- {name: b, command: *c}\n",
			Job{Name: "job", Array: &Array{Stages: []Stage{
				{Name: "a", Tasks: 1, Command: []string{"x", "y"}}, {Name: "b", Tasks: 1, Command: []string{"x", "y"}},
			}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := parseJob(t, c.text)
			if d := cmp.Diff(c.want, f.Job); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestFileSettings(t *testing.T) {
	f := parseJob(t, `operator: wordcount
input: x
policy: srew:beta=0.5
slots: 2
retries: 0
timeout: 10m
max_attempts: none
clone_budget: default
output: out
seed: 18446744073709551615
disturb: slow=0.1,factor=8
slot: 100ms
split_size: 8MiB
reducers: 4
max_line: 1MiB
`)
	var got []string
	for _, s := range f.Settings {
		got = append(got, fmt.Sprintf("%d --%s=%s", s.Line, s.Flag, s.Text))
	}
	want := []string{
		"3 --policy=srew:beta=0.5", "4 --slots=2", "5 --retries=0", "6 --timeout=10m", "7 --max-attempts=none", "8 --clone-budget=default",
		"9 --output=/jobs/out", "10 --seed=18446744073709551615", "11 --disturb=slow=0.1,factor=8", "12 --slot=100ms", "13 --split-size=8MiB", "14 --reducers=4",
		"15 --max-line=1MiB",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if got, want := f.Error(f.Settings[0], errors.New("expected x")).Error(), "job.yaml:3: field policy: expected x"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Every mistake is one line with the file, the line and the field.
func TestFileMistakes(t *testing.T) {
	const top = "name, operator, pattern, mapper, reducer, combiner, resumable, input, split_size, max_line, reducers, stages, datasets, data, releases, cluster, output, policy, slot, slots, retries, keep_going, max_failed, halt, timeout, " +
		"memory, memfree, load, delay, nice, max_attempts, clone_budget, seed, deadline, value, late, law, disturb, notify, priority, weight, after"
	stages := func(s string) string { return "stages:\n- {name: a, tasks: 2, command: x}\n" + s }
	for name, c := range map[string]struct{ text, want string }{
		"empty":               {"", "1: expected a job, but the file is empty"},
		"comment only":        {"# nothing\n", "1: expected a job, but the file is empty"},
		"null":                {"~\n", "1: expected a job, but the file is empty"},
		"text":                {"\nwordcount\n", `2: expected a mapping of fields, as in operator: wordcount, not "wordcount"`},
		"list":                {"- a\n", "1: expected a mapping of fields, as in operator: wordcount, not a list"},
		"not YAML":            {"a: b\nc: [\n", "2: expected YAML: did not find expected node content"},
		"tab":                 {"a:\n\t- b\n", "2: expected YAML: found character that cannot start any token"},
		"two documents":       {"operator: sort\ninput: x\n---\na: b\n", "3: expected one job, but a second document begins here"},
		"no form":             {"slots: 3\n", "1: expected one of the fields operator, mapper and stages"},
		"two forms":           {"operator: sort\nmapper: cat\n", "2: field mapper: expected only one of operator, mapper and stages, and line 1 has operator"},
		"unknown field":       {"operator: sort\nimput: x\n", "2: field imput: unknown field; did you mean input?"},
		"strange field":       {"\"a\\nb\": x\n", `1: field "a\nb": unknown field; a job has the fields ` + top},
		"field of null":       {"~: x\n", "1: expected text as the name of a field, not nothing"},
		"field twice":         {"operator: sort\ninput: x\noperator: grep\n", "3: field operator: expected once, and line 1 has it too"},
		"unknown operator":    {"operator: wordcont\ninput: x\n", `1: field operator: expected one of grep, sort, wordcount, wordmean, not "wordcont"`},
		"operator is list":    {"operator: [sort]\ninput: x\n", "1: field operator: expected text, not a list"},
		"operator is empty":   {"operator:\ninput: x\n", "1: field operator: expected text, not nothing"},
		"no input":            {"operator: sort\n", "1: field operator: expected a field input beside it, with the files and folders to read"},
		"empty input":         {"operator: sort\ninput: []\n", "2: field input: expected a list of paths, not an empty one"},
		"input of mapping":    {"operator: sort\ninput:\n- a\n- {b: c}\n", "4: field input[1]: expected text, not a mapping"},
		"grep no pattern":     {"operator: grep\ninput: x\n", "1: field operator: expected a field pattern beside grep"},
		"bad pattern":         {"operator: grep\npattern: '('\ninput: x\n", "2: field pattern: expected a regular expression: error parsing regexp: missing closing ): `(`"},
		"pattern elsewhere":   {"operator: sort\npattern: x\ninput: x\n", "2: field pattern: expected only beside operator: grep"},
		"reducer elsewhere":   {"operator: sort\nreducer: x\ninput: x\n", "2: field reducer: expected only beside mapper, not beside operator"},
		"input elsewhere":     {"stages: [{name: a, command: b}]\ninput: x\n", "2: field input: expected only beside operator or mapper, not beside stages"},
		"resumable operator":  {"operator: sort\ninput: x\nresumable: true\n", "3: field resumable: expected only beside mapper, not beside operator"},
		"resumable how":       {"mapper: cat\ninput: x\nresumable: maybe\n", `3: field resumable: expected true or false, not "maybe"`},
		"combiner alone":      {"mapper: a\ncombiner: b\ninput: x\n", "2: field combiner: expected a field reducer beside it"},
		"slots is octal":      {"operator: sort\ninput: x\nslots: 010\n", `3: field slots: expected a whole number such as 4, not "010"`},
		"retries is text":     {"operator: sort\ninput: x\nretries: four\n", `3: field retries: expected a whole number such as 4, not "four"`},
		"retries is quoted":   {"operator: sort\ninput: x\nretries: \"4\"\n", `3: field retries: expected a whole number such as 4, not "4"`},
		"retries a fraction":  {"operator: sort\ninput: x\nretries: 1.5\n", `3: field retries: expected a whole number such as 4, not "1.5"`},
		"retries is negative": {"operator: sort\ninput: x\nretries: -1\n", `3: field retries: expected a whole number such as 4, not "-1"`},
		"delay is a clock":    {"operator: sort\ninput: x\ndelay: 1:30\n", `3: field delay: expected a duration such as 90s, 10m or 2h, not "1:30"`},
		"timeout of less":     {"operator: sort\ninput: x\ntimeout: 50%\n", `3: field timeout: expected a duration such as 90s, 10m or 2h, or a percentage of the median such as 300%, not "50%"`},
		"stage memory":        {stages("- {name: b, command: x, memory: 2GB}\n"), `3: field stages[1].memory: expected a size such as 512MiB or 2GiB, not "2GB"`},
		"stage nice":          {stages("- {name: b, command: x, nice: 20}\n"), "3: field stages[1].nice: expected a whole number between 0 and 19, not 20"},
		"stage retries":       {stages("- {name: b, command: x, retries: 65535}\n"), "3: field stages[1].retries: expected a whole number between 0 and 65534, not 65535"},
		"stage timeout":       {stages("- {name: b, command: x, timeout: [1s]}\n"), "3: field stages[1].timeout: expected a duration such as 90s, 10m or 2h, or a percentage of the median such as 300%, not a list"},
		"stage workdir":       {stages("- {name: b, command: x, workdir: }\n"), "3: field stages[1].workdir: expected text, not nothing"},
		"timeout is a clock":  {"operator: sort\ninput: x\ntimeout: 1:30\n", `3: field timeout: expected a duration such as 90s, 10m or 2h, or a percentage of the median such as 300%, not "1:30"`},
		"max_attempts":        {"operator: sort\ninput: x\nmax_attempts: default\n", `3: field max_attempts: expected a whole number, none, not "default"`},
		"clone_budget":        {"operator: sort\ninput: x\nclone_budget: no\n", `3: field clone_budget: expected a whole number, none or default, not "no"`},
		"policy is mapping":   {"operator: sort\ninput: x\npolicy: {srew: 1}\n", "3: field policy: expected text, not a mapping"},
		"own tag":             {"operator: !mine sort\ninput: x\n", `1: field operator: expected a value without the tag "!mine"`},
		"binary":              {"operator: !!binary c29ydA==\ninput: x\n", `1: field operator: expected a value without the tag "!!binary"`},
		"NUL":                 {"mapper: \"a\\0b\"\ninput: x\n", "1: field mapper: expected text without a NUL byte"},
		"merge key":           {"<<: {operator: sort}\n", "1: field \"<<\": unknown field; a job has the fields " + top},
		"stages is mapping":   {"stages: {name: a}\n", "1: field stages: expected a list of stages, not a mapping"},
		"no stages":           {"stages: []\n", "1: field stages: expected a list of stages, not an empty one"},
		"stage is text":       {"stages:\n- a\n", `2: field stages[0]: expected a mapping, as in name: value, not "a"`},
		"stage unknown field": {"stages:\n- name: a\n  comand: x\n", "3: field stages[0].comand: unknown field; did you mean command?"},
		"stage without name":  {"stages:\n- command: x\n", "2: field stages[0]: expected a field name"},
		"stage no command":    {"stages:\n- name: x\n", "2: field stages[0]: expected a field command"},
		"stage name":          {"stages:\n- {name: a/b, command: x}\n", `2: field stages[0].name: expected a name without / that begins with neither . nor _, not "a/b"`},
		"stage name hidden":   {"stages:\n- {name: _a, command: x}\n", `2: field stages[0].name: expected a name without / that begins with neither . nor _, not "_a"`},
		"stage twice":         {stages("- {name: a, command: x}\n"), `3: field stages[1].name: expected another name: the stage at line 2 is called "a" too`},
		"no tasks":            {"stages:\n- {name: a, tasks: 0, command: x}\n", "2: field stages[0].tasks: expected a whole number between 1 and 10000000, not 0"},
		"too many tasks":      {"stages:\n- {name: a, tasks: 99999999999999999999, command: x}\n", `2: field stages[0].tasks: expected a whole number such as 4, not "99999999999999999999"`},
		"empty command":       {"stages:\n- {name: a, command: []}\n", "2: field stages[0].command: expected a list of a program and its arguments, or a line for sh -c, not an empty one"},
		"blank command":       {"stages:\n- {name: a, command: ' '}\n", "2: field stages[0].command: expected a command, not white space"},
		"empty program":       {"stages:\n- {name: a, command: ['']}\n", "2: field stages[0].command[0]: expected text, not nothing"},
		"null argument":       {"stages:\n- {name: a, command: [x, ~]}\n", "2: field stages[0].command[1]: expected text, not nothing"},
		"env is list":         {"stages:\n- {name: a, command: x, env: [A=b]}\n", "2: field stages[0].env: expected a mapping, as in name: value, not a list"},
		"env null":            {"stages:\n- {name: a, command: x, env: {A: }}\n", "2: field stages[0].env.A: expected text, not nothing"},
		"env reserved": {
			"stages:\n- {name: a, command: x, env: {TAILCUT_TASK: 1}}\n",
			"2: field stages[0].env.TAILCUT_TASK: expected the name of a variable, without = and not beginning with TAILCUT_",
		},
		"after unknown":    {stages("- {name: b, command: x, after: [a, c]}\n"), `3: field stages[1].after[1]: expected the name of a stage, not "c"; there are a, b`},
		"after twice":      {stages("- {name: b, command: x, after: [a, a]}\n"), `3: field stages[1].after[1]: expected stage "a" once`},
		"after itself":     {"stages:\n- {name: a, command: x, after: a}\n", "2: field stages[0].after: expected stages that do not wait for each other, but a waits for a"},
		"after and each":   {stages("- {name: b, tasks: 2, command: x, after: a, after_each: a}\n"), "3: field stages[1].after_each: expected a stage that is not in after too, not a"},
		"each other count": {stages("- {name: b, tasks: 3, command: x, after_each: a}\n"), "3: field stages[1].after_each: expected a stage with as many tasks, but b has 3 and a has 2"},
		"cycle": {
			"stages:\n- {name: a, command: x}\n- {name: b, command: x, after: [a, d]}\n- {name: c, command: x, after_each: b}\n- {name: d, command: x, after: c}\n",
			"3: field stages[1].after: expected stages that do not wait for each other, but b waits for d waits for c waits for b",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse("job.yaml", "/jobs", []byte(c.text), nil)
			if err == nil {
				t.Fatal("no error")
			}
			if got, want := err.Error(), "job.yaml:"+c.want; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// All mistakes of a file are told at once, by line, and none that only follows from another.
func TestAllMistakes(t *testing.T) {
	const text = `
slots: 2
retries: many
polcy: spark
stages:
- name: fetch
  tasks: none
  command: x
- name: parse
  tasks: 3
  comand: x
  after_each: fetch
- name: a/b
  command: []
  env: {TAILCUT_X: 1, B: 2}
- name: report
  command: x
  after: [parse, parse, b]
  memory: lots
- just text
deadline: never
timeout: 10m
`
	check := func(s Setting) error {
		if s.Flag == "deadline" {
			return errors.New("expected a time")
		}
		return nil
	}
	_, err := Parse("job.yaml", "/jobs", []byte(text), check)
	var all *Mistakes
	if !errors.As(err, &all) {
		t.Fatalf("got %v", err)
	}
	want := []string{
		`job.yaml:3: field retries: expected a whole number such as 4, not "many"`,
		"job.yaml:4: field polcy: unknown field; did you mean policy?",
		`job.yaml:7: field stages[0].tasks: expected a whole number such as 4, not "none"`,
		"job.yaml:11: field stages[1].comand: unknown field; did you mean command?",
		`job.yaml:13: field stages[2].name: expected a name without / that begins with neither . nor _, not "a/b"`,
		"job.yaml:14: field stages[2].command: expected a list of a program and its arguments, or a line for sh -c, not an empty one",
		"job.yaml:15: field stages[2].env.TAILCUT_X: expected the name of a variable, without = and not beginning with TAILCUT_",
		`job.yaml:18: field stages[3].after[1]: expected stage "parse" once`,
		`job.yaml:19: field stages[3].memory: expected a size such as 512MiB or 2GiB, not "lots"`,
		`job.yaml:20: field stages[4]: expected a mapping, as in name: value, not "just text"`,
		"job.yaml:21: field deadline: expected a time",
	}
	if d := cmp.Diff(want, all.Lines()); d != "" {
		t.Error(d)
	}
}

// People get the first twenty, and programs not more than a thousand.
func TestManyMistakes(t *testing.T) {
	for n, want := range map[int]string{20: "", 21: "job.yaml: and 1 more", 5000: "job.yaml: and 4980 more"} {
		_, err := Parse("job.yaml", "/jobs", []byte("stages:\n"+strings.Repeat("- x\n", n)), nil)
		var all *Mistakes
		if !errors.As(err, &all) {
			t.Fatalf("got %v", err)
		}
		lines := all.Lines()
		if last := lines[len(lines)-1]; want != "" && last != want || len(lines) != min(n, 20)+min(1, len(want)) || len(all.Unwrap()) != min(n, 1000) {
			t.Errorf("%d mistakes: %d lines, the last of them %q; %d for programs", n, len(lines), last, len(all.Unwrap()))
		}
	}
}

func TestParseTimeout(t *testing.T) {
	for text, want := range map[string]Timeout{
		"0": {}, "90s": {After: 90 * time.Second}, "1.5": {After: 1500 * time.Millisecond}, "10m": {After: 10 * time.Minute},
		"300%": {Percent: 300}, "150.5%": {Percent: 150.5},
	} {
		got, err := ParseTimeout(text)
		again, err2 := ParseTimeout(got.String())
		if err != nil || got != want || err2 != nil || again != got {
			t.Errorf("%s: %+v, %v; written %s and read as %+v, %v", text, got, err, got, again, err2)
		}
	}
	for _, text := range []string{"", "-1s", "-1", "100%", "50%", "%", "1e9%", "NaN", "NaN%", "Inf", "1e300", "ten", "1:30", "300 %"} {
		if got, err := ParseTimeout(text); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}

// The operators that a job file can name are those that map/reduce has.
func TestFileOperatorsExist(t *testing.T) {
	input := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(input, []byte("a b\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, name := range operatorNames {
		text := "operator: " + name + "\ninput: " + input + "\n"
		if name == "grep" {
			text += "pattern: a\n"
		}
		job := parseJob(t, text).Job
		job.MapReduce.Reducers = 1
		if _, err := job.Plan(t.Context(), "/"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReadStartsFromItsFolder(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "count.yaml")
	if err := os.WriteFile(path, []byte("operator: sort\ninput: in\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := Read(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if f.Dir != dir || f.Job.Name != "count" || f.Job.MapReduce.Inputs[0] != filepath.Join(dir, "in") {
		t.Errorf("dir %s, name %s, inputs %v", f.Dir, f.Job.Name, f.Job.MapReduce.Inputs)
	}
	if _, err := Read(filepath.Join(dir, "other.yaml"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

// What has no size is not read without end.
func TestReadBounds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() {
		if w, err := os.OpenFile(path, os.O_WRONLY, 0); err == nil {
			_, _ = w.Write(make([]byte, maxSize+1))
			w.Close()
		}
	}()
	if _, err := Read(path, nil); err == nil || err.Error() != path+": expected a job file of at most 16 MiB" {
		t.Errorf("got %v", err)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "operator: wordcount\ninput: [a]\nslots: 4\n", "mapper: cat\nreducer: uniq -c\ninput: x\ntimeout: 5s\n",
		"stages:\n- {name: a, tasks: 2, command: [x, '{}']}\n- {name: b, tasks: 2, command: y, after_each: a, env: {K: 1}}\n",
		"stages: [{name: a, command: x, data: [{site: s, bytes: 1KiB, dataset: d}], releases: [d]}]\ndatasets: [{name: d, allow: [s], deny: t}]\ncluster: c.yaml\n",
		"stages:\n- &s {name: a, command: x}\n- *s\n", "a: &a [*a]\n", "&a stages: *a\n", "<<: *x\n", "? [a]\n: b\n", "%YAML 1.1\n---\n", "\"\\0\": !!binary x",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		job, err := Parse("job.yaml", "/jobs", data, nil)
		if err != nil {
			var field *FieldError
			var all *Mistakes
			if !errors.As(err, &all) || len(all.Unwrap()) == 0 || len(all.Lines()) > 21 {
				t.Fatalf("mistakes are told badly: %q", err)
			}
			line := 0
			for _, err := range all.Unwrap() {
				if !errors.As(err, &field) || field.Line < max(1, line) || strings.ContainsAny(err.Error(), "\n\r") {
					t.Fatalf("a mistake is told badly: %q", err)
				}
				line = field.Line
			}
			return
		}
		if w := job.Whereabouts; w != nil && job.Job.Array != nil && len(w.Stages) != len(job.Job.Array.Stages) {
			t.Fatalf("%d stages have data, and there are %d", len(w.Stages), len(job.Job.Array.Stages))
		}
		if a := job.Job.Array; a != nil {
			for i := range a.Stages { // planning makes no rows yet, but keep worlds small all the same
				a.Stages[i].Tasks = min(a.Stages[i].Tasks, 1)
			}
			plan, err := job.Job.Plan(t.Context(), "/")
			if err != nil {
				t.Fatalf("accepted, but not planned: %v", err)
			}
			if err := plan.Spec.Validate(); err != nil {
				t.Fatalf("accepted, but no job: %v", err)
			}
		}
	})
}
