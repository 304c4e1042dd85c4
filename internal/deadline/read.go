package deadline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tailcut/tailcut/laws"
)

// maxTasks is the most tasks or slots of a job.
const maxTasks = 100_000_000

// Read reads the jobs of a file. An error is one line with the file, the line, the place,
// as jobs[2].law, and what was expected there. A field that is unknown or given twice is an error, because what is
// planned would not be what was meant.
func Read(file string, text []byte) ([]Entry, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff")) // an editor's mark
	r := &reader{file: file, text: text}
	if !json.Valid(text) {
		var syntax *json.SyntaxError
		err := json.Unmarshal(text, new(any))
		if errors.As(err, &syntax) {
			return nil, fmt.Errorf("%s:%d: expected JSON: %w", file, r.line(syntax.Offset), err)
		}
		return nil, fmt.Errorf("%s: expected JSON: %w", file, err)
	}
	r.d = json.NewDecoder(bytes.NewReader(text))
	r.d.UseNumber()
	var jobs []Entry
	named := map[string]int{}
	err := r.object([]string{"jobs"}, func(string) error {
		return r.array(func(int) error {
			j, err := r.job()
			if first, twice := named[j.Name]; err == nil && twice {
				return r.within(part{field: "name"}, func() error {
					return r.fail("jobs[%d] is called %s too; give each job a name of its own", first, strconv.Quote(j.Name))
				})
			}
			named[j.Name] = len(jobs)
			jobs = append(jobs, j)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	if len(jobs) == 0 {
		return nil, fmt.Errorf("%s:1: jobs: expected at least one job", file)
	}
	return jobs, nil
}

// part is a step of a path: a field, or the place in an array if it has no name.
type part struct {
	field string
	place int
}

// reader walks through JSON that is known to be well formed.
type reader struct {
	file string
	text []byte
	d    *json.Decoder
	path []part // of the value that is read
}

func (r *reader) line(offset int64) int {
	return 1 + bytes.Count(r.text[:min(max(offset, 0), int64(len(r.text)))], []byte("\n"))
}

// fail says what was expected at the value that was read last.
func (r *reader) fail(format string, args ...any) error {
	where := ""
	for _, p := range r.path {
		if p.field == "" {
			where += fmt.Sprintf("[%d]", p.place)
		} else {
			where += "." + p.field
		}
	}
	if where != "" {
		where = strings.TrimPrefix(where, ".") + ": "
	}
	return fmt.Errorf("%s:%d: %s%s", r.file, r.line(r.d.InputOffset()), where, fmt.Sprintf(format, args...))
}

// within reads a part of a value.
func (r *reader) within(p part, read func() error) error {
	r.path = append(r.path, p)
	err := read()
	r.path = r.path[:len(r.path)-1]
	return err
}

// object reads an object with some of the fields, each once.
func (r *reader) object(fields []string, read func(field string) error) error {
	t, err := r.d.Token()
	if err != nil || t != json.Delim('{') {
		return r.fail("expected an object with %s, got %s", strings.Join(fields, ", "), shown(t))
	}
	return r.fields(fields, read)
}

// fields reads the rest of an object, from after its brace.
func (r *reader) fields(fields []string, read func(field string) error) error {
	var seen []string
	for r.d.More() {
		t, err := r.d.Token()
		if err != nil {
			return r.fail("%v", err)
		}
		field, _ := t.(string)
		switch {
		case !slices.Contains(fields, field):
			return r.fail("unknown field %q; valid: %s", field, strings.Join(fields, ", "))
		case slices.Contains(seen, field):
			return r.fail("field %q is given twice", field)
		}
		seen = append(seen, field)
		if err := r.within(part{field: field}, func() error { return read(field) }); err != nil {
			return err
		}
	}
	_, err := r.d.Token()
	return err
}

func (r *reader) array(read func(i int) error) error {
	if t, err := r.d.Token(); err != nil || t != json.Delim('[') {
		return r.fail("expected an array, got %s", shown(t))
	}
	for i := 0; r.d.More(); i++ {
		if err := r.within(part{place: i}, func() error { return read(i) }); err != nil {
			return err
		}
	}
	_, err := r.d.Token()
	return err
}

// number reads a finite number that satisfies a rule.
func (r *reader) number(to *float64, want string, ok func(x float64) bool) error {
	t, err := r.d.Token()
	n, isNumber := t.(json.Number)
	if err != nil || !isNumber {
		return r.fail("expected %s, got %s", want, shown(t))
	}
	x, err := strconv.ParseFloat(n.String(), 64)
	if err != nil || !ok(x) {
		return r.fail("expected %s, got %s", want, shown(t))
	}
	*to = x
	return nil
}

// whole reads a number of tasks or slots.
func (r *reader) whole(to *int) error {
	var n float64
	err := r.number(&n, fmt.Sprintf("a whole number from 1 to %d", maxTasks), func(x float64) bool {
		return x >= 1 && x <= maxTasks && x == math.Trunc(x)
	})
	*to = int(n)
	return err
}

// shown is a token as an error shows it.
func shown(t json.Token) string {
	const most = 40
	var s string
	switch t := t.(type) {
	case nil:
		return "null"
	case json.Delim:
		return map[json.Delim]string{'{': "an object", '[': "an array"}[t]
	case json.Number:
		s = t.String()
	default:
		s = fmt.Sprintf("%#v", t)
	}
	if len(s) > most {
		return s[:most] + "..."
	}
	return s
}

const someSeconds = "a number of seconds, at least 0"

func notNegative(x float64) bool { return x >= 0 }

// job reads one job.
func (r *reader) job() (j Entry, err error) {
	err = r.object(jobFields, func(field string) error {
		switch field {
		case "name":
			return r.name(&j.Name)
		case "tasks":
			return r.whole(&j.Tasks)
		case "stages":
			return r.stages(&j.Work)
		case "value":
			return r.number(&j.Value, "a number of more than 0 and at most 1000000", func(x float64) bool { return x > 0 && x <= 1e6 })
		case "slots":
			return r.whole(&j.Slots)
		case "law":
			return r.law(&j.Law)
		case "deadline_seconds":
			return r.number(&j.Deadline, "a number of seconds, more than 0", func(x float64) bool { return x > 0 })
		case "elapsed_seconds":
			return r.number(&j.Elapsed, someSeconds, notNegative)
		}
		return r.number(&j.Progress, "a number from 0 to 1", func(x float64) bool { return x >= 0 && x <= 1 })
	})
	if err != nil {
		return j, err
	}
	if len(j.Stages) > 0 {
		return j, r.staged(&j)
	}
	missing := ""
	switch {
	case j.Name == "":
		missing = "name"
	case j.Tasks == 0:
		missing = "tasks"
	case j.Law == nil:
		missing = "law"
	case j.Deadline == 0:
		missing = "deadline_seconds"
	}
	if missing != "" {
		return j, r.within(part{field: missing}, func() error { return r.fail("missing in the job that ends here") })
	}
	return j, nil
}

// lawSeconds are the parameters of laws that are times; in JSON their names say so.
var lawSeconds = []string{"xm", "mean", "sd", "delta", "lo", "hi", "value"}

// lawFields are the fields of a law.
var lawFields = func() []string {
	fields := []string{"name", "samples_seconds", "alpha", "mu", "sigma", "shape", "scale", "p", "mu1", "mu2"}
	for _, p := range lawSeconds {
		fields = append(fields, p+"_seconds")
	}
	return fields
}()

// jobFields are the fields of a job.
var jobFields = []string{"name", "tasks", "law", "deadline_seconds", "elapsed_seconds", "progress", "slots", "value", "stages"}

// law reads a law: an object of its name and parameters, one of samples, or the text of a spec.
func (r *reader) law(to *laws.Law) error {
	t, err := r.d.Token()
	if err != nil {
		return r.fail("%v", err)
	}
	spec, isText := t.(string)
	if !isText {
		if t != json.Delim('{') {
			return r.fail(`expected a law as {"name": "pareto", "xm_seconds": 120, "alpha": 1.5} or {"samples_seconds": [...]}, got %s`, shown(t))
		}
		var samples []float64
		if spec, samples, err = r.lawOf(); err != nil {
			return err
		}
		if spec == "" {
			sample, err := laws.NewEmpirical(samples)
			if err != nil {
				return r.fail("%v", err)
			}
			*to = sample
			return nil
		}
	}
	l, err := laws.Parse(spec)
	if err != nil {
		return r.fail("%v", err)
	}
	if !(l.Quantile(0) >= 0) {
		return r.fail("expected a law of durations, but %s can be negative", l)
	}
	*to = l
	return nil
}

// lawOf reads the rest of a law's object and returns its spec, or samples and no spec.
func (r *reader) lawOf() (spec string, samples []float64, err error) {
	var name string
	var parameters []string
	err = r.fields(lawFields, func(field string) error {
		switch field {
		case "name":
			t, err := r.d.Token()
			if name, _ = t.(string); err != nil || !slices.Contains(laws.Names(), name) {
				return r.fail("expected the name of a law, one of %s, got %s", strings.Join(laws.Names(), ", "), shown(t))
			}
			return nil
		case "samples_seconds":
			samples = []float64{}
			return r.array(func(int) error {
				var x float64
				err := r.number(&x, someSeconds, notNegative)
				samples = append(samples, x)
				return err
			})
		}
		var x float64
		err := r.number(&x, "a number", func(float64) bool { return true })
		parameters = append(parameters, strings.TrimSuffix(field, "_seconds")+"="+strconv.FormatFloat(x, 'g', -1, 64))
		return err
	})
	switch {
	case err != nil:
		return "", nil, err
	case samples != nil && (name != "" || parameters != nil):
		return "", nil, r.fail("expected samples_seconds alone, or a name with parameters")
	case samples != nil && len(samples) == 0:
		return "", nil, r.within(part{field: "samples_seconds"}, func() error { return r.fail("expected at least one duration") })
	case samples == nil && name == "":
		return "", nil, r.fail("expected the field name or samples_seconds in the law that ends here")
	case samples != nil:
		return "", samples, nil
	}
	return name + ":" + strings.Join(parameters, ","), nil, nil
}
