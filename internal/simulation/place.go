package simulation

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/tailcut/tailcut/internal/grammar"
	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
)

// PlacedFigures say what was moved before jobs, the same in all runs. All is empty if nobody asked for it.
type PlacedFigures struct {
	PlaceData   string   `json:"place_data,omitempty"`   // the lag
	PlacedBytes *int64   `json:"placed_bytes,omitempty"` // moved between sites before jobs, not part of moved_bytes
	PlacedMoney *float64 `json:"placed_money,omitempty"` // for them, not part of money; nil if nothing has a price
}

// placedColumns are the fields of PlacedFigures.
var placedColumns = []string{"place_data", "placed_bytes", "placed_money"}

// readPlace reads the lag of Request.PlaceData, and refuses what data cannot be placed on.
func (q *question) readPlace(text string) error {
	lag, err := time.ParseDuration(text)
	switch {
	case err != nil || lag <= 0:
		return fmt.Errorf("expected a duration above 0, such as 10m, not %q", text)
	case q.Cluster == nil:
		return errors.New("works with --cluster, whose sites have up or down")
	case q.redraws():
		return fmt.Errorf("works with --replicate %s: data is moved for the jobs as they arrive", Luck)
	}
	q.lag = sched.Time(lag)
	return q.Cluster.CanPlace()
}

// place moves data for the jobs of a question that has been fitted, if asked for. The workload of the caller's request
// stays as it is.
func (q *question) place() (*sim.Placement, error) {
	if q.lag == 0 {
		return nil, nil
	}
	w, p, err := q.Cluster.PlaceData(q.Workload, q.lag)
	if err != nil {
		return nil, grammar.Wrong("place-data", err)
	}
	own := *q.Request
	own.Workload, q.Request = w, &own
	return p, nil
}

// placed describes what was moved.
func (r *Result) placed() (f PlacedFigures) {
	if r.Placement == nil {
		return f
	}
	f.PlaceData, f.PlacedBytes = r.PlaceData, &r.Placement.Bytes
	if r.priced() {
		f.PlacedMoney = new(r.Placement.Price.Units())
	}
	return f
}

// withoutPlaced names the columns that a CSV file does not have.
func (r *Result) withoutPlaced() []string {
	switch {
	case r.Placement == nil:
		return placedColumns
	case !r.priced():
		return placedColumns[2:]
	}
	return nil
}

// printPlaced says what was moved.
func (r *Result) printPlaced(w io.Writer) {
	p := r.Placement
	if p == nil {
		return
	}
	var notes []string
	if r.priced() {
		notes = append(notes, fmt.Sprintf("for %s %s, which the table leaves out", priceOf(sim.Estimate{Mean: p.Price.Units()}), r.Money))
	}
	if p.Bytes == 0 {
		notes = append(notes, "no move was expected to gain within the lag")
	}
	text := fmt.Sprintf("Data placed within %s before each job: %s moved, for %d of %s", r.PlaceData, show.Bytes(p.Bytes), p.Jobs, show.Count(len(r.Workload.Jobs), "job"))
	fmt.Fprintf(w, "%s.\n", strings.Join(append([]string{text}, notes...), "; "))
}
