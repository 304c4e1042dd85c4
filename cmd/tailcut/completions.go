package main

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tailcut/tailcut/internal/mapreduce"
	"github.com/tailcut/tailcut/internal/reproduce"
	"github.com/tailcut/tailcut/internal/run"
	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/policy/kit"
)

// What shells complete beyond the names of commands and flags. 'tailcut completion' prints the scripts; they start
// 'tailcut __complete', which comes here.

const (
	noFiles = cobra.ShellCompDirectiveNoFileComp
	goesOn  = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace // more may follow without a space
	files   = cobra.ShellCompDirectiveDefault
)

// addCompletions adds completions to the verbs, and the verb that prints the scripts.
func addCompletions(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, shell := range verb(root, "completion").Commands() {
		shell.Long = strings.ReplaceAll(shell.Long, "\t", "  ")
		shell.Example = "  tailcut completion " + shell.Name()
	}
	bash := verb(root, "completion", "bash")
	bash.RunE = func(cmd *cobra.Command, _ []string) error {
		brief, err := cmd.Flags().GetBool("no-descriptions")
		if err != nil {
			return err
		}
		var script strings.Builder
		if err := root.GenBashCompletionV2(&script, !brief); err != nil {
			return err
		}
		_, err = io.WriteString(cmd.OutOrStdout(), mended(script.String()))
		return err
	}
	for _, name := range []string{"verify", "replay", "timeline", "report", "results"} {
		verb(root, name).ValidArgsFunction = completeOutput
	}
	verb(root, "logs").ValidArgsFunction = completeOutputOrJob
	for _, path := range [][]string{{"simulate"}, {"trace", "info"}, {"trace", "convert"}} {
		verb(root, path...).ValidArgsFunction = completeWorkload
	}
	for _, name := range []string{"run", "submit"} {
		completeRun(verb(root, name))
		_ = verb(root, name).RegisterFlagCompletionFunc("after", completeJobs)
	}
	_ = verb(root, "jobs").RegisterFlagCompletionFunc("name", completeJobs)
	completeServe(verb(root, "serve"))
	completeSpecs(verb(root, "simulate"), "policy", true)
	fork := verb(root, "plan", "fork")
	completeLaw(fork)
	completeList(fork, "compare", func() []string { return rules })
	_ = fork.RegisterFlagCompletionFunc("now", cobra.FixedCompletions(rules, goesOn))
	_ = fork.RegisterFlagCompletionFunc("kubernetes", cobra.FixedCompletions([]string{"job/", "cronjob/"}, goesOn))
	_ = verb(root, "reproduce").MarkFlagDirname("traces")
	completeList(verb(root, "reproduce"), "only", func() (parts []string) {
		for _, e := range reproduce.Experiments {
			parts = append(parts, e.Parts...)
		}
		return parts
	})
	completeRest(root)
}

// mended returns the script for bash without two of its mistakes. It escapes the commas of what it offers, which nobody
// who types does, and so finds no match for fifo,sp. And it cuts off what stands before the last colon, which bash
// keeps, or before the last equal sign, but not before the last of both, as in spark:quantile=0.5,mul.
func mended(script string) string {
	const match = `        [[ $comp == "$cur"* ]] || continue`
	const cut = `    __tailcut_handle_special_char "$cur" :
    __tailcut_handle_special_char "$cur" =`
	script = strings.Replace(script, match, `        comp=${comp//\\,/,}`+"\n"+match, 1)
	return strings.Replace(script, cut, `    COMPREPLY=("${COMPREPLY[@]//\\,/,}")
    local breaks=
    [[ $COMP_WORDBREAKS != *:* ]] || breaks+=:
    [[ $COMP_WORDBREAKS != *=* ]] || breaks+='='
    [[ -z $breaks ]] || COMPREPLY=("${COMPREPLY[@]#"${cur%"${cur##*[$breaks]}"}"}")`, 1)
}

// rules are what plan fork compares with, by name.
var rules = []string{"spark", "spark3", "flink", "hadoop2", "backup", "timeout:after="}

// verb returns the command of a path below another.
func verb(root *cobra.Command, path ...string) *cobra.Command {
	cmd, _, err := root.Find(path)
	if err != nil || cmd == root {
		panic("no command " + strings.Join(path, " "))
	}
	return cmd
}

// completeRun completes operators, policies with their parameters, names of earlier runs, and paths of the right kind.
func completeRun(cmd *cobra.Command) {
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return mapreduce.Operators(), files
		}
		return nil, files
	}
	completeSpecs(cmd, "policy", false)
	completeLaw(cmd)
	_ = cmd.RegisterFlagCompletionFunc("name", func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		return run.HistoryNames(cmd.Flag("history").Value.String()), noFiles
	})
	complete(cmd, "max-attempts", "default", "1", "2", "4", "none")
	complete(cmd, "clone-budget", "default", "none")
	for _, flag := range []string{"file", "pod-template", "cluster"} {
		_ = cmd.MarkFlagFilename(flag, "yaml", "yml")
	}
	_ = cmd.MarkFlagFilename("kubeconfig")
	_ = cmd.MarkFlagDirname("output")
	_ = cmd.MarkFlagDirname("history")
}

