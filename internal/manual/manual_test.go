package manual

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// program is a small program with what makes pages difficult.
func program() *cobra.Command {
	nothing := func(*cobra.Command, []string) {}
	root := &cobra.Command{Use: "prog", Short: "Do things", Long: "Do things."}
	do := &cobra.Command{
		Use: "do FILE...", Short: "Do it", Run: nothing,
		Long: "Do it to each FILE.\n'quoted' at the beginning.\n.dotted too, and a\\b.\n\n  prog do A   a list\n    deeper    is kept\n" +
			"\nExit status: 0 done, 1 not.\n\nThe end.",
		Example: "  prog do a-b~",
	}
	do.Flags().SortFlags = false
	do.Flags().StringP("key", "k", "x", "a `NAME` such as key<TAB>value")
	do.Flags().Bool("all", false, "everything")
	do.Flags().Int("secret", 0, "nothing to see")
	_ = do.Flags().MarkHidden("secret")
	root.AddCommand(do, &cobra.Command{Use: "undo", Short: "Undo it", Run: nothing}, &cobra.Command{Use: "hidden", Hidden: true, Run: nothing})
	return root
}

const doPage = `.TH "PROG-DO" 1 "2026-02-03" "Tailcut v1.2.3" "Tailcut"
.nh
.ad l
.SH NAME
prog\-do \- do it
.SH SYNOPSIS
.B prog do
FILE... [FLAG...]
.SH DESCRIPTION
Do it to each FILE.
\&\(aqquoted\(aq at the beginning.
\&.dotted too, and a\eb.
.PP
.RS 4
.EX
prog do A   a list
  deeper    is kept
.EE
.RE
.PP
The end.
.SH OPTIONS
.SS Names
.TP
\fB\-k\fR, \fB\-\-key\fR \fINAME\fR
a NAME such as key<TAB>value (default x)
.SS Rest
.TP
\fB\-\-all\fR
everything
.SH EXIT STATUS
0 done, 1 not.
.SH EXAMPLES
.RS 4
.EX
prog do a\-b\(ti
.EE
.RE
.SH SEE ALSO
.BR prog (1) ,
.BR prog\-undo (1)
`

func TestWrite(t *testing.T) {
	book := Book{Root: program(), Version: "v1.2.3", Date: time.Date(2026, 2, 3, 23, 0, 0, 0, time.UTC), Heading: func(f *pflag.Flag) string {
		if f.Name == "key" {
			return "Names"
		}
		return "Rest"
	}}
	folder := filepath.Join(t.TempDir(), "new")
	paths, err := book.Write(folder)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{filepath.Join(folder, "prog.1"), filepath.Join(folder, "prog-do.1"), filepath.Join(folder, "prog-undo.1")}
	if diff := cmp.Diff(want, paths); diff != "" {
		t.Error(diff)
	}
	text, err := os.ReadFile(want[1])
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(doPage, string(text)); diff != "" {
		t.Error(diff)
	}
	first, err := os.ReadFile(want[0])
	if err != nil || !strings.Contains(string(first), ".SH COMMANDS\n.TP\n.BR prog\\-do (1)\nDo it\n") {
		t.Errorf("the first page: %v\n%s", err, first)
	}
}
