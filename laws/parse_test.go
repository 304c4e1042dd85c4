package laws

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	ten := must(LognormalOf(10, 5))
	for _, test := range []struct {
		spec string
		want Law
	}{
		{"exp:mu=2", Exponential{Mu: 2}},
		{"exp:mean=4", Exponential{Mu: 0.25}},
		{"shiftedexp:delta=1,mu=1", ShiftedExp{Delta: 1, Mu: 1}},
		{"pareto:alpha=2,xm=2", Pareto{Alpha: 2, Xm: 2}},
		{" pareto : xm = 2e0 , alpha = 1.5 ", Pareto{Alpha: 1.5, Xm: 2}},
		{"weibull:shape=0.5,scale=3", Weibull{Shape: 0.5, Scale: 3}},
		{"lognormal:mu=-1,sigma=0.5", Lognormal{Mu: -1, Sigma: 0.5}},
		{"lognormal:mean=10,sd=5", ten},
		{"gamma:shape=2,scale=3", Gamma{Shape: 2, Scale: 3}},
		{"uniform:lo=0,hi=1", Uniform{Lo: 0, Hi: 1}},
		{"det:value=3", Deterministic{Value: 3}},
		{"twopoint:lo=1,hi=10,p=0.1", TwoPoint{Lo: 1, Hi: 10, P: 0.1}},
		{"hyperexp:p=0.9,mu1=2,mu2=0.1", HyperExp{P: 0.9, Mu1: 2, Mu2: 0.1}},
		{"min:n=2,of=(exp:mu=2)", Exponential{Mu: 4}},
	} {
		got, err := Parse(test.spec)
		if err != nil {
			t.Errorf("Parse(%q): %v", test.spec, err)
		} else if got != test.want {
			t.Errorf("Parse(%q) = %v, want %v", test.spec, got, test.want)
		}
	}
}