// completeServe completes policies and folders.
func completeServe(cmd *cobra.Command) {
	completeSpecs(cmd, "policy", false)
	complete(cmd, "max-attempts", "default", "1", "2", "4", "none")
	complete(cmd, "clone-budget", "default", "none")
	_ = cmd.MarkFlagDirname("dir")
	_ = cmd.MarkFlagDirname("history")
}

// completeRest completes the flags that nobody has named yet, of a command and all below it, by what they are: one of
// several words, or a number or time, for which shells should not offer files.
func completeRest(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if _, known := cmd.GetFlagCompletionFunc(f.Name); known {
			return
		}
		if c, ok := f.Value.(*choice); ok {
			complete(cmd, f.Name, c.valid...)
		} else if slices.Contains([]string{"int", "int32", "uint64", "float64", "duration", "size"}, f.Value.Type()) {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, cobra.NoFileCompletions)
		}
	})
	for _, below := range cmd.Commands() {
		completeRest(below)
	}
}

// completeOutputOrJob completes output folders of runs, and jobs of the server.
func completeOutputOrJob(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	folders, how := completeOutput(cmd, args, typed)
	if len(args) > 0 {
		return folders, how
	}
	if jobs, _ := completeJobs(cmd, args, typed); len(jobs) > 0 {
		return append(folders, jobs...), noFiles // else shells took the first job for the folder to look in
	}
	return folders, how
}

// completeOutput completes the output folder of a run, the first argument.
func completeOutput(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, noFiles
	}
	folder, _ := filepath.Split(typed)
	entries, err := os.ReadDir(filepath.Join(".", folder))
	if filepath.IsAbs(folder) {
		entries, err = os.ReadDir(folder)
	}
	if err != nil {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	var outputs []string
	for _, e := range entries {
		path := folder + e.Name()
		if info, err := os.Stat(filepath.Join(path, "_tailcut")); err == nil && info.IsDir() && strings.HasPrefix(path, typed) {
			outputs = append(outputs, path)
		}
	}
	if len(outputs) == 0 { // it is deeper
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	return outputs, noFiles
}

// completeWorkload completes generators; everything else is a file.
func completeWorkload(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	if typed == "" || !strings.HasPrefix("synth:", typed) && !strings.HasPrefix(typed, "synth:") {
		return nil, files
	}
	return []string{"synth:jobs=", "synth:google", "synth:montage"}, goesOn
}

// completeSpecs completes a flag whose value is a policy with its parameters, or a list of them: names, and behind a
// colon the parameters and their values.
func completeSpecs(cmd *cobra.Command, flag string, list bool) {
	_ = cmd.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return specs(typed, list), goesOn
	})
}

// specs returns how a policy, or a list of policies, may go on.
func specs(typed string, list bool) (all []string) {
	before := typed[:strings.LastIndexAny(typed, ":,")+1]
	if before == "" || list && strings.HasSuffix(before, ",") {
		for _, e := range policy.Entries() {
			all = append(all, cobra.CompletionWithDesc(before+e.Name, e.Summary))
		}
		for _, p := range policy.Presets() {
			all = append(all, cobra.CompletionWithDesc(before+p.Name, p.Summary))
		}
	}
	colon := strings.LastIndexByte(before, ':')
	if colon < 0 {
		return all
	}
	name := before[:colon]
	entry, err := policy.Find(name[strings.LastIndexByte(name, ',')+1:])
	if err != nil {
		return all
	}
	for i := range entry.Params {
		if p := &entry.Params[i]; !strings.Contains(before[colon:], p.Name+"=") {
			all = append(all, parameter(p, before, typed)...)
		}
	}
	return all
}

// parameter returns a parameter of a policy for completion: its name, or its values once the name is there.
func parameter(p *kit.Param, before, typed string) (all []string) {
	key := before + p.Name + "="
	if !strings.HasPrefix(typed, key) {
		return []string{cobra.CompletionWithDesc(key, p.Help+" (default "+p.Default+")")}
	}
	switch p.Kind {
	case kit.Bool:
		return []string{key + "true", key + "false"}
	case kit.Choice:
		for _, value := range p.Choices {
			all = append(all, key+value)
		}
		return all
	}
	return []string{key + p.Default}
}

// completeLaw completes --law: the name of a law, and behind a colon its parameters.
func completeLaw(cmd *cobra.Command) {
	_ = cmd.RegisterFlagCompletionFunc("law", func(_ *cobra.Command, _ []string, typed string) (all []string, _ cobra.ShellCompDirective) {
		name, _, found := strings.Cut(typed, ":")
		if !found {
			for _, name := range laws.Names() {
				all = append(all, name+":")
			}
			return all, goesOn
		}
		before := typed[:strings.LastIndexAny(typed, ":,")+1]
		for _, key := range laws.Keys(name) {
			if !strings.Contains(before, key+"=") {
				all = append(all, before+key+"=")
			}
		}
		return all, goesOn
	})
}
