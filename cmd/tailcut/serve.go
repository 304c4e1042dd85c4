package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tailcut/tailcut/internal/door"
	"github.com/tailcut/tailcut/internal/grammar"
	web "github.com/tailcut/tailcut/internal/page"
	"github.com/tailcut/tailcut/internal/past"
	"github.com/tailcut/tailcut/internal/run"
	"github.com/tailcut/tailcut/internal/serve"
	"github.com/tailcut/tailcut/internal/version"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
)

// serveFlags are the flags of serve as given.
type serveFlags struct {
	dir, socket, listen, slots, policy string
	history, archive                   string
	maxAttempts, cloneBudget           string
	memory                             memory
	maxWait, keepFor                   time.Duration
	keep                               int
	seed                               uint64
}

func newServe() *cobra.Command {
	cmd := &cobra.Command{
		Use: "serve", Short: "Run the jobs of many submissions on the slots of this machine", Args: cobra.NoArgs,
		Long: "Start a server that takes jobs ('tailcut submit') and runs them on the slots of this machine, as one policy decides. " +
			"It stays in the foreground and prints where it listens. All its jobs run as you: only you can open its socket, " +
			"and nothing else listens unless --listen says so.\n\n" +
			"A job that was accepted is on the disk. However the server ends, its next start with the same --dir goes on: " +
			"finished tasks stay, and attempts that ran are launched again. Ctrl-C and SIGTERM stop it at once, 'tailcut drain' when nothing runs any more.\n\n" +
			"Exit status: 0 stopped or drained, 1 failure, 2 wrong usage.",
		Example: "  tailcut serve\n  tailcut serve --dir /var/tmp/queue --slots 8 --policy srpt\n  tailcut serve --slots map=4,shuffle=2 --policy maxsrpt --memory 12GiB",
	}
	var f serveFlags
	group(cmd, "Server", func(fl *pflag.FlagSet) {
		fl.StringVar(&f.dir, "dir", "", "`folder` of the queue (default: tailcut/server in $XDG_STATE_HOME or ~/.local/state)")
		fl.StringVar(&f.socket, "socket", "", "`path` of the socket (default: tailcut/socket in $XDG_RUNTIME_DIR, else in the state folder)")
		fl.StringVar(&f.listen, "listen", "", "listen on a loopback `address` such as 127.0.0.1:8080 too, for browsers; needs the token in DIR/token")
		wholeVar(fl, &f.keep, "keep", 10000, "jobs that are over and still listed")
		fl.DurationVar(&f.keepFor, "keep-for", 30*24*time.Hour, "how long they are listed")
		fl.StringVar(&f.history, "history", "", "`folder` of the history of jobs, for estimates, promised ends and 'tailcut simulate --from-history'; none keeps none (default: ~/.local/state/tailcut/history)")
		fl.StringVar(&f.archive, "archive", "", "`folder` for the parts of the journal that the server needs no more, for 'tailcut replay'; on the file system of --dir (default: they are removed)")
		rare(fl, "keep", "keep-for", "history", "archive")
	})
	group(cmd, "Limits", func(fl *pflag.FlagSet) {
		fl.StringVarP(&f.slots, "slots", "j", "", "concurrent attempts: `N`, or a number for each class such as map=4,shuffle=2 (default: all cores)")
		fl.Var(&f.memory, "memory", "`size` of memory for all attempts that say what they need (memory: in job files, --memory of submit)")
		fl.DurationVar(&f.maxWait, "max-wait", 10*time.Minute, "a job that waits for longer gets the next free slot, whatever the policy; 0 for no bound")
	})
	group(cmd, "Policy", func(fl *pflag.FlagSet) {
		fl.StringVar(&f.policy, "policy", policy.Default, "scheduling `policy`, see 'tailcut policies'; one for each class of slots as in srpt/fair")
		fl.StringVar(&f.maxAttempts, "max-attempts", "default", "maximum number of concurrent attempts of a task (`N`, none or default)")
		fl.StringVar(&f.cloneBudget, "clone-budget", "default", "maximum number of concurrent clones (`N`, none or default)")
		fl.Uint64Var(&f.seed, "seed", 1, "random seed of the policy")
		rare(fl, "max-attempts", "clone-budget", "seed")
	})
	complete(cmd, "max-attempts", "default", "1", "2", "4", "none")
	complete(cmd, "clone-budget", "default", "none")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		endsItself(cmd.Context())
		return f.serve(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
	}
	return cmd
}

// serve runs a server until it is stopped.
func (f *serveFlags) serve(ctx context.Context, out, log io.Writer) error {
	cfg, err := f.config(log)
	if err != nil {
		return err
	}
	absent, err := f.openHistory(&cfg)
	if err != nil {
		return err
	}
	defer cfg.History.Close()
	s, err := serve.New(cfg)
	if field := (*grammar.FieldError)(nil); errors.As(err, &field) {
		return ofFlag(err)
	} else if err != nil {
		return failure{err}
	}
	if absent != nil { // which is of no interest where another server works already
		fmt.Fprintf(log, "tailcut: only durations are kept of jobs that have ended: %v\n", absent)
	}
	for _, at := range s.Addresses() {
		fmt.Fprintf(out, "listening on %s\n", at)
	}
	if err := s.Run(ctx); err != nil {
		return failure{err}
	}
	return nil
}

// openHistory opens the history of jobs. Without its program, which is absent then, there are the files of durations.
func (f *serveFlags) openHistory(cfg *serve.Config) (absent, err error) {
	folder := run.HistoryFolder(f.history)
	if folder == "" {
		cfg.History = past.None{}
		return nil, nil
	}
	cfg.History, err = past.Open(folder, cfg.Log)
	if errors.Is(err, past.ErrNoProgram) {
		cfg.History = past.Files{Folder: folder}
		return err, nil
	}
	return nil, err
}

