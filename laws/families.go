package laws

import (
	"math"
	"strings"
)

// family is one name of the spec syntax.
type family struct {
	name  string
	about string
	// forms are the alternative sets of parameters, each in canonical order. A
	// parameter is a number unless it says =law, =int, =list or =weights.
	forms [][]string
	// indexed parameters are followed by 1, 2, 3 and so on, each set complete.
	indexed bool
	build   func(a *arguments) (Law, error)
}

// families is sorted by name.
var families = []family{
	{name: "affine", about: "shift + scale X, for X of another law",
		forms: [][]string{{"scale", "shift", "of=law"}},
		build: func(a *arguments) (Law, error) { return NewAffine(a.law("of"), a.num("scale"), a.num("shift")) }},
	{name: "det", about: "a constant",
		forms: [][]string{{"value"}},
		build: func(a *arguments) (Law, error) { return Deterministic{a.num("value")}, nil }},
	{name: "empirical", about: "one of the values, each as likely; 2x3 is three times the value 2",
		forms: [][]string{{"values=list"}},
		build: func(a *arguments) (Law, error) { return a.list, nil }},
	{name: "exp", about: "exponential with rate mu, or with a mean",
		forms: [][]string{{"mu"}, {"mean"}},
		build: func(a *arguments) (Law, error) {
			if a.has("mean") {
				mean := a.num("mean")
				return Exponential{1 / mean}, check("exp", positive("mean", mean))
			}
			return Exponential{a.num("mu")}, nil
		}},
	{name: "gamma", about: "gamma with a shape and a scale; mean shape times scale",
		forms: [][]string{{"shape", "scale"}},
		build: func(a *arguments) (Law, error) { return Gamma{a.num("shape"), a.num("scale")}, nil }},
	{name: "hyperexp", about: "exponential with rate mu1 with probability p, else with rate mu2",
		forms: [][]string{{"p", "mu1", "mu2"}},
		build: func(a *arguments) (Law, error) { return HyperExp{a.num("p"), a.num("mu1"), a.num("mu2")}, nil }},
	{name: "lognormal", about: "exp of a normal number with mean mu and deviation sigma, or with a mean and deviation of its own",
		forms: [][]string{{"mu", "sigma"}, {"mean", "sd"}},
		build: func(a *arguments) (Law, error) {
			if a.has("mean") {
				return LognormalOf(a.num("mean"), a.num("sd"))
			}
			return Lognormal{a.num("mu"), a.num("sigma")}, nil
		}},
	{name: "max", about: "the largest of n independent copies of another law",
		forms: [][]string{{"n=int", "of=law"}},
		build: func(a *arguments) (Law, error) { return Max(a.law("of"), a.int("n")), nil }},
	{name: "min", about: "the smallest of n independent copies of another law",
		forms: [][]string{{"n=int", "of=law"}},
		build: func(a *arguments) (Law, error) { return Min(a.law("of"), a.int("n")), nil }},
	{name: "mixture", about: "one of several laws, drawn by weight: w1, of1, w2, of2, …",
		forms: [][]string{{"w", "of=law"}}, indexed: true,
		build: func(a *arguments) (Law, error) { return NewMixture(a.nums("w"), a.laws("of")) }},
	{name: "pareto", about: "power law above xm with tail index alpha",
		forms: [][]string{{"alpha", "xm"}},
		build: func(a *arguments) (Law, error) { return Pareto{a.num("alpha"), a.num("xm")}, nil }},
	{name: "residual", about: "what is left of another law after an age",
		forms: [][]string{{"age", "of=law"}},
		build: func(a *arguments) (Law, error) { return ResidualLife(a.law("of"), a.num("age")) }},
	{name: "shiftedexp", about: "a constant delta plus an exponential with rate mu",
		forms: [][]string{{"delta", "mu"}},
		build: func(a *arguments) (Law, error) { return ShiftedExp{a.num("delta"), a.num("mu")}, nil }},
	{name: "truncated", about: "another law given that it is from lo to hi",
		forms: [][]string{{"lo", "hi", "of=law"}, {"lo", "of=law"}},
		build: func(a *arguments) (Law, error) { return Truncate(a.law("of"), a.num("lo"), a.numOr("hi", math.Inf(1))) }},
	{name: "twopoint", about: "hi with probability p, else lo",
		forms: [][]string{{"lo", "hi", "p"}},
		build: func(a *arguments) (Law, error) { return TwoPoint{a.num("lo"), a.num("hi"), a.num("p")}, nil }},
	{name: "uniform", about: "constant density from lo to hi",
		forms: [][]string{{"lo", "hi"}},
		build: func(a *arguments) (Law, error) { return Uniform{a.num("lo"), a.num("hi")}, nil }},
	{name: "weibull", about: "Weibull with a shape and a scale; heavier than exponential for shapes below 1",
		forms: [][]string{{"shape", "scale"}},
		build: func(a *arguments) (Law, error) { return Weibull{a.num("shape"), a.num("scale")}, nil }},
	{name: "weighted", about: "one of the values with its own weight; 2x0.5 is the value 2 with weight 0.5",
		forms: [][]string{{"values=weights"}},
		build: func(a *arguments) (Law, error) { return a.weights, nil }},
}

// parameter splits a parameter of a form into its key and its kind.
func parameter(p string) (key, kind string) {
	key, kind, found := strings.Cut(p, "=")
	if !found {
		kind = "number"
	}
	return key, kind
}

// keys returns the keys of all forms, each once, in canonical order.
func (f *family) keys() []string {
	var out []string
	seen := map[string]bool{}
	for _, form := range f.forms {
		for _, p := range form {
			if key, _ := parameter(p); !seen[key] {
				seen[key] = true
				out = append(out, key)
			}
		}
	}
	return out
}

// kind returns the kind of the parameter with the key, "" if there is none.
func (f *family) kind(key string) string {
	for _, form := range f.forms {
		for _, p := range form {
			if k, kind := parameter(p); k == key {
				return kind
			}
		}
	}
	return ""
}

// Names returns the names that [Parse] knows, sorted. The slice is the caller's.
func Names() []string {
	out := make([]string, len(families))
	for i, f := range families {
		out[i] = f.name
	}
	return out
}

// Keys returns the names of the parameters of a law, in canonical order; nil if [Parse] does not know the law.
func Keys(name string) []string {
	for i := range families {
		if families[i].name == name {
			return families[i].keys()
		}
	}
	return nil
}

// Usage returns a listing of the spec syntax for a help text: for each name its
// forms and one line of explanation, ending in a newline. A law or list as a
// parameter is written in parentheses.
func Usage() string {
	var b strings.Builder
	for _, f := range families {
		for i, form := range f.forms {
			var params []string
			for _, p := range form {
				key, kind := parameter(p)
				if f.indexed {
					key += "1"
				}
				switch kind {
				case "law":
					params = append(params, key+"=(LAW)")
				case "list", "weights":
					params = append(params, key+"=(V V …)")
				default:
					params = append(params, key+"=…")
				}
			}
			if f.indexed {
				params = append(params, "…")
			}
			if i > 0 {
				b.WriteString(" | ")
			}
			b.WriteString(f.name + ":" + strings.Join(params, ","))
		}
		b.WriteString("\n    " + f.about + "\n")
	}
	return b.String()
}
