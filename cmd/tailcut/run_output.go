package main

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tailcut/tailcut/internal/live/proc"
	"github.com/tailcut/tailcut/internal/run"
)

// outputFlags are the flags that say what is left of a run and what of it is printed.
type outputFlags struct {
	output, joblog                           string
	force, keepOrder, print, lineBuffer, tag bool
	tagString                                string
	stderr                                   *choice
	notify                                   []string
	report                                   outFile
}

// addOutput adds the flags that say what is left of a run and what is printed. What a server has run nobody prints.
func (f *runFlags) addOutput(cmd *cobra.Command) {
	group(cmd, "Output", func(fl *pflag.FlagSet) {
		where, stderr := "`folder` for the results", []string{string(proc.KeepAll), string(proc.KeepFailed), string(proc.KeepNone)}
		if !isSubmit(cmd) {
			where += ", a URL such as s3://bucket/prefix, or - to print the results and keep none"
		}
		fl.StringVarP(&f.output, "output", "o", "tailcut-out", where)
		fl.BoolVar(&f.force, "force", false, "replace the results of an earlier run in the output folder")
		kept := "keep the standard error of all tasks, of failed ones or of none"
		if !isSubmit(cmd) {
			f.addPrinting(fl)
			kept, stderr = kept+", or print it", append(stderr, string(proc.KeepToShow))
		}
		f.stderr = &choice{value: string(proc.KeepFailed), valid: stderr}
		fl.Var(f.stderr, "stderr", kept)
		fl.StringVar(&f.joblog, "joblog", "", "append a line per attempt to `file`, in GNU parallel's columns")
		if !isSubmit(cmd) {
			f.report.called = "--report"
			fl.StringVar(&f.report.path, "report", "", "write the timeline of the run to `FILE.html` when it ends")
		}
		fl.StringArrayVar(&f.notify, "notify", nil, "shell `command` or URL to notify when the job is done, fails or may miss its deadline; repeatable")
	})
	complete(cmd, "stderr", f.stderr.valid...)
}

// addPrinting adds the flags that have the tasks' output printed.
func (f *outputFlags) addPrinting(fl *pflag.FlagSet) {
	fl.BoolVarP(&f.keepOrder, "keep-order", "k", false, "print the tasks' output in the order of the tasks")
	fl.BoolVar(&f.print, "print", false, "print the tasks' output as they are done")
	fl.BoolVar(&f.lineBuffer, "line-buffer", false, "print whole lines of running tasks as they come")
	fl.BoolVar(&f.tag, "tag", false, "begin each printed line with the task's values, or its index, and a tab")
	fl.StringVar(&f.tagString, "tagstring", "", "begin each printed line with `TEXT` and a tab; {} {.} {/} {#} {1} in it are as in the command")
	rare(fl, "tagstring")
}

// prints tells whether standard output is for what tasks write.
func (f *outputFlags) prints() bool {
	return f.output == run.Scratch || f.keepOrder || f.print || f.lineBuffer
}

// outputOptions are the options that the flags of output say.
func (f *runFlags) outputOptions(cmd *cobra.Command, o *run.Options) error {
	o.Notify = f.notify
	if f.report.path != "" && f.output == run.Scratch {
		return fmt.Errorf("--report needs an output folder, from whose journal it is made; name one with --output")
	}
	if err := checkOut(nil, f.report); err != nil {
		return err
	}
	o.Output, o.Joblog, o.Force, o.Stderr = f.output, f.joblog, f.force, proc.StderrKept(f.stderr.value)
	if !f.prints() {
		switch {
		case f.tag, f.tagString != "":
			return fmt.Errorf("--tag is about what is printed; add --keep-order or --print")
		case o.Stderr == proc.KeepToShow:
			return fmt.Errorf("--stderr print goes with printed output; add --keep-order or --print")
		}
		return nil
	}
	p := run.Printing{To: bareOut(cmd), InOrder: f.keepOrder, Lines: f.lineBuffer, Tag: f.tag || f.tagString != "", Text: f.tagString}
	if f.output == run.Scratch && !f.given("stderr") { // nothing is kept
		o.Stderr = proc.KeepToShow
	}
	if o.Stderr == proc.KeepToShow {
		p.Stderr = cmd.ErrOrStderr()
	}
	o.Print = p
	return nil
}

// bareOut is standard output of which the caller sees that nobody reads it any more, rather than dying of it.
func bareOut(cmd *cobra.Command) io.Writer {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // ignoring it would have the tasks ignore it, too
	if p, ok := cmd.OutOrStdout().(*printed); ok {
		return p.w
	}
	return cmd.OutOrStdout()
}
