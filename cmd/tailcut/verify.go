package main

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/tailcut/tailcut/internal/live/proc"
	"github.com/tailcut/tailcut/internal/live/remote"
	"github.com/tailcut/tailcut/internal/mapreduce"
	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/trace"
)

// verifyResult is the result of a check for programs.
type verifyResult struct {
	Schema   string              `json:"schema"`
	Run      string              `json:"run"`
	Parts    int                 `json:"parts"` // tasks' results
	Bytes    int64               `json:"bytes"`
	OK       bool                `json:"ok"`
	Mistakes []mapreduce.Mistake `json:"mistakes"`
}

func newVerify() *cobra.Command {
	cmd := &cobra.Command{
		Use: "verify OUT", Short: "Check a result, byte for byte, against the manifest that its run wrote", Args: cobra.ExactArgs(1),
		Long: "Compare every part in the output OUT, a folder or a URL, with OUT/" + mapreduce.ManifestName + ", which the run wrote before OUT/" + mapreduce.SuccessName + ".\n" +
			"One line names each file that is missing, changed, or not of this result.\n\n" +
			"Exit status: 0 the result is what the run made, 1 it is not, 2 wrong usage or no result.",
		Example: "  tailcut verify counts\n  tailcut verify s3://bucket/counts\n  tailcut verify counts --format json",
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
	}
	format := addFormat(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		verify := verifyFolder
		if isURL(args[0]) {
			verify = verifyStore
		}
		res, err := verify(cmd, args[0])
		if err != nil {
			return err
		}
		res.Schema, res.OK = "tailcut.verify/v1", len(res.Mistakes) == 0
		return res.print(cmd.OutOrStdout(), format.value)
	}
	return cmd
}

// verifyFolder checks a result in a folder of this machine.
func verifyFolder(_ *cobra.Command, out string) (*verifyResult, error) {
	m, err := mapreduce.ReadManifest(filepath.Join(out, mapreduce.ManifestName))
	switch {
	case errors.Is(err, fs.ErrNotExist) && isMissing(filepath.Join(out, mapreduce.SuccessName)):
		return nil, fmt.Errorf("%s: expected the output folder of a run that has succeeded: there is no %s", out, mapreduce.ManifestName)
	case errors.Is(err, fs.ErrNotExist):
		return nil, failure{fmt.Errorf("%s: %s is missing, which says what the result has to be", out, mapreduce.ManifestName)}
	case err != nil:
		return nil, failure{err}
	}
	wrong, err := m.Verify(out)
	if err != nil {
		return nil, failure{err}
	}
	if r, err := trace.OpenJournalReader(proc.Folders{Root: filepath.Join(out, privateDir)}.Journal()); err == nil && r.Header.Run != m.Run {
		wrong = append(wrong, mapreduce.Mistake{
			Path: mapreduce.ManifestName, Problem: fmt.Sprintf("mixed: it is of run %s, and the journal is of run %s", m.Run, r.Header.Run),
		})
	}
	res := &verifyResult{Run: m.Run, Mistakes: append([]mapreduce.Mistake{}, wrong...)}
	res.Parts, res.Bytes = m.Count()
	return res, nil
}

// verifyStore lets the program that knows stores check a result in one.
func verifyStore(cmd *cobra.Command, out string) (*verifyResult, error) {
	if err := checkURL(out); err != nil {
		return nil, err
	}
	peer, err := startCloudProgram(&remote.Request{Output: out}, cmd.ErrOrStderr())
	if err != nil {
		return nil, err
	}
	var seen func(done, total int64)
	if tell := newCounter(cmd.ErrOrStderr(), "MB checked"); tell != nil {
		defer tell(0, 0)
		seen = func(done, total int64) { tell(int(done/1e6), int(total/1e6)) }
	}
	v, err := peer.Verify(seen)
	if end := peer.Hangup(); err == nil && end != nil {
		err = remote.Fail(fmt.Errorf("%s: %w", cloudProgram, end))
	}
	if err != nil {
		return nil, theirs(err)
	}
	res := &verifyResult{Run: v.Run, Parts: v.Parts, Bytes: v.Bytes, Mistakes: []mapreduce.Mistake{}}
	for _, m := range v.Mistakes {
		res.Mistakes = append(res.Mistakes, mapreduce.Mistake(m))
	}
	return res, nil
}

func (res *verifyResult) print(w io.Writer, format string) (err error) {
	switch format {
	case "json":
		err = json.NewEncoder(w).Encode(res)
	case "csv":
		rows := [][]string{{"path", "problem"}}
		for _, m := range res.Mistakes {
			rows = append(rows, []string{m.Path, m.Problem})
		}
		err = csv.NewWriter(w).WriteAll(rows)
	default:
		for _, m := range res.Mistakes {
			fmt.Fprintf(w, "%s: %s\n", plainName(m.Path), m.Problem)
		}
		if res.OK {
			fmt.Fprintf(w, "%s, %s: all as run %s made it\n", show.Count(res.Parts, "part"), show.Bytes(res.Bytes), res.Run)
		}
	}
	if err != nil {
		return failure{err}
	}
	if !res.OK {
		return errFailed
	}
	return nil
}

// plainName is a file's name as it is, or quoted if a terminal would not show it so.
func plainName(name string) string {
	if quoted := fmt.Sprintf("%q", name); quoted != `"`+name+`"` {
		return quoted
	}
	return name
}
