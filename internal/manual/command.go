package manual

import (
	"cmp"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tailcut/tailcut/internal/version"
)

// NewCommand returns the hidden command that writes a program's manual. Packages are made with it, and those who
// install with Go use it. For headingOf see Book.
func NewCommand(headingOf func(*pflag.Flag) string) *cobra.Command {
	cmd := &cobra.Command{
		Use: "man FOLDER", Short: "Write the man pages into a folder", Args: cobra.ExactArgs(1), Hidden: true,
		Long:    "Write the man pages into FOLDER, one for each command. FOLDER is created if it does not exist.",
		Example: "  tailcut man ~/.local/share/man/man1 && man tailcut-run",
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		date, err := sourceDate(os.Getenv("SOURCE_DATE_EPOCH"), cmp.Or(version.Time(), time.Now()))
		if err != nil {
			return err
		}
		book := Book{Root: cmd.Root(), Version: version.String(), Date: date, Heading: headingOf}
		pages, err := book.Write(args[0])
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d man pages in %s\n", len(pages), args[0])
		return err
	}
	return cmd
}

// sourceDate is the date of a page: the one that builds give which can be repeated, or else another.
func sourceDate(epoch string, otherwise time.Time) (time.Time, error) {
	if epoch == "" {
		return otherwise, nil
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH: expected seconds since 1970, not %q", epoch)
	}
	return time.Unix(seconds, 0), nil
}
