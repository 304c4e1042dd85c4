package trace

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/tailcut/tailcut/sched"
)

// The text format of coflow-benchmark (Chowdhury et al., SIGCOMM 2014). The first line is the number of racks and of
// coflows; then comes a coflow a line, blank-separated: id, arrival (ms), number of mappers, the rack of each, number
// of reducers, rack:megabytes for each.
//
// A coflow becomes a job of one stage with a task per reducer, which lasts as long as its megabytes (10^6 bytes) take
// at [Importer.PortRate]: the transfer alone, with the rack's port to itself. Mappers and racks are not kept.

func isCoflow(s *sample) bool {
	return len(s.text) == 2 && integers(s.text, 0, 1)
}

// coflowLine reads one coflow; the first line is none.
func (in *reader) coflowLine(text string) error {
	rest := text
	first := nextField(&rest)
	arrival := nextField(&rest)
	if rest == "" && len(in.w.Jobs) == 0 && integers([]string{first, arrival}, 0, 1) {
		return nil
	}
	at, err := strconv.ParseUint(arrival, 10, 63)
	if err != nil || at > maxInstant/1_000_000 {
		return in.wrong("2 (arrival)", fmt.Errorf("expected milliseconds, got %q", abridged(arrival)))
	}
	mappers, err := coflowCount(nextField(&rest))
	if err != nil {
		return in.wrong("3 (mappers)", err)
	}
	for i := range mappers {
		if rack := nextField(&rest); rack == "" {
			return in.wrong("3 (mappers)", fmt.Errorf("expected the racks of %d mappers, found %d", mappers, i))
		}
	}
	reducers, err := coflowCount(nextField(&rest))
	if err == nil {
		err = in.room(reducers)
	}
	if err != nil {
		return in.wrong(fmt.Sprintf("%d (reducers)", 4+mappers), err)
	}
	w := in.w
	job := JobRow{
		Arrival: sched.Time(at) * 1e6, Number: in.line, Name: in.names.add(strings.Clone(first)), FirstStage: uint32(len(w.Stages)), Stages: 1,
	}
	start, total := len(w.Durations), 0.0
	for i := range reducers {
		megabytes, err := coflowSize(nextField(&rest))
		if err == nil {
			var d sched.Time
			d, err = checkSeconds(megabytes * 1e6 / float64(in.set.PortRate))
			w.Durations = append(w.Durations, d)
			total += megabytes * 1e6
		}
		if err != nil {
			return in.wrong(fmt.Sprintf("%d (reducer)", 5+mappers+i), err)
		}
	}
	if rest != "" {
		return in.wrong(fmt.Sprint(5+mappers+reducers), fmt.Errorf("expected the end of the line after %d reducers, got %q", reducers, abridged(rest)))
	}
	w.addStage(start, reducers, in.names.add("shuffle"))
	w.Stages[len(w.Stages)-1].InputBytes = int64(min(total, 1<<62))
	w.Jobs = append(w.Jobs, job)
	return nil
}

func coflowCount(s string) (int, error) {
	n, err := strconv.ParseUint(s, 10, 31)
	if err != nil {
		return 0, fmt.Errorf("expected a whole number, got %q", abridged(s))
	}
	return int(n), nil
}

// coflowSize reads the megabytes of rack:megabytes.
func coflowSize(s string) (float64, error) {
	_, size, found := strings.Cut(s, ":")
	x, err := strconv.ParseFloat(size, 64)
	if !found || err != nil || !(x >= 0) {
		return 0, errors.New("expected rack:megabytes, got " + strconv.Quote(abridged(s)))
	}
	return x, nil
}
