package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tailcut/tailcut/internal/advice"
	"github.com/tailcut/tailcut/internal/diagnosis"
	"github.com/tailcut/tailcut/internal/durations"
	"github.com/tailcut/tailcut/internal/history"
	"github.com/tailcut/tailcut/internal/replay"
	"github.com/tailcut/tailcut/internal/show"
)

func newPlanExplain() *cobra.Command {
	var from durations.Log
	r := diagnosis.Defaults()
	top, slots := 20, 0
	cmd := &cobra.Command{
		Use: "explain (LOG... | DIR | --from-history NAME)", Short: "Rank the stages of a log by the time that clones would save", Args: cobra.ArbitraryArgs,
		Long: "Plans each stage of a log from its own tasks and replays the log on the slots that it had, as it happened and with\n" +
			"settings that its system has. Ranks the stages by the time that clones would save. For each other stage it prints why clones would not help: too few tasks, too little\n" +
			"to save, long tasks that read more data, or one slow machine.\n\n" +
			"Give several logs, a folder of them, or the address of Spark's History Server. The answer then also says which tasks\n" +
			"are slow every time, what the best settings would have saved over all runs, and which stages have changed.",
		Example: "  tailcut plan explain application_1472176676028_407508_1.zstd\n" +
			"  tailcut plan explain eventlog_v2_application_1472176676028_407508 --format csv\n" +
			"  sacct --parsable2 --format=JobID,JobName,State,Start,Elapsed,NodeList,AllocCPUS | tailcut plan explain -\n" +
			"  tailcut plan explain --from-history 'nightly-*' --last 30d\n" +
			"  tailcut plan explain application_1472176676028_407508_1.zstd --report page.html\n" +
			"  tailcut plan explain /var/log/spark-events --since 30d\n" +
			"  tailcut plan explain http://localhost:18080 --since 2026-11-01",
	}
	addDurations(cmd, &from, "LOG")
	wholeVar(cmd.Flags(), &r.MaxClones, "max-clones", r.MaxClones, "maximum number of clones per task to consider")
	wholeVar(cmd.Flags(), &top, "top", top, "number of stages in the table, 0 for all; csv and json always have all")
	wholeVar(cmd.Flags(), &slots, "slots", 0, "`number` of slots that the log ran on (default: as the log says, or else the most seen busy at once)")
	cmd.Flags().StringVar(&r.System, "emit", "", "write only the best settings, ready to paste, for `system`: "+strings.Join(diagnosis.Systems(), ", "))
	since := cmd.Flags().String("since", "", "with several logs: only runs that began within this `span` before now, such as 30d, or since a day, such as 2026-11-01")
	reportTo := cmd.Flags().String("report", "", "also write an HTML page with the stage's timeline to this `file`; of one log")
	history := addFromHistory(cmd, "LOG")
	format := addFormat(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		switch {
		case len(args) == 0 && history.name == "":
			return fmt.Errorf("give a LOG or --from-history NAME")
		case r.MaxClones < 1 || r.MaxClones > advice.MaxClones:
			return fmt.Errorf("--max-clones: expected a number from 1 to %d, got %d", advice.MaxClones, r.MaxClones)
		case top < 0:
			return fmt.Errorf("--top: expected a number of at least 0, got %d", top)
		case cmd.Flags().Changed("emit") && !slices.Contains(diagnosis.Systems(), r.System):
			return fmt.Errorf("--emit: expected one of %s, got %q", strings.Join(diagnosis.Systems(), ", "), r.System)
		case cmd.Flags().Changed("slots") && (slots < 1 || slots > mostSlots):
			return fmt.Errorf("--slots: expected a number from 1 to %d, got %d", mostSlots, slots)
		}
		if err := history.check(args, "LOG"); err != nil {
			return err
		}
		if *reportTo != "" && several(args) {
			return fmt.Errorf("--report: works with one LOG; for the last run write: tailcut plan explain LOG --report %s", *reportTo)
		}
		if err := checkOut(args, reportFile(*reportTo)); err != nil {
			return err
		}
		listen(cmd, &from)
		r.Watch = func(doing string, tasks int) (func(int), func()) {
			return showProgress(cmd.ErrOrStderr(), doing, tasks)
		}
		if several(args) {
			return explainRuns{cmd, args, *since, slots, top, r, from, format}.explain()
		}
		if *since != "" {
			return fmt.Errorf("--since: works with several logs, a folder of logs, or a History Server")
		}
		if len(args) > 0 {
			from.Path = args[0]
		} else if err := history.take(cmd, &from); err != nil {
			return err
		}
		return explainLog(cmd, r, &from, slots, top, *reportTo, format)
	}
	return cmd
}

// explainLog is plan explain of one log.
func explainLog(cmd *cobra.Command, r diagnosis.Request, from *durations.Log, slots, top int, reportTo string, format *choice) (err error) {
	r.Log = from.Name()
	if r.Stages, r.Hosts, err = from.Stages(); err != nil {
		return err
	}
	r.Application, r.Again = from.Course.Application, rerun(r.Log, r.Stages, from.Course, slots)
	d, err := diagnosis.Explain(cmd.Context(), r)
	if err != nil {
		return err
	}
	if reportTo != "" {
		page, err := d.Page(cmd.Context(), r)
		if err != nil {
			return err
		}
		if err := writeReport(page, reportTo); err != nil {
			return err
		}
	}
	if r.System != "" && !cmd.Flags().Changed("format") {
		return d.Emit(cmd.OutOrStdout(), r.System)
	}
	return format.write(cmd.OutOrStdout(), topOf{d, top})
}

// rerun is the replay of a log. One that does not say when its tasks started is replayed in its order, if somebody says
// on how many slots.
func rerun(name string, stages []*history.StageRecord, course *history.Course, slots int) *replay.Rerun {
	arranged := slots > 0 && replay.Arrange(stages, slots)
	again := replay.New(name, stages, course, slots)
	if again != nil {
		again.Arranged = arranged
	}
	return again
}

// mostSlots is the most that a log is replayed on.
const mostSlots = 1 << 20

// topOf is a diagnosis of which people see the first stages.
type topOf struct {
	*diagnosis.Diagnosis
	top int
}

// WriteText writes the table of the first stages.
func (t topOf) WriteText(out io.Writer) error { return t.Diagnosis.WriteText(out, t.top) }

// addDurations adds the flags that choose what durations to take of the argument.
func addDurations(cmd *cobra.Command, from *durations.Log, argument string) {
	flags := cmd.Flags()
	flags.StringVar(&from.Column, "column", "", "for a CSV "+argument+": name of the column with durations in seconds, or its number from 1")
	flags.StringVar(&from.Job, "job", "", "job to read from "+argument+": its id, or for a workload its number from 0")
	flags.StringVar(&from.Stage, "stage", "", "stage to read from "+argument+": its id or its name")
}

// listen gives a log the verb's standard input, and shows what it tells of itself.
func listen(cmd *cobra.Command, from *durations.Log) {
	from.Stdin = cmd.InOrStdin()
	from.Tell = func(line string) { notice(cmd.ErrOrStderr(), "%s", line) }
	from.Watch = func(doing string, bytes int) (func(int), func()) {
		return showProgressOf(cmd.ErrOrStderr(), doing, bytes, show.Bytes)
	}
}
