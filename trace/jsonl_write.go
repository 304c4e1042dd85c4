package trace

import (
	"bufio"
	"encoding/json"
	"io"
	"strconv"

	"github.com/tailcut/tailcut/sched"
)

// WriteJSONLines writes a workload in the native format, in order of arrival, with the durations of every task. Reading
// it back gives the same jobs; they are numbered by their new lines.
func WriteJSONLines(out io.Writer, w *Workload) error {
	b := bufio.NewWriterSize(out, 1<<16)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	for j := range w.Jobs {
		if err := enc.Encode(w.jobLine(j)); err != nil {
			return err
		}
	}
	if err := b.Flush(); err != nil {
		return err
	}
	return nil
}

// jobLine is the inverse of reader.addJob.
func (w *Workload) jobLine(j int) *jobLine {
	job := &w.Jobs[j]
	l := &jobLine{
		Name: w.Names[job.Name], Arrival: job.Arrival.Seconds(), Deadline: job.Deadline.Seconds(), Priority: job.Priority, Weight: job.Weight,
		Value: job.Value, Late: job.Late,
		MinShare: uint16(job.MinShare), MaxLive: job.MaxLive, Retries: uint16(job.Retries),
	}
	stageNames := w.stageNames(j)
	for i, st := range w.StagesOf(j) {
		s := stageLine{
			Name: stageNames[i], Need: int(st.Need), Mean: st.Mean.Seconds(), SD: st.SD.Seconds(), Resumable: st.Resumable, Silent: st.Silent,
			Input: st.InputBytes, Durations: secondsList(w.DurationsOf(&st)),
		}
		for _, in := range w.InputsOf(&st) {
			list := make([]siteLine, 0, in.Sources)
			for _, x := range w.SourcesOf(in) {
				list = append(list, siteLine{Site: w.Sites[x.Site], Bytes: x.Bytes})
			}
			s.Inputs = append(s.Inputs, list)
		}
		if len(w.Classes) > 0 {
			s.Class = w.Classes[st.Class]
		}
		if st.Law >= 0 {
			s.Law = w.Laws[st.Law].String()
		}
		l.Stages = append(l.Stages, s)
	}
	for _, e := range w.EdgesOf(j) {
		to, from := &l.Stages[e.To], l.Stages[e.From].Name
		switch e.Kind {
		case sched.Barrier:
			to.After = append(to.After, afterLine{from, w.BytesOf(&e)})
		case sched.Pointwise:
			to.AfterEach = append(to.AfterEach, afterLine{from, w.BytesOf(&e)})
		case sched.PerTask:
			p := pairsLine{Stage: from, Pairs: [][]uint32{}, Bytes: w.BytesOf(&e)}
			for _, pair := range w.Pairs[e.FirstPair : e.FirstPair+e.Pairs] {
				p.Pairs = append(p.Pairs, []uint32{pair[0], pair[1]})
			}
			to.AfterTasks = append(to.AfterTasks, p)
		}
	}
	w.writeRules(j, l)
	return l
}

// stageNames returns the names of the stages of job j. A stage without a name is called by its index; one whose name
// another has too gets its index behind it.
func (w *Workload) stageNames(j int) []string {
	stages := w.StagesOf(j)
	all := make([]string, len(stages))
	taken := make(map[string]bool, len(stages))
	for i, st := range stages {
		name := w.Names[st.Name]
		if name == "" {
			name = strconv.Itoa(i)
		}
		for taken[name] {
			name += "#" + strconv.Itoa(i)
		}
		all[i], taken[name] = name, true
	}
	return all
}

// secondsList formats durations as a JSON list.
func secondsList(d []sched.Time) json.RawMessage {
	b := append(make([]byte, 0, 2+8*len(d)), '[')
	for i, x := range d {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendSeconds(b, x)
	}
	return append(b, ']')
}
