package inputs

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// context is how a shell reads the text around a place.
type context uint8

const (
	bare    context = iota // outside all quotes
	double                 // "between these"
	single                 // 'between these'
	unclear                // where no way of quoting is known to be right, such as a here-document
)

// plain are the bytes that no shell takes for anything else.
var plain = func() (is [256]bool) {
	for _, c := range []byte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.+/") {
		is[c] = true
	}
	return is
}()

func isPlain(v []byte) bool {
	for _, c := range v {
		if !plain[c] {
			return false
		}
	}
	return len(v) > 0
}

// AppendQuoted appends a word as a shell has to be given it, in GNU parallel's way.
func AppendQuoted(b, v []byte) []byte {
	switch {
	case len(v) == 0:
		return append(b, "''"...)
	case isPlain(v):
		return append(b, v...)
	}
	start := len(b)
	b = append(b, '\'')
	for _, c := range v {
		if c == '\'' {
			b = append(b, `'"'"'`...)
			continue
		}
		b = append(b, c)
	}
	b = append(b, '\'')
	if bytes.HasPrefix(b[start:], []byte("''")) {
		b = append(b[:start], b[start+2:]...)
	}
	return bytes.TrimSuffix(b, []byte("''"))
}

// ErrUnsafe is wrapped by the error of a value that a shell would take for more than a value.
var ErrUnsafe = errors.New("a shell would read it as part of the command")

// fillLine appends a line for a shell.
func (w *word) fillLine(b []byte, k *Given) ([]byte, error) {
	for i := range w.pieces {
		p := &w.pieces[i]
		b = append(b, p.literal()...)
		for j, v := range k.values(p) {
			if j > 0 {
				b = append(b, ' ')
			}
			var err error
			if b, err = w.insert(b, p, v, k); err != nil {
				return b, err
			}
		}
	}
	return b, nil
}

// insert appends a value where a shell reads it.
func (w *word) insert(b []byte, p *piece, v []byte, k *Given) ([]byte, error) {
	if p.kind != value || w.whole || isPlain(v) {
		return append(b, v...), nil
	}
	switch {
	case w.guard:
		return b, fmt.Errorf("task %d: %s is %.80q here, and %w; write the command as one word and values are quoted: -- %s; or pass the value behind the line, as in: sh -c '... \"$1\"' sh {}",
			k.Index, p.text, v, ErrUnsafe, quoted(w.text))
	case p.where == bare:
		return AppendQuoted(b, v), nil
	case p.where == single:
		return append(b, strings.ReplaceAll(string(v), "'", `'\''`)...), nil
	case p.where == double:
		for _, c := range v {
			if strings.IndexByte("\\$\"`", c) >= 0 {
				b = append(b, '\\')
			}
			b = append(b, c)
		}
		return b, nil
	}
	return b, fmt.Errorf("task %d: %s is %.80q, and it stands where it cannot be quoted, such as in a here-document or in backquotes; pass it as an argument: -- sh -c '... \"$1\"' sh {}",
		k.Index, p.text, v)
}

func quoted(text string) string { return string(AppendQuoted(nil, []byte(text))) }

// reader follows a shell through a line.
type reader struct {
	open    []byte // what ends what is open, innermost last: " ' ) }
	escaped bool   // the next character is taken as it is
	lost    bool   // something was met that is not followed: nothing is clear from here on
	comment bool
	last    byte
}

// findContexts tells for each place of a line how it has to be quoted.
func (w *word) findContexts() {
	var r reader
	for i := range w.pieces {
		p := &w.pieces[i]
		if p.kind == literal {
			for j := range len(p.text) {
				r.read(p.text[j], p.text[j+1:])
			}
			continue
		}
		p.where = r.context()
		r.last, r.escaped = 'x', false // a value
	}
}

func (r *reader) top() byte {
	if len(r.open) == 0 {
		return 0
	}
	return r.open[len(r.open)-1]
}

func (r *reader) context() context {
	switch top := r.top(); {
	case r.lost || r.escaped || r.comment || bytes.IndexByte(r.open, '}') >= 0 || top != '\'' && r.last == '$':
		return unclear
	case top == '\'':
		return single
	case top == '"':
		return double
	}
	return bare
}

// read takes in a character; rest follows it, up to the next place.
func (r *reader) read(c byte, rest string) {
	before := r.last
	r.last = c
	switch top := r.top(); {
	case r.comment:
		r.comment = c != '\n'
	case top == '\'':
		if c == '\'' {
			r.close()
		}
	case r.escaped:
		r.escaped, r.last = false, 'x'
	case c == '\\':
		r.escaped = true
	case c == '`':
		r.lost = true
	case c == '"' && top == '"':
		r.close()
	case c == '"':
		r.open = append(r.open, '"')
	case c == '$' && strings.HasPrefix(rest, "(("), c == '$' && top != '"' && strings.HasPrefix(rest, "'"):
		r.lost = true // arithmetic, and quotes that only some shells know
	case (c == '(' || c == '{') && before == '$':
		r.open = append(r.open, map[byte]byte{'(': ')', '{': '}'}[c])
	case c == '}' && top == '}':
		r.close()
	case top == '"' || top == '}':
	default:
		r.readBare(c, before, rest)
	}
}

// readBare takes in a character outside quotes.
func (r *reader) readBare(c, before byte, rest string) {
	blank := strings.IndexByte(" \t\n;&|()<>", before) >= 0 || before == 0
	switch {
	case c == '\'':
		r.open = append(r.open, '\'')
	case c == '#' && blank:
		r.comment = true
	case c == '<' && strings.HasPrefix(rest, "<"):
		r.lost = true // a here-document
	case c == '(':
		r.open = append(r.open, ')')
	case c == ')' && r.top() == ')':
		r.close()
	case c == 'c' && blank && strings.HasPrefix(rest, "ase") && len(r.open) > 0:
		r.lost = true // a parenthesis that ends a pattern closes nothing
	}
}

func (r *reader) close() {
	r.open = r.open[:len(r.open)-1]
	r.last = 'x'
}
