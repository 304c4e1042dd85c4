package serve

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type sample struct {
	Name  string   `json:"name"`
	Count *int     `json:"count"`
	Parts []part   `json:"parts"`
	Size  uint8    `json:"size"`
	Free  []string `json:"free"`
	Data  []byte   `json:"data"`
	Inner int      `json:"-"`
	embedded
}

type embedded struct {
	Deep float64 `json:"deep"`
}

type part struct {
	At bool `json:"at"`
}

func TestDecodeFindsEveryMistake(t *testing.T) {
	for _, c := range []struct {
		body string
		want []Mistake
	}{
		{`{"name":"a","count":3,"parts":[{"at":true}],"size":1,"data":"aGk="}`, nil},
		{`{"count":null}`, nil},
		{`{`, []Mistake{{"", "expected JSON: unexpected end of JSON input"}}},
		{`[]`, []Mistake{{"", "expected an object, not []"}}},
		{`{"name":3,"count":"x","parts":[{"at":1},{"off":2},true],"size":300,"nam":1,"Inner":2}`, []Mistake{
			{"Inner", "there is no such field"},
			{"count", `expected a whole number, not "x"`},
			{"nam", "there is no such field; did you mean name?"},
			{"name", "expected a string, not 3"},
			{"parts[0].at", "expected true or false, not 1"},
			{"parts[1].off", "there is no such field"},
			{"parts[2]", "expected an object, not true"},
			{"size", "expected a whole number of at least 0, not 300"},
		}},
		{`{"free":{"a":1},"NAME":"x"}`, []Mistake{{"NAME", "there is no such field"}, {"free", `expected a list, not {"a":1}`}}},
	} {
		var s sample
		if diff := cmp.Diff(c.want, decode([]byte(c.body), &s)); diff != "" {
			t.Errorf("%s: %s", c.body, diff)
		}
	}
}

// A body without mistakes is read as encoding/json reads it, a body with any is never accepted, and nothing panics.
func FuzzDecode(f *testing.F) {
	for _, body := range []string{`{}`, `null`, `{"name":"a","parts":[{}]}`, `{"count":1e99}`, strings.Repeat("[", 20000), `{"data":"%"}`} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var mine, theirs sample
		if len(decode(body, &mine)) > 0 {
			return
		}
		if err := json.Unmarshal(body, &theirs); err != nil {
			t.Fatalf("%q was accepted, and encoding/json says %v", body, err)
		}
		a, _ := json.Marshal(mine)
		b, _ := json.Marshal(theirs)
		if string(a) != string(b) {
			t.Fatalf("%q: read as %s, not as %s", body, a, b)
		}
	})
}
