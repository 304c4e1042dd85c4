package trace

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/tailcut/tailcut/internal/grammar"
	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/sched"
)

// The native format: one JSON object a line, which is one job. docs/reference/workloads.md describes the fields.

type jobLine struct {
	Name     string        `json:"name,omitempty"`
	Arrival  float64       `json:"arrival_seconds"`
	Deadline float64       `json:"deadline_seconds,omitempty"`
	Value    float64       `json:"value,omitempty"`
	Late     sched.Late    `json:"late,omitzero"`
	Priority int32         `json:"priority,omitempty"`
	Weight   float64       `json:"weight,omitempty"`
	MinShare uint16        `json:"min_share,omitempty"`
	MaxLive  uint32        `json:"max_live,omitempty"`
	Retries  uint16        `json:"retries,omitempty"`
	Datasets []datasetLine `json:"datasets,omitempty"`
	Stages   []stageLine   `json:"stages"`
}

type stageLine struct {
	Name       string          `json:"name,omitempty"`
	Tasks      *int            `json:"tasks,omitempty"`
	Need       int             `json:"need,omitempty"`
	Mean       float64         `json:"mean_seconds,omitempty"`
	SD         float64         `json:"sd_seconds,omitempty"`
	Law        string          `json:"law,omitempty"`
	Resumable  bool            `json:"resumable,omitempty"`
	Silent     bool            `json:"silent,omitempty"`
	Class      string          `json:"class,omitempty"`
	Input      int64           `json:"input_bytes,omitempty"`
	Inputs     [][]siteLine    `json:"inputs,omitempty"`
	Releases   []string        `json:"releases,omitempty"`
	After      []afterLine     `json:"after,omitempty"`
	AfterEach  []afterLine     `json:"after_each,omitempty"`
	AfterTasks []pairsLine     `json:"after_tasks,omitempty"`
	Durations  json.RawMessage `json:"durations_seconds,omitempty"`
}

type pairsLine struct {
	Stage string     `json:"stage"`
	Pairs [][]uint32 `json:"pairs"`
	Bytes []int64    `json:"bytes,omitempty"`
}

// jsonFields returns the names of all fields.
func jsonFields() (names []string) {
	for _, line := range []any{jobLine{}, stageLine{}, siteLine{}, datasetLine{}, afterLine{}, pairsLine{}} {
		for i := range reflect.TypeOf(line).NumField() {
			name, _, _ := strings.Cut(reflect.TypeOf(line).Field(i).Tag.Get("json"), ",")
			names = append(names, name)
		}
	}
	return names
}

// jsonLine reads one job.
func (in *reader) jsonLine(text string) error {
	var l jobLine
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		return in.wrongJSON(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return in.wrong("", errors.New("expected one JSON object on the line, found more behind it"))
	}
	return in.addJob(&l)
}

// wrongJSON puts the decoder's errors into our form.
func (in *reader) wrongJSON(err error) error {
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) && kind.Field != "" {
		return in.wrong(kind.Field, fmt.Errorf("expected %s, got %s", jsonType(kind.Type.Kind().String()), kind.Value))
	}
	text := strings.TrimPrefix(err.Error(), "json: ")
	if strings.HasPrefix(text, "expected hard,") {
		return in.wrong("late", errors.New(text))
	}
	if name, unknown := strings.CutPrefix(text, "unknown field "); unknown {
		name = strings.Trim(name, `"`)
		if near := grammar.Nearest(name, jsonFields()); near != "" {
			return in.wrong(name, fmt.Errorf("unknown; did you mean %s?", near))
		}
		return in.wrong(name, errors.New("unknown field; docs/reference/workloads.md lists the valid ones"))
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		text = "the line ends too early"
	}
	return in.wrong("", fmt.Errorf("expected a JSON object: %s", text))
}

// jsonType names a Go kind as a user of JSON knows it.
func jsonType(kind string) string {
	switch {
	case strings.HasPrefix(kind, "int"), strings.HasPrefix(kind, "uint"):
		return "a whole number in range"
	case strings.HasPrefix(kind, "float"):
		return "a number"
	case kind == "slice":
		return "a list"
	case kind == "struct":
		return "an object"
	case kind == "bool":
		return "true or false"
	}
	return "a " + kind
}

