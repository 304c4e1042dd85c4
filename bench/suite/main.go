// Suite runs policies through the cells of bench/suite/cells.csv, and prints how far each is from the best published
// one.
//
//	go run ./bench/suite -also NAME               NAME beside what bench/suite/published.csv.gz has of the published policies
//	go run ./bench/suite -also NAME -every 4      in every fourth of these cells
//	go run ./bench/suite -also NAME -held-out -against ''   in the third that is looked at when NAME is finished
//	go run ./bench/suite -against '' -csv bench/suite/published.csv.gz   all published policies anew, which takes hours
//
// A file of -csv that exists is continued: what it has is not run again. Cheap cells come first. Traces are taken from
// $TAILCUT_TRACES or ../shared/traces. Cells whose trace is absent are left out, and named.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/tailcut/tailcut/internal/suite"
	"github.com/tailcut/tailcut/policy"
)

func main() {
	var o options
	flag.StringVar(&o.cells, "cells", "bench/suite/cells.csv", "the frozen cells")
	flag.StringVar(&o.family, "family", "", "only cells of these families, separated by commas")
	flag.StringVar(&o.policies, "policies", "", "instead of all published policies")
	flag.StringVar(&o.also, "also", "", "policies that are measured beside and do not compete to be best")
	flag.StringVar(&o.csv, "csv", "", "file for a line of each policy and cell, compressed if it ends in .gz, continued if it exists; - for stdout instead of the table")
	flag.StringVar(&o.against, "against", "bench/suite/published.csv.gz", "a file that -csv has written: what it has of published policies is not run again, and other cells are left out; '' for none")
	flag.IntVar(&o.every, "every", 1, "only every Nth cell")
	flag.StringVar(&o.only, "only", "", "only cells whose names contain one of these texts, separated by spaces")
	flag.IntVar(&o.runs.Each, "runs", 0, "runs of each policy in a cell (default 5 to 30, fewer where there are many tasks)")
	flag.IntVar(&o.runs.Deep, "deep", 1, "run the policies of -also, and those that may be best after -runs, as many times as often")
	flag.BoolVar(&o.heldOut, "held-out", false, "the cells that are held out, instead of the others")
	flag.StringVar(&o.from, "from", "", "run nothing: take all from these files of -csv, separated by commas, in the cells that have all policies; with -csv write that to its file instead of the table")
	flag.StringVar(&o.rows, "rows", "", "policies that the table and the picture show (default all)")
	flag.StringVar(&o.picture, "picture", "", "SVG file for the shares of cells in which the policies of -rows are close to the best")
	flag.StringVar(&o.failing, "failing", "", "print the cells in which the interval of this policy's ratio to the best ends above 1.02")
	flag.BoolVar(&o.declare, "declare", false, "print the cells that the axes declare")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := o.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "suite:", err)
		os.Exit(1)
	}
}

type options struct {
	cells, family, policies, also, csv, against string
	only, from, rows, picture, failing          string
	every                                       int
	runs                                        suite.Runs
	heldOut, declare                            bool
	note                                        string // of the file of -csv
}

func (o *options) run(ctx context.Context) error {
	if o.declare {
		return suite.WriteCells(os.Stdout, suite.Declare())
	}
	cells, err := o.chosen()
	if err != nil {
		return err
	}
	var also []string
	if o.also != "" {
		also = policy.SplitList(o.also)
	}
	published := policy.SplitList(o.policies)
	if o.policies == "" {
		if published, err = suite.Published(also...); err != nil {
			return err
		}
	}
	if o.from != "" {
		return o.known(cells, append(published[:len(published):len(published)], also...), len(published))
	}
	folder := os.Getenv("TAILCUT_TRACES")
	if folder == "" {
		folder = "../shared/traces"
	}
	earlier, err := o.earlier()
	if err != nil {
		return err
	}
	if o.against != "" {
		cells = slices.DeleteFunc(cells, func(c suite.Cell) bool { return earlier[c] == nil })
	}
	if o.note == "" {
		o.note = commit()
	}
	if err := suite.CheapFirst(cells, folder); err != nil {
		return err
	}
	var all []*suite.Outcome
	began := time.Now()
	for i := range cells {
		out, err := cells[i].Run(ctx, folder, append(published[:len(published):len(published)], also...), len(published), o.runs, earlier[cells[i]])
		if errors.Is(err, suite.ErrNoTrace) {
			fmt.Fprintf(os.Stderr, "left out: %v\n", err)
			continue
		}
		if err != nil {
			return err
		}
		all = append(all, out)
		slowest := slices.MaxFunc(out.Rows, func(a, b suite.Row) int { return cmp.Compare(a.Wall, b.Wall) })
		fmt.Fprintf(os.Stderr, "%d of %d, %s: %s; slowest %s, %s\n", i+1, len(cells), time.Since(began).Round(time.Second), cells[i].ID(),
			slowest.Policy, slowest.Wall.Round(time.Millisecond))
		if o.csv != "" && o.csv != "-" {
			if err := writeResults(o.csv, o.note, all); err != nil {
				return err
			}
		}
	}
	if o.csv == "-" {
		return suite.WriteCSV(os.Stdout, o.note, all)
	}
	return o.show(all)
}

// earlier returns what is known: of the file of -against, and of an earlier run into that of -csv, whose note stays.
func (o *options) earlier() (map[suite.Cell]*suite.Outcome, error) {
	all := map[suite.Cell]*suite.Outcome{}
	for _, path := range []string{o.against, o.csv} {
		if path == "" || path == "-" {
			continue
		}
		file, err := readResults(path)
		if path == o.csv && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for c, out := range file.Outcomes {
			all[c] = all[c].With(out)
		}
		if path == o.csv {
			o.note = file.Note
		}
	}
	return all, nil
}

// chosen returns the cells that were asked for.
func (o *options) chosen() ([]suite.Cell, error) {
	f, err := os.Open(o.cells)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	cells, err := suite.ReadCells(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.cells, err)
	}
	var left []suite.Cell
	for _, c := range cells {
		if c.HeldOut() == o.heldOut && (o.family == "" || strings.Contains(","+o.family+",", ","+c.Family+",")) && o.named(&c) {
			left = append(left, c)
		}
	}
	var some []suite.Cell
	for i := 0; i < len(left); i += max(1, o.every) {
		some = append(some, left[i])
	}
	return some, nil
}

// named tells whether a cell is one of -only.
func (o *options) named(c *suite.Cell) bool {
	texts := strings.Fields(o.only)
	return len(texts) == 0 || slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(c.ID(), text) })
}