func TestParseCanonical(t *testing.T) {
	for spec, want := range map[string]string{
		"empirical:values=(5 1 2 2 8 2)":                             "empirical:values=(1 2x3 5 8)",
		"empirical:values=(2x2 1 2)":                                 "empirical:values=(1 2x3)",
		"max:n=3,of=(gamma:shape=2,scale=1)":                         "max:n=3,of=(gamma:shape=2,scale=1)",
		"max:n=3,of=(max:n=2,of=(gamma:scale=1,shape=2))":            "max:n=6,of=(gamma:shape=2,scale=1)",
		"residual:age=3,of=(shiftedexp:delta=1,mu=1)":                "exp:mu=1",
		"residual:age=3,of=(pareto:alpha=2,xm=1)":                    "residual:age=3,of=(pareto:alpha=2,xm=1)",
		"truncated:lo=1,of=(exp:mu=1)":                               "truncated:lo=1,of=(exp:mu=1)",
		"truncated:lo=2,hi=5,of=(empirical:values=(1 2 2 5 9))":      "empirical:values=(2x2 5)",
		"mixture:w1=3,of1=(exp:mu=1),w2=1,of2=(det:value=2)":         "mixture:w1=0.75,of1=(exp:mu=1),w2=0.25,of2=(det:value=2)",
		"affine:scale=2,shift=1,of=(min:n=2,of=(uniform:lo=0,hi=1))": "affine:scale=2,shift=1,of=(min:n=2,of=(uniform:lo=0,hi=1))",
	} {
		l, err := Parse(spec)
		if err != nil {
			t.Errorf("Parse(%q): %v", spec, err)
		} else if got := l.String(); got != want {
			t.Errorf("Parse(%q) is %q, want %q", spec, got, want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for spec, want := range map[string]string{
		"pareto:alpa=2,xm=2": `pareto: unknown parameter "alpa"; did you mean alpha?`,
		"parto:alpha=2":      `unknown law "parto"; did you mean pareto?`,
		"normal:mu=2": `unknown law "normal"; valid: affine, det, empirical, exp, gamma, hyperexp, lognormal, ` +
			`max, min, mixture, pareto, residual, shiftedexp, truncated, twopoint, uniform, weibull, weighted`,
		"pareto:alpha=2":                       `pareto wants alpha and xm; got alpha`,
		"pareto":                               `pareto wants alpha and xm; got nothing`,
		"exp:mu=1,mean=1":                      `exp wants mu, or mean; got mu, mean`,
		"exp:mean=0":                           `mean of exp must be a positive finite number, got 0`,
		"exp:mu=1,mu=2":                        `parameter "mu" of exp is given twice`,
		"exp:mu":                               `exp wants key=value, got "mu"; valid keys: mu, mean`,
		"exp:mu=fast":                          `mu of exp must be a finite number, got "fast"`,
		"exp:mu=NaN":                           `mu of exp must be a finite number, got "NaN"`,
		"exp:mu=1e999":                         `mu of exp must be a finite number, got "1e999"`,
		"pareto:alpha=-1,xm=2":                 `alpha of pareto must be a positive finite number, got -1`,
		"twopoint:lo=1,hi=2,p=1.5":             `p of twopoint must be a probability in [0, 1], got 1.5`,
		"uniform:lo=2,hi=1":                    `hi of uniform must be greater than lo=2, got 1`,
		"min:n=0,of=(exp:mu=1)":                `n of min must be a whole number from 1 to 1073741824, got "0"`,
		"min:n=2,of=exp":                       `min: of must be a law in parentheses, got "exp"`,
		"min:n=2,of=(exp:mu=1":                 `min: of must be a law in parentheses, got "(exp:mu=1"`,
		"min:n=2,of=(exp:my=1)":                `exp: unknown parameter "my"; did you mean mu?`,
		"mixture:w1=1,of2=(exp:mu=1)":          `mixture wants w and of, numbered from 1 without gaps; got w1, of2`,
		"mixture:w01=1":                        `mixture: unknown parameter "w01"; valid: w1, of1, …`,
		"empirical:values=()":                  `empirical wants at least one value and a count for each, got 0 values and 0 counts`,
		"empirical:values=(1 y)":               `values of empirical must be numbers like 2.5, or 2.5x3 for three of them, got "y"`,
		"empirical:values=(1x0)":               `counts of empirical must be from 1 to 1073741824, got 0`,
		"residual:age=3,of=(det:value=2)":      `residual: det:value=2 never lasts longer than age=3`,
		"truncated:lo=3,hi=4,of=(det:value=2)": `truncated: det:value=2 has no mass in [3, 4]`,
		strings.Repeat("min:n=2,of=(", 20) + "exp:mu=1" + strings.Repeat(")", 20): `more than 16 laws within each other`,
	} {
		l, err := Parse(spec)
		if err == nil {
			t.Errorf("Parse(%q) = %v, want the error %s", spec, l, want)
		} else if err.Error() != want {
			t.Errorf("Parse(%q):\n got %s\nwant %s", spec, err, want)
		}
	}
}

func TestUsageListsEveryName(t *testing.T) {
	var names []string
	for line := range strings.Lines(Usage()) {
		if !strings.HasPrefix(line, " ") {
			name, _, _ := strings.Cut(line, ":")
			names = append(names, name)
		}
	}
	if diff := cmp.Diff(Names(), names); diff != "" {
		t.Errorf("names in the usage (-want +got):\n%s", diff)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range subjects() {
		f.Add(s.law.String())
	}
	for _, s := range []string{"", ":", "exp:mean=1e-310", "min:n=1073741824,of=(exp:mu=1e308)", "truncated:lo=1,of=(exp:mu=1)",
		"lognormal:mean=10,sd=5", "empirical:values=(0x1 -0 0)", "mixture:w1=1e-320,of1=(exp:mu=1)", "min:n=2,of=((()))"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		l, err := Parse(s)
		if err != nil {
			if text := err.Error(); strings.Contains(text, "\n") || !strings.HasPrefix(text, "") {
				t.Errorf("Parse(%q): error %q is not one line of the package", s, text)
			}
			return
		}
		text := l.String()
		again, err := Parse(text)
		if err != nil {
			t.Fatalf("Parse(%q) is %q, and that does not parse: %v", s, text, err)
		}
		if got := again.String(); got != text {
			t.Fatalf("%q reads back as %q", text, got)
		}
		for _, u := range []float64{1e-300, 0.5, 1 - 0x1p-53} {
			if x := Sample(l, u); math.IsNaN(x) {
				t.Errorf("%s: Sample(%g) is NaN", text, u)
			}
		}
	})
}
