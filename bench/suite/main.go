// Suite runs policies through the cells of bench/suite/cells.csv, and prints how far each is from the best published
// one.
//
//	go run ./bench/suite -csv suite.csv           all published policies, in the cells that are not held out
//	go run ./bench/suite -also NAME -every 4      another one beside them, in every fourth of these cells
//	go run ./bench/suite -also NAME -against suite.csv   only NAME is run, beside what the file has of the others
//	go run ./bench/suite -also NAME -held-out     in the third that is looked at when NAME is finished
//
// Traces are taken from $TAILCUT_TRACES or ../shared/traces. Cells whose trace is absent are left out, and named.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
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
	flag.StringVar(&o.csv, "csv", "", "file for a line of each policy and cell; - for stdout instead of the table")
	flag.StringVar(&o.against, "against", "", "a file that -csv has written: what it has of published policies is not run again, and other cells are left out")
	flag.IntVar(&o.every, "every", 1, "only every Nth cell")
	flag.BoolVar(&o.heldOut, "held-out", false, "the cells that are held out, instead of the others")
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
	every                                       int
	heldOut, declare                            bool
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
	folder := os.Getenv("TAILCUT_TRACES")
	if folder == "" {
		folder = "../shared/traces"
	}
	earlier, err := o.earlier()
	if err != nil {
		return err
	}
	if earlier != nil {
		cells = slices.DeleteFunc(cells, func(c suite.Cell) bool { return earlier[c] == nil })
	}
	var all []*suite.Outcome
	began := time.Now()
	for i := range cells {
		out, err := cells[i].Run(ctx, folder, append(published[:len(published):len(published)], also...), len(published), earlier[cells[i]])
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
		if err := o.writeCSV(all); err != nil {
			return err
		}
	}
	if o.csv == "-" {
		return suite.WriteCSV(os.Stdout, all)
	}
	return suite.WriteTable(os.Stdout, all, "spark")
}

// earlier returns what the file of -against has, nil without one.
func (o *options) earlier() (map[suite.Cell]*suite.Outcome, error) {
	if o.against == "" {
		return nil, nil
	}
	return read(o.against, suite.ReadCSV)
}

// read reads a file; an error names it.
func read[T any](path string, parse func(io.Reader) (T, error)) (x T, err error) {
	f, err := os.Open(path)
	if err != nil {
		return x, err
	}
	defer f.Close()
	if x, err = parse(f); err != nil {
		return x, fmt.Errorf("%s: %w", path, err)
	}
	return x, nil
}

// writeCSV writes what there is so far, so that a run that is broken off leaves it.
func (o *options) writeCSV(all []*suite.Outcome) error {
	if o.csv == "" || o.csv == "-" {
		return nil
	}
	f, err := os.Create(o.csv)
	if err != nil {
		return err
	}
	if err := suite.WriteCSV(f, all); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// chosen returns the cells that were asked for.
func (o *options) chosen() ([]suite.Cell, error) {
	cells, err := read(o.cells, suite.ReadCells)
	if err != nil {
		return nil, err
	}
	var left []suite.Cell
	for _, c := range cells {
		if c.HeldOut() == o.heldOut && (o.family == "" || strings.Contains(","+o.family+",", ","+c.Family+",")) {
			left = append(left, c)
		}
	}
	var some []suite.Cell
	for i := 0; i < len(left); i += max(1, o.every) {
		some = append(some, left[i])
	}
	return some, nil
}
