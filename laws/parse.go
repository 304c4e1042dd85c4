package laws

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tailcut/tailcut/internal/grammar"
)

const (
	maxNesting = 16      // laws within laws
	maxParts   = 64      // components of a mixture
	maxCopies  = 1 << 30 // n of min and max
)

// Parse returns the law of a spec NAME:key=value,key=value, such as
// pareto:alpha=2,xm=2. Times are in seconds. A parameter that is itself a law is
// put in parentheses: max:n=3,of=(exp:mu=1). [Usage] lists the names.
//
// An error is one line that says what was expected; for an unknown name or parameter,
// which is near or which are valid. Parse of a law's String is an equal law.
func Parse(s string) (Law, error) { return parse(s, 0) }

func parse(s string, depth int) (Law, error) {
	if depth > maxNesting {
		return nil, fmt.Errorf("more than %d laws within each other", maxNesting)
	}
	name, rest, _ := strings.Cut(s, ":")
	name = strings.TrimSpace(name)
	i, found := slices.BinarySearchFunc(families, name, func(f family, name string) int { return strings.Compare(f.name, name) })
	if !found {
		return nil, grammar.Unknown("law", name, Names())
	}
	f := &families[i]
	a := arguments{family: f, numbers: map[string]float64{}, parts: map[string]Law{}}
	if strings.TrimSpace(rest) != "" {
		for _, field := range grammar.Fields(rest) {
			if err := a.read(field, depth); err != nil {
				return nil, err
			}
		}
	}
	if err := a.complete(); err != nil {
		return nil, err
	}
	l, err := f.build(&a)
	if err != nil {
		return nil, err
	}
	if err := validate(l); err != nil {
		return nil, err
	}
	return l, nil
}

// arguments are the parameters given to a family, read and complete.
type arguments struct {
	family  *family
	given   []string // keys in the order given
	numbers map[string]float64
	parts   map[string]Law
	list    *Empirical
	weights *Weighted
}

// read reads one key=value.
func (a *arguments) read(field string, depth int) error {
	key, value, found := strings.Cut(field, "=")
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	if !found {
		return fmt.Errorf("%s wants key=value, got %q; valid keys: %s", a.family.name, field, a.family.listing())
	}
	kind := a.family.kind(a.base(key))
	switch {
	case kind == "":
		return fmt.Errorf("%s: %w", a.family.name, grammar.UnknownAmong("parameter", key, a.family.keys(), "valid: "+a.family.listing()))
	case a.has(key):
		return fmt.Errorf("parameter %q of %s is given twice", key, a.family.name)
	}
	a.given = append(a.given, key)
	if kind == "law" || kind == "list" || kind == "weights" {
		inner, ok := strings.CutPrefix(value, "(")
		inner, closed := strings.CutSuffix(inner, ")")
		if !ok || !closed {
			return fmt.Errorf("%s: %s must be a %s in parentheses, got %q", a.family.name, key,
				map[string]string{"law": "law", "list": "list", "weights": "list"}[kind], value)
		}
		var err error
		switch kind {
		case "list":
			a.list, err = parseSample(inner)
		case "weights":
			a.weights, err = parseWeights(inner)
		default:
			a.parts[key], err = parse(inner, depth+1)
		}
		return err
	}
	v, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return fmt.Errorf("%s of %s must be a finite number, got %q", key, a.family.name, value)
	}
	if kind == "int" && !(v == math.Trunc(v) && v >= 1 && v <= maxCopies) {
		return fmt.Errorf("%s of %s must be a whole number from 1 to %d, got %q", key, a.family.name, maxCopies, value)
	}
	a.numbers[key] = v
	return nil
}

// base returns the key without the index of an indexed family; "" if the index
// is missing or wrong.
func (a *arguments) base(key string) string {
	if !a.family.indexed {
		return key
	}
	base := strings.TrimRight(key, "0123456789")
	if i, err := strconv.Atoi(key[len(base):]); err != nil || i < 1 || i > maxParts || base+strconv.Itoa(i) != key {
		return ""
	}
	return base
}

// complete returns an error unless the keys given are exactly those of a form.
func (a *arguments) complete() error {
	for _, form := range a.family.forms {
		wanted := len(form)
		if a.family.indexed {
			wanted = max(1, (len(a.given)+len(form)-1)/len(form)) * len(form)
		}
		have := 0
		for i := range wanted {
			key, _ := parameter(form[i%len(form)])
			if a.family.indexed {
				key += strconv.Itoa(1 + i/len(form))
			}
			if a.has(key) {
				have++
			}
		}
		if have == wanted && have == len(a.given) {
			return nil
		}
	}
	var wants []string
	for _, form := range a.family.forms {
		var keys []string
		for _, p := range form {
			key, _ := parameter(p)
			keys = append(keys, key)
		}
		wants = append(wants, strings.Join(keys, " and "))
	}
	want := strings.Join(wants, ", or ")
	if a.family.indexed {
		want += ", numbered from 1 without gaps"
	}
	got := strings.Join(a.given, ", ")
	if got == "" {
		got = "nothing"
	}
	return fmt.Errorf("%s wants %s; got %s", a.family.name, want, got)
}

// listing returns the valid keys for an error.
func (f *family) listing() string {
	keys := f.keys()
	if f.indexed {
		for i := range keys {
			keys[i] += "1"
		}
		keys = append(keys, "…")
	}
	return strings.Join(keys, ", ")
}

func (a *arguments) has(key string) bool { return slices.Contains(a.given, key) }

func (a *arguments) num(key string) float64 { return a.numbers[key] }

func (a *arguments) numOr(key string, otherwise float64) float64 {
	if a.has(key) {
		return a.numbers[key]
	}
	return otherwise
}

func (a *arguments) int(key string) int { return int(a.numbers[key]) }

func (a *arguments) law(key string) Law { return a.parts[key] }

// nums and laws return the values of an indexed key, in order.
func (a *arguments) nums(key string) []float64 {
	out := make([]float64, len(a.numbers))
	for i := range out {
		out[i] = a.numbers[key+strconv.Itoa(i+1)]
	}
	return out
}

func (a *arguments) laws(key string) []Law {
	out := make([]Law, len(a.parts))
	for i := range out {
		out[i] = a.parts[key+strconv.Itoa(i+1)]
	}
	return out
}

// parseSample reads values separated by blanks, in any order, 2x3 being three
// times the value 2.
func parseSample(s string) (*Empirical, error) {
	type group struct {
		value float64
		count int
	}
	var groups []group
	for _, field := range strings.Fields(s) {
		text, times, repeated := strings.Cut(field, "x")
		v, err := strconv.ParseFloat(text, 64)
		g := group{v, 1}
		if repeated && err == nil {
			g.count, err = strconv.Atoi(times)
		}
		if err != nil {
			return nil, fmt.Errorf("values of empirical must be numbers like 2.5, or 2.5x3 for three of them, got %q", field)
		}
		groups = append(groups, g)
	}
	slices.SortStableFunc(groups, func(a, b group) int {
		if a.value < b.value {
			return -1
		} else if a.value > b.value {
			return 1
		}
		return 0
	})
	var values []float64
	var counts []int
	for i, g := range groups {
		if g.count < 1 || g.count > maxCopies {
			return nil, fmt.Errorf("counts of empirical must be from 1 to %d, got %d", maxCopies, g.count)
		}
		if i > 0 && g.value == groups[i-1].value {
			counts[len(counts)-1] += g.count
			continue
		}
		values = append(values, g.value)
		counts = append(counts, g.count)
	}
	return NewEmpiricalCounts(values, counts)
}
