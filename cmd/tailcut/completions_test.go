package main

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// completed asks for completions as the scripts of shells do, and returns those that begin with what was typed, as
// shells do, without what describes them.
func completed(t *testing.T, args ...string) ([]string, cobra.ShellCompDirective) {
	t.Helper()
	var out, errs strings.Builder
	if status := tailcut(append([]string{cobra.ShellCompRequestCmd}, args...), strings.NewReader(""), &out, &errs); status != 0 {
		t.Fatalf("%q: status %d, %s", args, status, &errs)
	}
	text, directive, _ := strings.Cut(out.String(), ":"+lastColon(out.String()))
	n, err := strconv.Atoi(strings.TrimSpace(directive + lastColon(out.String())))
	if err != nil {
		t.Fatalf("%q: %q", args, out.String())
	}
	var all []string
	for line := range strings.Lines(text) {
		value, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if strings.HasPrefix("--policy="+value, args[len(args)-1]) || strings.HasPrefix(value, args[len(args)-1]) || n&int(cobra.ShellCompDirectiveFilterFileExt) != 0 {
			all = append(all, value)
		}
	}
	return all, cobra.ShellCompDirective(n)
}

// lastColon returns what is behind the last colon, which ends the answer: a number.
func lastColon(text string) string { return text[strings.LastIndexByte(text, ':')+1:] }

// in returns the space-separated words that all has, in the order asked for.
func in(all []string, words string) string {
	var found []string
	for word := range strings.FieldsSeq(words) {
		if slices.Contains(all, word) {
			found = append(found, word)
		}
	}
	return strings.Join(found, " ")
}

func TestCompletions(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("XDG_STATE_HOME", "state")
	for _, path := range []string{
		"out1/_tailcut/journal", "out2/_tailcut/journal", "src/main.go", "deep/out3/_tailcut/journal",
		"state/tailcut/history/nightly.json", "state/tailcut/history/a%2Fb.json", "kept/weekly.json", "state/tailcut/history/.new-1",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args string // the last word is what was typed so far; "" stands for nothing
		want string // are offered
		not  string // are not
		do   cobra.ShellCompDirective
	}{
		{"run ''", "wordcount wordmean grep sort", "", files},
		{"run wordcount ''", "", "wordcount", files},
		{"run --policy ''", "spark spark3 laxity", "", goesOn},
		{"run --policy sp", "spark spark3 splitsrpt", "late", goesOn},
		{"run --policy spark:", "spark:quantile= spark:multiplier= spark:min_runtime=", "spark", goesOn},
		{"run --policy spark:quantile=", "spark:quantile=0.9", "spark:multiplier=", goesOn},
		{"run --policy spark:quantile=0.5,", "spark:quantile=0.5,multiplier=", "spark:quantile=0.5,quantile= spark:quantile=0.5,late", goesOn},
		{"run --policy spark3:", "spark3:quantile=", "", goesOn},
		{"run --policy nobody:", "", "nobody:quantile=", goesOn},
		{"run --policy mantri:restart=", "mantri:restart=true mantri:restart=false", "", goesOn},
		{"run --policy=fi", "fifo", "", goesOn},
		{"simulate x --policy fifo,sp", "fifo,spark fifo,spark3", "spark fifo", goesOn},
		{"simulate x --policy fifo,spark:", "fifo,spark:quantile=", "fifo,spark:late", goesOn},
		{"simulate x --policy spark:quantile=0.5,", "spark:quantile=0.5,multiplier= spark:quantile=0.5,late", "", goesOn},
		{"simulate s", "synth:google synth:montage synth:jobs=", "", goesOn},
		{"simulate jobs", "", "synth:google", files},
		{"trace convert synth:g", "synth:google", "", goesOn},
		{"run --law p", "pareto:", "exp:", goesOn},
		{"run --law pareto:", "pareto:alpha= pareto:xm=", "", goesOn},
		{"run --law pareto:alpha=2,", "pareto:alpha=2,xm=", "pareto:alpha=2,alpha=", goesOn},
		{"plan fork --law exp:", "exp:mu= exp:mean=", "", goesOn},
		{"plan fork --compare spark,f", "spark,flink", "flink", goesOn},
		{"plan fork --method ''", "exact bootstrap", "", noFiles},
		{"plan fork --original k", "keep kill", "", noFiles},
		{"plan deadline ''", "json", "", cobra.ShellCompDirectiveFilterFileExt},
		{"run --name ''", "nightly a/b", "weekly .new-1", noFiles},
		{"run --history kept --name ''", "weekly", "nightly", noFiles},
		{"run --history none --name ''", "", "weekly nightly", noFiles},
		{"run -f ''", "yaml yml", "", cobra.ShellCompDirectiveFilterFileExt},
		{"run --retries ''", "", "", noFiles},
		{"run --slots ''", "", "", cobra.ShellCompDirectiveDefault}, // a file may hold the number
		{"run --on ''", "local kubernetes", "", noFiles},
		{"verify ''", "out1 out2", "src deep state", noFiles},
		{"verify out2", "out2", "out1", noFiles},
		{"verify deep/", "deep/out3", "", noFiles},
		{"verify d", "", "deep", cobra.ShellCompDirectiveFilterDirs},
		{"verify nowhere/", "", "", cobra.ShellCompDirectiveFilterDirs},
		{"replay ''", "out1 out2", "src", noFiles},
		{"timeline ''", "out1 out2", "src", noFiles},
		{"results ''", "out1 out2", "src", noFiles},
		{"results out1 ''", "", "out1", noFiles},
		{"logs ''", "out1 out2", "src", noFiles},
		{"reproduce ''", "fork srew shed overlap geoclone", "", noFiles},
		{"policies ''", "spark spark3", "", noFiles},
		{"verify out1 --format ''", "table json csv", "", noFiles},
		{"''", "run plan simulate verify results", "man", noFiles},
	} {
		args := strings.Split(strings.ReplaceAll(c.args, "''", ""), " ")
		all, do := completed(t, args...)
		if got := in(all, c.want); got != c.want {
			t.Errorf("%s: got %q, want %q among them", c.args, all, c.want)
		}
		if got := in(all, c.not); got != "" {
			t.Errorf("%s: got %q, not expected %q", c.args, all, got)
		}
		if do != c.do {
			t.Errorf("%s: directive %d, want %d", c.args, do, c.do)
		}
	}
}

// Every value that a flag lists in its help can be completed.
func TestCompletionsOfChoices(t *testing.T) {
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			c, ok := f.Value.(*choice)
			if !ok {
				return
			}
			complete, known := cmd.GetFlagCompletionFunc(f.Name)
			if !known {
				t.Errorf("%s: --%s completes nothing", cmd.CommandPath(), f.Name)
				return
			}
			if all, _ := complete(cmd, nil, ""); !slices.Equal(all, c.valid) {
				t.Errorf("%s: --%s completes %q, not %q", cmd.CommandPath(), f.Name, all, c.valid)
			}
		})
		for _, below := range cmd.Commands() {
			check(below)
		}
	}
	check(newRoot())
}
