package kube

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/sched"
)

// What tasks read is told of all, or of those in ranges; what is wrong with it is told in a line.
func TestParseData(t *testing.T) {
	for _, c := range []struct {
		text string
		want [][]sched.Source // of tasks 1, 2 and 4; one list if all read the same
		says string
	}{
		{text: "b=10Gi", want: [][]sched.Source{{{Site: 1, Bytes: 10 << 30}}}},
		{text: " b = 1k , a=2 ", says: `" b = 1k "`},
		{text: "b=1k, a=2", want: [][]sched.Source{{{Site: 1, Bytes: 1000}, {Bytes: 2}}}},
		{text: "0-1:a=1;2:b=2;4-9:a=3,b=4", want: [][]sched.Source{{{Bytes: 1}}, {{Site: 1, Bytes: 2}}, {{Bytes: 3}, {Site: 1, Bytes: 4}}}},
		{text: "2 - 2 : b=7", want: [][]sched.Source{nil, {{Site: 1, Bytes: 7}}, nil}},
		{text: "5-9:b=7", want: [][]sched.Source{nil, nil, nil}},
		{text: "a=0.5", want: [][]sched.Source{{{Bytes: 1}}}},
		{text: "a=1;b=2", says: `"a=1": expected indexes before each of several parts, such as 0-9:eu-a=1Gi;10-19:eu-b=1Gi`},
		{text: "0-3:a=1;3:b=2", says: `"3:b=2": expected indexes above 3`},
		{text: "3-0:a=1", says: `"3-0": expected an index or the first and the last of several, such as 0-9`},
		{text: "-1:a=1", says: `"-1": expected an index`},
		{text: "0:", says: `"": expected a zone and how many bytes are there, such as eu-a=10Gi`},
		{text: "a=-1", says: `"a=-1": expected a zone`},
		{text: "a=9E,b=100E", says: `"b=100E": expected a zone`},
		{text: "a=1,a=2", says: `"a=1,a=2": zone a is there twice`},
		{text: "=1", says: `"=1": expected a zone`},
	} {
		all, err := parseData(c.text)
		if c.says != "" {
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%q: %v, want %q", c.text, err, c.says)
			}
			continue
		}
		if err != nil || len(all) == 0 {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		s, spec := settings{data: c.text}, &sched.JobSpec{Stages: []sched.StageSpec{{Tasks: 3}}}
		s.locate(spec, []int{1, 2, 4}, &rules{poolKind: poolKind{zones: "a,b"}})
		if diff := cmp.Diff(c.want, spec.Stages[0].Inputs); diff != "" {
			t.Errorf("%q: -want +got:\n%s", c.text, diff)
		}
	}
}

// FuzzParseData: what is read ascends, has bytes that can be counted, and is read the same when it is written again.
func FuzzParseData(f *testing.F) {
	for _, text := range []string{"", "eu-a=10Gi,eu-b=2Gi", "0-9:eu-a=1Gi;10-19:eu-b=1Gi", "1:a=0.1;2-2147483647:b=1e3", "a=1;", ":=;-,", "0:a=9223372036854775807"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all, err := parseData(text)
		if err != nil {
			return
		}
		after, again := -1, ""
		for i, x := range all {
			if x.from <= after || x.to < x.from || len(x.amounts) == 0 {
				t.Fatalf("%q: %+v", text, all)
			}
			after = x.to
			if i > 0 {
				again += ";"
			}
			if x.to < math.MaxInt {
				again += fmt.Sprintf("%d-%d:", x.from, x.to)
			}
			for k, a := range x.amounts {
				if a.bytes < 0 || a.zone == "" {
					t.Fatalf("%q: %+v", text, all)
				}
				if k > 0 {
					again += ","
				}
				again += fmt.Sprintf("%s=%d", a.zone, a.bytes)
			}
		}
		if same, err := parseData(again); err != nil || !cmp.Equal(same, all, cmp.AllowUnexported(reads{}, amount{})) {
			t.Fatalf("%q: %+v is %q: %+v, %v", text, all, again, same, err)
		}
	})
}