// config checks the flags.
func (f *serveFlags) config(log io.Writer) (cfg serve.Config, err error) {
	if f.slots == "" {
		f.slots = strconv.Itoa(run.Cores())
	}
	cfg = serve.Config{
		Dir: f.dir, Socket: f.socket, Listen: f.listen, Memory: int64(f.memory), Keep: f.keep, KeepFor: f.keepFor, Seed: f.seed,
		Version: version.String(), Page: web.Handler(), Log: log,
	}
	if cfg.Classes, cfg.Machines, err = serve.ParseSlots(f.slots); err != nil {
		return cfg, wrongFlag("slots", err)
	}
	specs, notice, err := serve.FitPortfolio(f.policy, len(cfg.Classes))
	if err != nil {
		return cfg, wrongFlag("policy", err)
	}
	cfg.Policy, cfg.Others = specs[0], specs[1:]
	if notice != "" {
		fmt.Fprintf(log, "tailcut: warning: %s\n", notice)
	}
	if err := f.limits(&cfg); err != nil {
		return cfg, err
	}
	return cfg, f.places(&cfg)
}

// limits adds what holds under every policy.
func (f *serveFlags) limits(cfg *serve.Config) (err error) {
	if err = parseMaxAttempts(f.maxAttempts, &cfg.Limits); err != nil {
		return wrongFlag("max-attempts", err)
	}
	if cfg.Limits.Clones, err = parseCloneBudget(f.cloneBudget); err != nil {
		return wrongFlag("clone-budget", err)
	}
	if f.maxWait < 0 {
		return wrongFlag("max-wait", errors.New("expected a duration of at least 0"))
	}
	cfg.Limits.MaxWait = sched.Time(f.maxWait)
	if f.keep < 0 || f.keepFor < 0 {
		return errors.New("--keep and --keep-for: expected at least 0")
	}
	return nil
}

// places settles where the server works and listens.
func (f *serveFlags) places(cfg *serve.Config) (err error) {
	if cfg.Dir == "" {
		if cfg.Dir, err = serve.StateFolder(); err != nil {
			return err
		}
		cfg.Dir = filepath.Join(cfg.Dir, "server")
	}
	if cfg.Dir, err = filepath.Abs(cfg.Dir); err != nil {
		return err
	}
	if f.archive != "" {
		if cfg.Archive, err = filepath.Abs(f.archive); err != nil {
			return err
		}
	}
	if cfg.Socket == "" {
		if cfg.Socket, err = serve.SocketPath(); err != nil {
			return err
		}
	}
	if cfg.Socket, err = filepath.Abs(cfg.Socket); err != nil {
		return err
	}
	if err := serve.CheckSocket(cfg.Socket); err != nil {
		return wrongFlag("socket", err)
	}
	if cfg.Listen == "" {
		return nil
	}
	if err := door.CheckListen(cfg.Listen); err != nil {
		return wrongFlag("listen", err)
	}
	return nil
}

func newDrain() *cobra.Command {
	cmd := &cobra.Command{
		Use: "drain", Short: "Have the server start nothing more, and end when nothing runs any more", Args: cobra.NoArgs,
		Long: "Have the server start nothing more. It takes no more jobs and ends when nothing runs any more; " +
			"jobs that are not done wait for its next start.\n\nExit status: 0 it drains, 1 no server answers.",
		Example: "  tailcut drain",
	}
	var server *serverFlag
	group(cmd, "Flags", func(fl *pflag.FlagSet) { server = addServer(fl) })
	format := addFormatOf(cmd, "table", "json")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		client, err := server.client()
		if err != nil {
			return err
		}
		a, err := client.Drain(cmd.Context())
		switch {
		case err != nil:
			return answered(err)
		case format.value == "json":
			return writeJSON(cmd.OutOrStdout(), a)
		}
		fmt.Fprintf(cmd.OutOrStdout(), "the server drains: %d attempts run\n", a.Busy)
		return nil
	}
	return cmd
}

func newPolicy() *cobra.Command {
	cmd := &cobra.Command{
		Use: "policy [POLICY]", Short: "Show or change the policy of the server", Args: cobra.MaximumNArgs(1),
		Long: "Show the policy of the server, or change it while jobs run: the new one takes over what is there. " +
			"It holds until the server is started again. 'tailcut policies' lists what there is.\n\n" +
			"Exit status: 0 shown or changed, 1 no server answers, 2 wrong usage or no such policy.",
		Example: "  tailcut policy\n  tailcut policy srew:beta=0.5",
	}
	var server *serverFlag
	group(cmd, "Flags", func(fl *pflag.FlagSet) { server = addServer(fl) })
	format := addFormatOf(cmd, "table", "json")
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 || strings.Contains(typed, ":") {
			return nil, noFiles
		}
		return policy.Names(), noFiles
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		client, err := server.client()
		if err != nil {
			return err
		}
		answer := serve.PolicyNow{Schema: serve.PolicySchema}
		if len(args) == 1 {
			answer.Policy, err = client.SetPolicy(cmd.Context(), args[0])
		} else {
			var a *serve.About
			if a, err = client.About(cmd.Context()); err == nil {
				answer.Policy = a.Policy
			}
		}
		switch {
		case err != nil:
			return answered(err)
		case format.value == "json":
			return writeJSON(cmd.OutOrStdout(), answer)
		}
		fmt.Fprintln(cmd.OutOrStdout(), answer.Policy)
		return nil
	}
	return cmd
}
