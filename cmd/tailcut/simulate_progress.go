package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"
	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"

	"github.com/tailcut/tailcut/internal/show"
)

// showProgress draws a bar while something lasts, if somebody watches: the share of all tasks of all runs that are
// finished, and how long the rest may take. It returns what to call with tasks that have finished, from any goroutine,
// and what to call at the end, which wipes the bar off.
func showProgress(w io.Writer, doing string, tasks int) (tick func(tasks int), stop func()) {
	return showProgressOf(w, doing, tasks, inTasks)
}

func inTasks(n int64) string { return show.Number(float64(n)) + " tasks" }

// showProgressOf is [showProgress] of other amounts.
func showProgressOf(w io.Writer, doing string, total int, words func(int64) string) (tick func(done int), stop func()) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" {
		return nil, func() {}
	}
	return drawProgress(f, doing, total, words)
}

func drawProgress(w io.Writer, doing string, total int, words func(int64) string) (tick func(done int), stop func()) {
	bar := &progress.Tracker{Message: doing, Total: int64(total), AutoStopDisabled: true}
	p := progress.NewWriter()
	p.SetOutputWriter(w)
	p.SetUpdateFrequency(time.Second / 5)
	p.SetTrackerLength(30)
	p.SetStyle(progress.StyleBlocks)
	style := p.Style()
	style.Options.Separator = " "
	style.Options.PercentFormat = "%3.0f %%"
	style.Options.ETAString = "left"
	style.Options.TimeInProgressPrecision = time.Second
	style.Visibility.ETA = true
	bar.Units.Formatter = words
	p.AppendTracker(bar)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		p.Render()
	}()
	return func(n int) { bar.Increment(int64(n)) }, func() {
		bar.MarkAsDone()
		for { // Stop does nothing before Render has begun
			p.Stop()
			select {
			case <-gone:
				fmt.Fprint(w, text.CursorUp.Sprint(), text.EraseLine.Sprint()) // the line that says that it is done
				return
			case <-time.After(time.Millisecond):
			}
		}
	}
}
