package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tailcut/tailcut/internal/audit"
	"github.com/tailcut/tailcut/internal/live/remote"
	"github.com/tailcut/tailcut/internal/mapreduce"
)

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
		if err := format.write(cmd.OutOrStdout(), res); err != nil {
			return failure{err}
		}
		if !res.OK {
			return errFailed
		}
		return nil
	}
	return cmd
}

// verifyFolder checks a result in a folder of this machine.
func verifyFolder(_ *cobra.Command, out string) (*audit.Verification, error) {
	res, err := audit.Verify(out)
	if err != nil && !errors.As(err, new(*audit.NoResultError)) {
		err = failure{err}
	}
	return res, err
}

// verifyStore lets the program that knows stores check a result in one.
func verifyStore(cmd *cobra.Command, out string) (*audit.Verification, error) {
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
	var mistakes []mapreduce.Mistake
	for _, m := range v.Mistakes {
		mistakes = append(mistakes, mapreduce.Mistake(m))
	}
	return audit.NewVerification(v.Run, v.Parts, v.Bytes, mistakes), nil
}
