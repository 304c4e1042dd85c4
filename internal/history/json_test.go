package history

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// walk reads a JSON text with the cursor into what encoding/json would make of it, whole numbers as int64.
func walk(c *cursor) any {
	switch b := c.space(); b {
	case '{':
		m := map[string]any{}
		c.enter('{')
		for key, more := c.key(); more; key, more = c.key() {
			name := string(key)
			m[name] = walk(c)
		}
		return m
	case '[':
		l := []any{}
		for c.enter('['); c.item(']'); {
			l = append(l, walk(c))
		}
		return l
	case '"':
		return string(c.str())
	case 't', 'f':
		return c.bool()
	default:
		start := c.at
		c.skip()
		return string(c.text[start:c.at])
	}
}

// plainer makes the same of what encoding/json has read: numbers and null are their text.
func plainer(v any) any {
	switch x := v.(type) {
	case map[string]any:
		for k := range x {
			x[k] = plainer(x[k])
		}
	case []any:
		for i := range x {
			x[i] = plainer(x[i])
		}
	case json.Number:
		return x.String()
	case nil:
		return "null"
	}
	return v
}

// Of valid JSON the cursor reads what encoding/json reads, skips as far as it reads, and takes whole numbers alike; of anything else it does not panic.
func FuzzCursor(f *testing.F) {
	for _, s := range []string{
		`{}`, `[]`, `{"a":1}`, ` { "a" : [ 1 , -2, 3.5e3, true, false, null ] , "b" : "x\"y\\" } `, `{"\u0041\n":"\ud83d\ude00 \ud800"}`,
		`"\\"`, `"\\\""`, `{"a":{"b":{"c":[]}}}`, `9223372036854775807`, `-9223372036854775808`, `{"a":1,}`, `{"a"}`, `[1`, `{"a":"b`, "\"\xff\"", `{"":""}`,
		`{"Event":"SparkListenerTaskEnd","Stage ID":3}`, `[[[[]]]]`, `{"a":tru}`, `{"a":1 2}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var c cursor
		c.reset([]byte(text))
		got := walk(&c)
		trailing := c.space()
		var skipped cursor
		skipped.reset([]byte(text))
		skipped.skip()
		var number cursor
		number.reset([]byte(text))
		n := number.int()
		if !json.Valid([]byte(text)) {
			return
		}
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		var want any
		if err := d.Decode(&want); err != nil {
			return // nested too deeply for it
		}
		if c.err != nil || trailing != 0 {
			t.Fatalf("%q: %v, %q is left", text, c.err, c.text[c.at:])
		}
		a, _ := json.Marshal(got)
		b, _ := json.Marshal(plainer(want))
		if !bytes.Equal(a, b) {
			t.Fatalf("%q: read %s, encoding/json reads %s", text, a, b)
		}
		if skipped.err != nil || skipped.space() != 0 {
			t.Fatalf("%q: skipped to %q (%v)", text, skipped.text[skipped.at:], skipped.err)
		}
		var i int64
		if err := json.Unmarshal([]byte(text), &i); text != "null" && strings.TrimSpace(text) != "null" && (err == nil) != (number.err == nil) && i != -1<<63 {
			t.Fatalf("%q: as a whole number %v, encoding/json: %v", text, number.err, err)
		} else if err == nil && number.err == nil && n != i {
			t.Fatalf("%q: read %d, encoding/json reads %d", text, n, i)
		}
	})
}

// A walk through a nested list does not recurse when it skips: depth costs nothing.
func TestCursorSkipsDeep(t *testing.T) {
	text := strings.Repeat("[", 1<<20) + strings.Repeat("]", 1<<20)
	var c cursor
	c.reset([]byte(text))
	c.skip()
	if c.err != nil || c.at != len(text) {
		t.Fatal(c.err, c.at)
	}
}

func TestCursorErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{"a":x}`, `expected a whole number, got "x}"`},
		{`{"a":1.5}`, `expected a whole number, got "1.5}"`},
		{`{"a":99999999999999999999}`, `expected a whole number, got "99999999999999999999}"`},
		{`{"a":1`, `expected a comma or }, found the end of the text`},
		{`{"a" 1}`, `expected a colon behind the key, got "1}"`},
		{`{a:1}`, `expected a key, got "a:1}"`},
		{`[1]`, `expected an object, got "[1]"`},
		{`{"a`, `expected a closing quote, found the end of the text`},
	} {
		var k cursor
		k.reset([]byte(c.text))
		k.enter('{')
		for _, more := k.key(); more; _, more = k.key() {
			k.int()
		}
		if k.err == nil || k.err.Error() != c.want {
			t.Errorf("%s: %v, expected %s", c.text, k.err, c.want)
		}
	}
}
