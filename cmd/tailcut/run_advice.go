package main

import (
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/tailcut/tailcut/internal/run"
)

// adviceVariable holds off, or how long to look for advice.
const adviceVariable = "TAILCUT_ADVICE"

// advise says, where it is worth a line, what would have been faster. It comes after the result, and not into the
// output of a run that a program reads.
func advise(cmd *cobra.Command, e *run.Engine, res *run.Result) {
	limit := run.AdviceTime
	switch text := os.Getenv(adviceVariable); text {
	case "":
	case "off":
		return
	default:
		var err error
		if limit, err = time.ParseDuration(text); err != nil || limit < 0 {
			notice(cmd.ErrOrStderr(), "warning: %s: expected off, or a duration such as 5s, not %q", adviceVariable, text)
			return
		}
	}
	if line := e.Advice(cmd.Context(), res, limit); line != "" {
		notice(cmd.ErrOrStderr(), "%s", line)
	}
}
