package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"
)

// cursor walks over one JSON text and takes out what is asked for. It is several times faster than encoding/json,
// because it looks at what it skips only as far as it must to find its end: brackets have to match in number, and
// strings to end. Of valid JSON it reads the same values.
//
// The first error sticks in err: everything after reads as empty.
//
//	c.enter('{')
//	for key, more := c.key(); more; key, more = c.key() {
//		switch string(key) {
//		case "Stage ID":
//			stage = c.int()
//		default:
//			c.skip()
//		}
//	}
type cursor struct {
	text  []byte
	at    int
	first bool   // just behind an opening bracket
	field []byte // the last key with its quotes, for messages
	err   error
}

// reset begins with another text.
func (c *cursor) reset(text []byte) { *c = cursor{text: text} }

// fail notes the first error, and ends the walk.
func (c *cursor) fail(what string) {
	if c.err != nil {
		return
	}
	if c.at >= len(c.text) {
		c.err = fmt.Errorf("expected %s, found the end of the text", what)
	} else {
		c.err = fmt.Errorf("expected %s, got %q", what, abridged(c.text[c.at:]))
	}
	c.at = len(c.text)
}

// space returns the next byte that is not blank, 0 at the end, without taking it.
func (c *cursor) space() byte {
	for c.at < len(c.text) {
		switch b := c.text[c.at]; b {
		case ' ', '\t', '\n', '\r':
			c.at++
		default:
			return b
		}
	}
	return 0
}

// enter takes an opening bracket, { or [.
func (c *cursor) enter(open byte) {
	if c.space() != open {
		c.fail(map[byte]string{'{': "an object", '[': "a list"}[open])
		return
	}
	c.at++
	c.first = true
}

// key takes the next key of an object and the colon behind it. more is false at the end of the object, whose bracket is
// then taken. The key is valid until the next string is read.
func (c *cursor) key() (key []byte, more bool) {
	if !c.item('}') {
		return nil, false
	}
	if c.space() != '"' {
		c.fail("a key")
		return nil, false
	}
	start := c.at
	key = c.str()
	if c.err != nil {
		return nil, false
	}
	c.field = c.text[start:c.at]
	if c.space() != ':' {
		c.fail("a colon behind the key")
		return nil, false
	}
	c.at++
	return key, true
}

// wrong names the field that the walk broke off at.
func (c *cursor) wrong(in *lines) error {
	return in.wrong(abridged(bytes.Trim(c.field, `"`)), c.err)
}

// item goes to the next item of a list or object; false at its end, whose bracket is then taken.
func (c *cursor) item(closing byte) bool {
	b := c.space()
	if b == closing {
		c.at++
		c.first = false
		return false
	}
	if !c.first {
		if b != ',' {
			c.fail("a comma or " + string(closing))
			return false
		}
		c.at++
		c.space()
	}
	c.first = false
	return c.err == nil
}

var errText = errors.New("expected a string")

// str takes a string, or null, which it returns as empty. The bytes are valid until the text changes.
func (c *cursor) str() []byte {
	switch c.space() {
	case 'n':
		c.skip()
		return nil
	case '"':
	default:
		c.fail("a text")
		return nil
	}
	start := c.at
	c.skipString()
	if c.err != nil {
		return nil
	}
	raw := c.text[start+1 : c.at-1]
	if bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
		return raw
	}
	var s string
	if json.Unmarshal(c.text[start:c.at], &s) != nil {
		c.err = fmt.Errorf("%w, got %q", errText, abridged(raw))
		return nil
	}
	return []byte(s)
}

// int takes a whole number.
func (c *cursor) int() int64 {
	c.space()
	start := c.at
	i, negative := start, false
	if i < len(c.text) && c.text[i] == '-' {
		negative = true
		i++
	}
	digits := i
	var n uint64
	for ; i < len(c.text) && c.text[i]-'0' <= 9 && i-digits < 19; i++ {
		n = n*10 + uint64(c.text[i]-'0')
	}
	if i == digits || n > math.MaxInt64 || i < len(c.text) && !ends(c.text[i]) {
		c.fail("a whole number")
		return 0
	}
	c.at = i
	if negative {
		return -int64(n)
	}
	return int64(n)
}

// bool takes true or false.
func (c *cursor) bool() bool {
	c.space()
	rest := c.text[c.at:]
	switch {
	case bytes.HasPrefix(rest, []byte("true")):
		c.at += 4
		return true
	case bytes.HasPrefix(rest, []byte("false")):
		c.at += 5
	default:
		c.fail("true or false")
	}
	return false
}

// skip passes over a value of any kind.
func (c *cursor) skip() {
	switch b := c.space(); b {
	case '"':
		c.skipString()
	case '{', '[':
		c.skipNested()
	case 0, ',', ':', '}', ']':
		c.fail("a value")
	default:
		for c.at < len(c.text) && !ends(c.text[c.at]) {
			c.at++
		}
	}
}

// ends says whether a byte ends a number or a word.
func ends(b byte) bool {
	switch b {
	case ',', '}', ']', ' ', '\t', '\n', '\r', ':', '"', '{', '[':
		return true
	}
	return false
}

// skipNested passes over an object or a list.
func (c *cursor) skipNested() {
	depth := 0
	for c.at < len(c.text) {
		switch c.text[c.at] {
		case '"':
			c.skipString()
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				c.at++
				return
			}
		}
		c.at++
	}
	c.fail("a closing bracket")
}

// skipString passes over a string.
func (c *cursor) skipString() {
	from := c.at + 1
	for i := from; ; i++ {
		n := bytes.IndexByte(c.text[i:], '"')
		if n < 0 {
			c.at = len(c.text)
			c.fail("a closing quote")
			return
		}
		i += n
		slashes := 0
		for i-1-slashes >= from && c.text[i-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			c.at = i + 1
			return
		}
	}
}