// addJob checks a job and appends it to the workload.
func (in *reader) addJob(l *jobLine) error {
	w := in.w
	job := JobRow{
		Number: in.line, Name: in.names.add(l.Name), Value: l.Value, Late: l.Late, Priority: l.Priority, Weight: l.Weight, MinShare: uint32(l.MinShare), MaxLive: l.MaxLive, Retries: uint32(l.Retries),
		FirstStage: uint32(len(w.Stages)), FirstEdge: uint32(len(w.Edges)),
	}
	var err error
	if l.MaxLive > math.MaxInt32 {
		return in.wrong("max_live", fmt.Errorf("expected a number of at most %d, got %d", math.MaxInt32, l.MaxLive))
	}
	if job.Arrival, err = checkSeconds(l.Arrival); err != nil {
		return in.wrong("arrival_seconds", err)
	}
	if job.Deadline, err = checkSeconds(l.Deadline); err != nil {
		return in.wrong("deadline_seconds", err)
	}
	if len(l.Stages) == 0 || len(l.Stages) > maxStages {
		return in.wrong("stages", fmt.Errorf("expected between 1 and %d stages, got %d", maxStages, len(l.Stages)))
	}
	rules, field, err := in.rules(l)
	if err != nil {
		return in.wrong(field, err)
	}
	for i := range l.Stages {
		if err := in.addStage(l, i); err != nil {
			return err
		}
		if field, err := rules.stage(&l.Stages[i]); err != nil {
			return in.wrong(fmt.Sprintf("stages[%d].%s", i, field), err)
		}
	}
	if rules != nil {
		if field, err := in.addRules(rules, l); err != nil {
			return in.wrong(field, err)
		}
	}
	job.Stages, job.Edges = uint32(len(l.Stages)), uint32(len(w.Edges))-job.FirstEdge
	w.Jobs = append(w.Jobs, job)
	var spec sched.JobSpec
	w.Spec(len(w.Jobs)-1, &spec)
	if err := spec.Validate(); err != nil {
		return in.wrong("", err)
	}
	return nil
}

// maxStages bounds the stages of a job: the core numbers them with 16 bits.
const maxStages = math.MaxUint16

// addStage appends stage i of a job, and the edges that lead to it.
func (in *reader) addStage(l *jobLine, i int) error {
	w, s := in.w, &l.Stages[i]
	field := func(name string) string { return fmt.Sprintf("stages[%d].%s", i, name) }
	if s.Name == "" {
		s.Name = strconv.Itoa(i)
	}
	if j := slices.IndexFunc(l.Stages[:i], func(o stageLine) bool { return o.Name == s.Name }); j >= 0 {
		return in.wrong(field("name"), fmt.Errorf("expected a name of its own, stage %d has %q too", j, s.Name))
	}
	st := StageRow{FirstTask: uint32(len(w.Durations)), Law: -1, Name: in.names.add(s.Name), Resumable: s.Resumable, Silent: s.Silent, InputBytes: s.Input}
	var err error
	if st.Mean, err = checkSeconds(s.Mean); err != nil {
		return in.wrong(field("mean_seconds"), err)
	}
	if st.SD, err = checkSeconds(s.SD); err != nil {
		return in.wrong(field("sd_seconds"), err)
	}
	if s.Input < 0 {
		return in.wrong(field("input_bytes"), fmt.Errorf("expected at least 0, got %d", s.Input))
	}
	if st.Class, err = in.class(s.Class); err != nil {
		return in.wrong(field("class"), err)
	}
	if s.Law != "" {
		if st.Law, err = in.law(s.Law); err != nil {
			return in.wrong(field("law"), err)
		}
	}
	if name, err := in.addDurations(s, i, st.Law); err != nil {
		return in.wrong(field(name), err)
	}
	st.Tasks = uint32(len(w.Durations)) - st.FirstTask
	if s.Need < 0 || s.Need > int(st.Tasks) {
		return in.wrong(field("need"), fmt.Errorf("expected between 0 (all) and the %d tasks, got %d", st.Tasks, s.Need))
	}
	st.Need = uint32(s.Need)
	w.Stages = append(w.Stages, st)
	if err := in.inputs(s.Inputs); err != nil {
		return in.wrong(field("inputs"), err)
	}
	return in.addEdges(l, i)
}

// addDurations appends the durations of a stage, those that are listed or draws of its law. An error comes with the
// name of the field.
func (in *reader) addDurations(s *stageLine, stage int, law int32) (string, error) {
	w := in.w
	first := len(w.Durations)
	if len(s.Durations) > 0 {
		if err := in.listed(s.Durations); err != nil {
			return "durations_seconds", err
		}
		if n := len(w.Durations) - first; s.Tasks != nil && *s.Tasks != n {
			return "tasks", fmt.Errorf("expected %d, the number of durations, got %d", n, *s.Tasks)
		}
		return "", nil
	}
	if law < 0 {
		return "durations_seconds", errors.New("expected a list of durations, or a law and a number of tasks")
	}
	if s.Tasks == nil || *s.Tasks < 0 {
		return "tasks", errors.New("expected a number of at least 0 beside a law")
	}
	if err := in.room(*s.Tasks); err != nil {
		return "tasks", err
	}
	draws := jobStream(in.set.Seed, in.line, uint64(stage))
	for range *s.Tasks {
		d, err := drawSeconds(w.Laws[law], draws)
		if err != nil {
			return "law", err
		}
		w.Durations = append(w.Durations, d)
	}
	return "", nil
}

