package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/tailcut/tailcut/internal/suite"
	"github.com/tailcut/tailcut/policy"
)

// known shows what the files of -from have.
func (o *options) known(cells []suite.Cell, policies []string, published int) error {
	all := map[suite.Cell]*suite.Outcome{}
	var notes []string
	for path := range strings.SplitSeq(o.from, ",") {
		file, err := readResults(path)
		if err != nil {
			return err
		}
		notes = append(notes, file.Note)
		for c, out := range file.Outcomes {
			all[c] = all[c].With(out)
		}
	}
	known := suite.Known(cells, all, policies, published)
	if o.csv != "" {
		return writeResults(o.csv, strings.Join(notes, "; "), known)
	}
	return o.show(known)
}

// show writes the table, and what else was asked for.
func (o *options) show(all []*suite.Outcome) error {
	rows := policy.SplitList(o.rows)
	fmt.Printf("%d cells\n\n", len(all))
	if err := suite.WriteTable(os.Stdout, all, suite.Reference, rows); err != nil {
		return err
	}
	if o.failing != "" {
		fmt.Println()
		if err := suite.WriteFailing(os.Stdout, all, o.failing, 1.02); err != nil {
			return err
		}
	}
	if o.picture == "" {
		return nil
	}
	f, err := os.Create(o.picture)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := profile(all, rows).WriteSVG(f); err != nil {
		return err
	}
	return f.Close()
}
