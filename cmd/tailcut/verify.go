package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/tailcut/tailcut/internal/audit"
	"github.com/tailcut/tailcut/internal/mapreduce"
	"github.com/tailcut/tailcut/internal/run"
)

func newVerify() *cobra.Command {
	cmd := &cobra.Command{
		Use: "verify OUT", Short: "Check a result against the checksums that its run wrote", Args: cobra.ExactArgs(1),
		Long: "Compares every part of the output OUT, a folder or a URL, with the checksums in OUT/" + mapreduce.ManifestName + ".\n" +
			"Prints one line for each file that is missing, changed, or named like a part and none of this result.\n\n" +
			"Exit status: 0 the result is intact, 1 it is not, 2 wrong usage or no result.",
		Example: "  tailcut verify counts\n  tailcut verify s3://bucket/counts\n  tailcut verify counts --format json",
	}
	format := addFormat(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		res, err := verify(cmd, args[0])
		if err != nil {
			return underWay(cmd.Context(), args[0], err)
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

// verify checks a result in a folder of this machine, or in a store.
func verify(cmd *cobra.Command, out string) (*audit.Verification, error) {
	if !run.IsURL(out) {
		res, err := audit.Verify(out)
		if err != nil && !errors.As(err, new(*audit.NoResultError)) {
			err = failure{err}
		}
		return res, err
	}
	var seen func(done, total int64)
	if tell := newCounter(cmd.ErrOrStderr(), "MB checked"); tell != nil {
		defer tell(0, 0)
		seen = func(done, total int64) { tell(int(done/1e6), int(total/1e6)) }
	}
	return run.VerifyStore(out, cmd.ErrOrStderr(), seen)
}