// listed reads a JSON list of seconds; its syntax has been checked.
func (in *reader) listed(raw []byte) error {
	text := strings.TrimSpace(string(raw))
	inside, isList := strings.CutPrefix(text, "[")
	if !isList {
		return fmt.Errorf("expected a list of seconds, got %q", abridged(text))
	}
	inside = strings.TrimSpace(strings.TrimSuffix(inside, "]"))
	for n := 0; inside != ""; n++ {
		number, rest, _ := strings.Cut(inside, ",")
		d, err := parseSeconds(strings.TrimSpace(number))
		if err != nil {
			return fmt.Errorf("[%d]: %w", n, err)
		}
		if err := in.room(1); err != nil {
			return err
		}
		in.w.Durations = append(in.w.Durations, d)
		inside = rest
	}
	return nil
}

// law returns the index of a law, the same for equal specs.
func (in *reader) law(spec string) (int32, error) {
	if i, known := in.laws[spec]; known {
		return i, nil
	}
	l, err := laws.Parse(spec)
	if err != nil {
		return 0, fmt.Errorf("expected a law: %w", err)
	}
	if in.laws == nil {
		in.laws = map[string]int32{}
	}
	i := int32(len(in.w.Laws))
	in.w.Laws = append(in.w.Laws, l)
	in.laws[spec] = i
	return i, nil
}

// addEdges appends the edges to stage i of a job. They come from earlier stages only, so no stage can wait for itself.
func (in *reader) addEdges(l *jobLine, i int) error {
	w, s := in.w, &l.Stages[i]
	add := func(field, name string, kind sched.EdgeKind, pairs [][]uint32, bytes []int64) error {
		field = fmt.Sprintf("stages[%d].%s", i, field)
		from := slices.IndexFunc(l.Stages[:i], func(o stageLine) bool { return o.Name == name })
		if from < 0 {
			return in.wrong(field, fmt.Errorf("expected the name of a stage further left, got %q", name))
		}
		e := Edge{From: uint32(from), To: uint32(i), Kind: kind, FirstPair: uint32(len(w.Pairs)), Pairs: uint32(len(pairs))}
		for k, p := range pairs {
			if len(p) != 2 {
				return in.wrong(field, fmt.Errorf("pairs[%d]: expected two task indexes, got %d", k, len(p)))
			}
			w.Pairs = append(w.Pairs, [2]uint32{p[0], p[1]})
		}
		w.Edges = append(w.Edges, e)
		each, of := int(w.Stages[len(w.Stages)-1-i+from].Tasks), "tasks of that stage"
		if kind == sched.PerTask {
			each, of = len(pairs), "pairs"
		}
		if err := in.bytes(bytes, each, of); err != nil {
			return in.wrong(field, err)
		}
		return nil
	}
	for _, a := range s.After {
		if err := add("after", a.Stage, sched.Barrier, nil, a.Bytes); err != nil {
			return err
		}
	}
	for _, a := range s.AfterEach {
		if err := add("after_each", a.Stage, sched.Pointwise, nil, a.Bytes); err != nil {
			return err
		}
	}
	for _, p := range s.AfterTasks {
		if err := add("after_tasks", p.Stage, sched.PerTask, p.Pairs, p.Bytes); err != nil {
			return err
		}
	}
	return nil
}

// jobStream returns the random numbers of one job for one purpose. They depend on nothing else, so that a job is the
// same whatever jobs surround it.
func jobStream(seed uint64, job uint32, purpose uint64) *rand.PCG {
	return rand.NewPCG(seed, uint64(job)<<32|purpose)
}

// drawSeconds returns a duration that follows a law; what the law puts below 0 is 0.
func drawSeconds(l laws.Law, draws *rand.PCG) (sched.Time, error) {
	return checkSeconds(max(0, laws.Sample(l, uniform(draws))))
}

// uniform returns a number in (0, 1), one of 2^52 equally likely ones.
func uniform(draws *rand.PCG) float64 { return (float64(draws.Uint64()>>12) + 0.5) / (1 << 52) }
