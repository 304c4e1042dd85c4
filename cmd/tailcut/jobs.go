package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tailcut/tailcut/internal/serve"
	"github.com/tailcut/tailcut/internal/show"
)

// shownJobs is how many jobs a table has unless the user asks for more.
const shownJobs = 50

func newJobs() *cobra.Command {
	cmd := &cobra.Command{
		Use: "jobs", Short: "List the jobs of the server, the latest last", Args: cobra.NoArgs,
		Long: "List the jobs of the server, the latest last. The states are queued, running, paused, succeeded, failed and cancelled.\n\n" +
			"Exit status: 0 listed, 1 no server answers, 2 wrong usage.",
		Example: "  tailcut jobs\n  tailcut jobs --state running,queued\n  tailcut jobs --name nightly --limit all --format json",
	}
	var server *serverFlag
	var states []string
	name, lines := "", lineCount(shownJobs)
	group(cmd, "Which jobs", func(fl *pflag.FlagSet) {
		fl.StringSliceVar(&states, "state", nil, "only jobs in these `states`")
		fl.StringVar(&name, "name", "", "only jobs of this `name`")
		fl.Var(&lines, "limit", "only the latest (`N`; 0 or all for all; with --format json all unless it says so)")
	})
	group(cmd, "Output", func(fl *pflag.FlagSet) { server = addServer(fl) })
	format := addFormatOf(cmd, "table", "json")
	annotate(cmd.Flags().Lookup("format"), groupOf, "Output")
	complete(cmd, "state", stateNames()...)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		filter := serve.Filter{Name: name, Limit: max(0, int(lines))}
		if format.value == "json" && !cmd.Flags().Changed("limit") {
			filter.Limit = 0
		}
		for _, s := range states {
			if !slices.Contains(stateNames(), s) {
				return fmt.Errorf("--state: expected some of %s, not %q", strings.Join(stateNames(), ", "), s)
			}
			filter.States = append(filter.States, serve.State(s))
		}
		client, err := server.client()
		if err != nil {
			return err
		}
		all, err := client.Jobs(cmd.Context(), filter)
		if err != nil {
			return answered(err)
		}
		slices.Reverse(all.Jobs)
		if format.value == "json" {
			return writeJSON(cmd.OutOrStdout(), all)
		}
		writeJobs(cmd.OutOrStdout(), all)
		return nil
	}
	return cmd
}

func stateNames() (all []string) {
	for _, s := range serve.States() {
		all = append(all, string(s))
	}
	return all
}

// writeJSON writes one value for programs.
func writeJSON(w io.Writer, v any) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	return out.Encode(v)
}

// writeJobs writes a table of jobs.
func writeJobs(w io.Writer, all *serve.Jobs) {
	if len(all.Jobs) == 0 {
		fmt.Fprintln(w, "no jobs")
		return
	}
	t := show.NewTable("id", "name", "state", "done", "tasks", "running", "clones", "time", "ends in", "output")
	t.AlignRightEach(1, 4, 5, 6, 7, 8, 9)
	for i := range all.Jobs {
		j := &all.Jobs[i]
		t.Row(j.ID, show.Trim(show.OneLine(j.Name), 24), string(j.State), j.Done, j.Tasks, orNone(j.Busy), orNone(j.Clones), show.Seconds(j.Flow), endsIn(j), below(j.Output))
	}
	fmt.Fprintln(w, t.String())
	if all.Next != nil {
		fmt.Fprintln(w, "\nEarlier jobs: --limit all")
	}
}

// below shortens a path below the working directory.
func below(path string) string {
	here, err := os.Getwd()
	if short, ok := strings.CutPrefix(path, here+string(filepath.Separator)); ok && err == nil {
		return short
	}
	return path
}

func orNone(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// endsIn is when a job is expected to end, from now; "" if nobody knows.
func endsIn(j *serve.Job) string {
	if j.Promised == nil || j.State.Over() {
		return ""
	}
	return "~" + show.Seconds(max(0, *j.Promised-j.Flow))
}

func newShow() *cobra.Command {
	cmd := &cobra.Command{
		Use: "show [JOB]", Short: "Show a job of the server, or the server itself", Args: cobra.MaximumNArgs(1), ValidArgsFunction: completeJob,
		Long: "Show how a job of the server stands; without JOB, show the server: its slots, its policy, and how many jobs are in each state. " +
			"JOB is an id, or a name, which means the latest job of that name.\n\n" +
			"Exit status: 0 shown, 1 no server answers, 2 wrong usage or no such job.",
		Example: "  tailcut show nightly\n  tailcut show 17 --tasks\n  tailcut show",
	}
	var server *serverFlag
	tasks := false
	group(cmd, "Flags", func(fl *pflag.FlagSet) {
		fl.BoolVar(&tasks, "tasks", false, "list the tasks of the job")
		server = addServer(fl)
	})
	format := addFormatOf(cmd, "table", "json")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		client, err := server.client()
		if err != nil {
			return err
		}
		var answer any
		switch {
		case len(args) == 0 && tasks:
			return fmt.Errorf("--tasks: expected a job, as in 'tailcut show 17 --tasks'")
		case len(args) == 0:
			answer, err = client.About(cmd.Context())
		case tasks:
			answer, err = client.Tasks(cmd.Context(), args[0])
		default:
			answer, err = client.Job(cmd.Context(), args[0], 0)
		}
		if err != nil {
			return answered(err)
		}
		if format.value == "json" {
			return writeJSON(cmd.OutOrStdout(), answer)
		}
		writeAnswer(cmd.OutOrStdout(), answer)
		return nil
	}
	return cmd
}

