package show

import (
	"strings"
	"testing"
)

func TestWriteRecords(t *testing.T) {
	type spread struct {
		N    int     `json:"n"`
		Mean float64 `json:"mean"`
	}
	type own struct {
		Name   string   `json:"name"`
		Load   *float64 `json:"load,omitempty"`
		Task   spread   `json:"task"`
		Clone  bool     `json:"clone"`
		Hidden int      `json:"-"`
	}
	type record struct {
		own
		Law string `json:"law"`
	}
	load := 1e7
	rows := []record{{own{"=a", &load, spread{3, 0.25}, true, 1}, "exp"}, {own: own{Name: "b"}}}
	for _, c := range []struct {
		without []string
		want    string
	}{
		{nil, "name,load,task_n,task_mean,clone,law\n'=a,10000000,3,0.25,true,exp\nb,,0,0,false,\n"},
		{[]string{"load", "law"}, "name,task_n,task_mean,clone\n'=a,3,0.25,true\nb,0,0,false\n"},
	} {
		var b strings.Builder
		if err := WriteRecords(&b, rows, c.without...); err != nil || b.String() != c.want {
			t.Errorf("without %v: %q, %v; want %q", c.without, b.String(), err, c.want)
		}
	}
}
