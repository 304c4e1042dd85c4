package trace

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tailcut/tailcut/sched"
)

// TPC-H queries measured on Spark for Decima (Mao et al., SIGCOMM 2019), one JSON object a line: query, size, edges
// (pairs of parent and child stage), and for each stage the durations of its tasks in milliseconds by the number of
// executors that ran it: first_wave and rest_wave together are all tasks. Fields that are not named here are ignored.
//
// A query becomes a job that arrives at 0, with the run on [Importer.Executors] executors; where a stage has no run on
// so many, the next lower number counts that has one, then the next higher.

type tpchLine struct {
	Query  int         `json:"query"`
	Size   string      `json:"size"`
	Edges  [][]int     `json:"edges"`
	Stages []tpchStage `json:"stages"`
}

type tpchStage struct {
	First map[string][]float64 `json:"first_wave"` // ms, by number of executors
	Rest  map[string][]float64 `json:"rest_wave"`
}

func isTPCH(s *sample) bool { return s.line[0] == '{' && s.hasKey("first_wave") }

// tpchLine reads one query.
func (in *reader) tpchLine(text string) error {
	var l tpchLine
	d := json.NewDecoder(strings.NewReader(text))
	if err := d.Decode(&l); err != nil {
		return in.wrongJSON(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return in.wrong("", errors.New("expected one JSON object on the line, found more behind it"))
	}
	n := len(l.Stages)
	if n == 0 || n > maxStages {
		return in.wrong("stages", fmt.Errorf("expected between 1 and %d stages, got %d", maxStages, n))
	}
	needs := make([][]uint32, n)
	for i, e := range l.Edges {
		if len(e) != 2 || min(e[0], e[1]) < 0 || max(e[0], e[1]) >= n {
			return in.wrong("edges", fmt.Errorf("[%d]: expected two stages between 0 and %d, got %v", i, n-1, e))
		}
		if parent := uint32(e[0]); !slices.Contains(needs[e[1]], parent) {
			needs[e[1]] = append(needs[e[1]], parent)
		}
	}
	order, circle := topological(n, func(i int) []uint32 { return needs[i] })
	if circle >= 0 {
		return in.wrong("edges", fmt.Errorf("expected no circle, stage %d waits for itself", circle))
	}
	w := in.w
	job := JobRow{
		Number: in.line, Name: in.names.add(fmt.Sprintf("q%d-%s", l.Query, l.Size)),
		FirstStage: uint32(len(w.Stages)), Stages: uint32(n), FirstEdge: uint32(len(w.Edges)),
	}
	place := make([]uint32, n)
	for at, i := range order {
		place[i] = uint32(at)
		first := len(w.Durations)
		if err := in.tpchTasks(&l.Stages[i]); err != nil {
			return in.wrong(fmt.Sprintf("stages[%d]", i), err)
		}
		w.addStage(first, len(w.Durations)-first, in.names.add(strconv.Itoa(int(i))))
		for _, from := range needs[i] {
			w.Edges = append(w.Edges, Edge{From: place[from], To: uint32(at), Kind: sched.Barrier})
		}
	}
	job.Edges = uint32(len(w.Edges)) - job.FirstEdge
	w.Jobs = append(w.Jobs, job)
	return nil
}

// tpchTasks appends the tasks of the run that is to be taken.
func (in *reader) tpchTasks(st *tpchStage) error {
	best, distance := "", math.MaxInt
	for key := range st.First {
		n, err := strconv.Atoi(key)
		if err != nil || n < 1 || n > math.MaxInt32 {
			return fmt.Errorf("expected numbers of executors as keys, got %q", abridged(key))
		}
		d := in.set.Executors - n
		if d < 0 {
			d = math.MaxInt32 - d // any higher number counts after all lower ones
		}
		if d < distance && len(st.First[key])+len(st.Rest[key]) > 0 {
			best, distance = key, d
		}
	}
	if best == "" {
		return errors.New("expected durations for some number of executors, found none")
	}
	for _, wave := range [][]float64{st.First[best], st.Rest[best]} {
		if err := in.room(len(wave)); err != nil {
			return err
		}
		for _, ms := range wave {
			d, err := checkSeconds(ms / 1000)
			if err != nil {
				return err
			}
			in.w.Durations = append(in.w.Durations, d)
		}
	}
	return nil
}