// writeAnswer writes what a server has answered, for people.
func writeAnswer(w io.Writer, answer any) {
	switch a := answer.(type) {
	case *serve.About:
		writeAbout(w, a)
	case *serve.Tasks:
		t := show.NewTable("task", "state", "running", "failures")
		t.AlignRight(3, 4)
		for i := range a.Tasks {
			t.Row(fmt.Sprintf("%s/%d", a.Tasks[i].Stage, a.Tasks[i].Task), a.Tasks[i].State, orNone(a.Tasks[i].Busy), orNone(a.Tasks[i].Failures))
		}
		fmt.Fprintln(w, t.String())
	case *serve.Job:
		writeJob(w, a)
	}
}

// writeJob writes all that is known of a job.
func writeJob(w io.Writer, j *serve.Job) {
	line := func(what, format string, args ...any) {
		fmt.Fprintf(w, "  %-10s %s\n", what, show.OneLine(fmt.Sprintf(format, args...)))
	}
	fmt.Fprintf(w, "job %d (%s): %s\n", j.ID, show.OneLine(j.Name), j.State)
	if j.Why != "" {
		line("why", "%s", j.Why)
	}
	line("tasks", "%d of %d done, %d running, %d failed", j.Done, j.Tasks, j.Busy, j.Broken)
	line("attempts", "%d, of them %s; %s fruitful, %s fruitless", j.Attempts, show.Count(j.Clones, "clone"), show.Seconds(j.Fruitful), show.Seconds(j.Fruitless))
	line("submitted", "%s", clock(&j.Submitted))
	if j.Started != nil {
		line("started", "%s", clock(j.Started))
	}
	if j.Ended != nil {
		line("ended", "%s", clock(j.Ended))
	}
	line("time", "%s", show.Seconds(j.Flow))
	if when := endsIn(j); when != "" {
		if b := j.Between; b != nil {
			when += fmt.Sprintf(", in 80 of 100 cases between %s and %s", show.Seconds(max(0, b[0]-j.Flow)), show.Seconds(max(0, b[1]-j.Flow)))
		}
		line("ends in", "%s", when)
	}
	if j.Deadline != nil {
		line("deadline", "%s%s", clock(j.Deadline), lateText(j))
	}
	if j.Priority != 0 || j.Weight != 1 {
		line("order", "priority %d, weight %s", j.Priority, show.Number(j.Weight))
	}
	if len(j.After) > 0 {
		line("after", "%s", strings.Trim(fmt.Sprint(j.After), "[]"))
	}
	line("output", "%s", j.Output)
}

func clock(t *time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }

// writeAbout writes what a server is.
func writeAbout(w io.Writer, a *serve.About) {
	var slots []string
	for _, class := range sortedKeys(a.Slots) {
		slots = append(slots, strings.TrimPrefix(fmt.Sprintf("%s=%d", class, a.Slots[class]), "="))
	}
	var jobs []string
	for _, s := range serve.States() {
		if n := a.Jobs[s]; n > 0 {
			jobs = append(jobs, fmt.Sprintf("%d %s", n, s))
		}
	}
	state := ""
	if a.Draining {
		state = "; it drains: nothing new starts"
	}
	fmt.Fprintf(w, "server of %s, process %d, since %s%s\n", a.User, a.Process, clock(&a.Started), state)
	line := func(what, text string) { fmt.Fprintf(w, "  %-8s %s\n", what, show.OneLine(text)) }
	line("slots", fmt.Sprintf("%s, of which %d busy", strings.Join(slots, ","), a.Busy))
	line("policy", a.Policy)
	if a.Memory > 0 {
		line("memory", show.Bytes(a.Memory))
	}
	if a.MaxWait > 0 {
		line("max wait", show.Seconds(a.MaxWait))
	}
	line("jobs", cmp.Or(strings.Join(jobs, ", "), "none"))
	line("folder", a.Dir)
}

func sortedKeys(m map[string]int) (all []string) {
	for k := range m {
		all = append(all, k)
	}
	slices.Sort(all)
	return all
}
