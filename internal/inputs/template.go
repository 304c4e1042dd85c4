package inputs

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Template is a command with places for values. It may be used by several goroutines.
type Template struct {
	words []word
	taken string // the first replacement string, "" for none: then the values go to the end
}

// word is an argument of the command, or the line that a shell is given.
type word struct {
	text   string
	pieces []piece
	line   bool // values are quoted for the shell that reads the word
	whole  bool // the value is the line
	guard  bool // a shell reads the word, and values are put in only if it takes them for nothing else
}

// piece is text as it is, or a place for values.
type piece struct {
	text  string // as written
	kind  kind
	all   bool   // every value of the row
	which int    // else the value from 1, or below 0 from the end
	op    string // what of the value, as written behind its number
	where context
}

type kind uint8

const (
	literal kind = iota
	value
	index
	sequence
	total
	slot
)

// Given is what a task is given to put into its command.
type Given struct {
	Index, Tasks int
	Slot         int      // from 1, 0 if it is not known yet
	Row          [][]byte // its values
}

// NewTemplate reads a command. If line is set its last word is a line for a shell. Without rows {} is the task's index,
// and no other values are known.
func NewTemplate(command []string, line bool, rows *Rows) (*Template, error) {
	t := &Template{words: make([]word, len(command))}
	script := scriptWord(command)
	for i, text := range command {
		w := &t.words[i]
		w.text = text
		w.line = line && i == len(command)-1
		w.guard = !w.line && i == script && rows != nil
		if err := t.parse(w, rows); err != nil {
			return nil, err
		}
		if w.line {
			w.whole = len(w.pieces) == 1 && w.pieces[0].kind == value && w.pieces[0].all && w.pieces[0].op == ""
			w.findContexts()
		}
	}
	if rows != nil && t.taken == "" && rows.Columns > 0 {
		everything := piece{kind: value, all: true}
		if last := &t.words[len(t.words)-1]; last.line {
			if len(last.pieces) > 0 {
				last.pieces = append(last.pieces, piece{text: " "})
			}
			last.pieces = append(last.pieces, everything)
			last.findContexts()
		} else {
			t.words = append(t.words, word{pieces: []piece{everything}})
		}
	}
	return t, nil
}

// ops are what a replacement string can take of a value; those of plus only if they are asked for.
var (
	ops     = []string{"", ".", "/", "//", "/."}
	plusOps = []string{"+/", "+.", "..", "+..", "...", "+...", "/..", "/..."}
)

var numbered = regexp.MustCompile(`^(-?[1-9][0-9]{0,8})([^0-9].*)?$`)

// parse cuts a word into pieces.
func (t *Template) parse(w *word, rows *Rows) error {
	text, start := w.text, 0
	custom := rows != nil && rows.Replace != ""
	for i := 0; i < len(text); {
		size, p := 0, piece{}
		switch {
		case custom && strings.HasPrefix(text[i:], rows.Replace):
			size, p = len(rows.Replace), piece{kind: value, all: true}
		case text[i] == '{':
			end := strings.IndexByte(text[i:], '}')
			if end < 0 {
				break
			}
			inner := text[i+1 : i+end]
			if strings.HasPrefix(inner, "=") && rows != nil && strings.Contains(text[i+2:], "=}") {
				return fmt.Errorf("{= =} holds Perl, which tailcut does not run; let the shell compute it, as in: -- 'x=$(expr {} + 1); echo $x'")
			}
			if inner != "" && i > 0 && text[i-1] == '$' || inner == "" && custom { // ${1} is the shell's
				break
			}
			var err error
			if p, err = place(inner, rows); err != nil {
				return err
			}
			if p.kind != literal {
				size = end + 1
			}
		}
		if size == 0 {
			i++
			continue
		}
		if start < i {
			w.pieces = append(w.pieces, piece{text: text[start:i]})
		}
		p.text = text[i : i+size]
		w.pieces = append(w.pieces, p)
		if t.taken == "" {
			t.taken = p.text
		}
		i += size
		start = i
	}
	if start < len(text) {
		w.pieces = append(w.pieces, piece{text: text[start:]})
	}
	return nil
}

// place reads what stands between braces. A literal is no place.
func place(inner string, rows *Rows) (piece, error) {
	switch inner {
	case "#":
		return piece{kind: sequence}, nil
	case "##":
		return piece{kind: total}, nil
	case "%":
		return piece{kind: slot}, nil
	}
	if rows == nil {
		if inner == "" {
			return piece{kind: index}, nil
		}
		return piece{}, nil
	}
	known := func(op string) bool { return slices.Contains(ops, op) || rows.Plus && slices.Contains(plusOps, op) }
	if known(inner) {
		return piece{kind: value, all: true, op: inner}, nil
	}
	if m := numbered.FindStringSubmatch(inner); m != nil && known(m[2]) {
		n, _ := strconv.Atoi(m[1])
		if max(n, -n) > rows.Columns {
			return piece{}, fmt.Errorf("the command has {%s}, and a task has %d; what each source or column gives is {1}, {2} and so on",
				inner, rows.Columns)
		}
		return piece{kind: value, which: n, op: m[2]}, nil
	}
	for i, name := range rows.Names {
		if op, ok := strings.CutPrefix(inner, name); ok && name != "" && known(op) {
			return piece{kind: value, which: i + 1, op: op}, nil
		}
	}
	return piece{}, nil
}

// Plain tells whether the command as it was written has no place for values.
func (t *Template) Plain() bool { return t.taken == "" }

// Slotted tells whether the command asks for the slot of the attempt.
func (t *Template) Slotted() bool {
	for i := range t.words {
		if slices.ContainsFunc(t.words[i].pieces, func(p piece) bool { return p.kind == slot }) {
			return true
		}
	}
	return false
}

// Fill returns the command of a task.
func (t *Template) Fill(k *Given) ([]string, error) {
	args := make([]string, 0, len(t.words)+len(k.Row))
	var b []byte
	for i := range t.words {
		w := &t.words[i]
		if len(w.pieces) == 1 && w.pieces[0].kind == literal {
			args = append(args, w.pieces[0].text)
			continue
		}
		var err error
		if w.line || w.guard {
			if b, err = w.fillLine(b[:0], k); err != nil {
				return nil, err
			}
			args = append(args, string(b))
			continue
		}
		args = w.fill(args, k)
	}
	return args, nil
}

// fill appends a word in which values go as they are. Several values in one place make several words, as they would if
// a shell read them.
func (w *word) fill(args []string, k *Given) []string {
	var b []byte
	some := len(w.pieces) == 0
	for i := range w.pieces {
		p := &w.pieces[i]
		values := k.values(p)
		some = some || p.kind == literal || len(values) > 0
		for j, v := range values {
			if j > 0 {
				args, b = append(args, string(b)), b[:0]
			}
			b = append(b, v...)
		}
		b = append(b, p.literal()...)
	}
	if !some {
		return args
	}
	return append(args, string(b))
}

// literal returns the text of a piece that is no place.
func (p *piece) literal() string {
	if p.kind == literal {
		return p.text
	}
	return ""
}

// values returns what goes into a place.
func (k *Given) values(p *piece) [][]byte {
	switch p.kind {
	case literal:
		return nil
	case index:
		return [][]byte{strconv.AppendInt(nil, int64(k.Index), 10)}
	case sequence:
		return [][]byte{strconv.AppendInt(nil, int64(k.Index)+1, 10)}
	case total:
		return [][]byte{strconv.AppendInt(nil, int64(k.Tasks), 10)}
	case slot:
		if k.Slot == 0 {
			return [][]byte{[]byte("{%}")}
		}
		return [][]byte{strconv.AppendInt(nil, int64(k.Slot), 10)}
	}
	row := k.Row
	if !p.all {
		n := p.which - 1
		if n < 0 {
			n += len(row) + 1
		}
		if n < 0 || n >= len(row) {
			return nil // a short row lacks its last values
		}
		row = row[n : n+1]
	}
	if p.op == "" {
		return row
	}
	taken := make([][]byte, len(row))
	for i, v := range row {
		taken[i] = take(v, p.op)
	}
	return taken
}

// take returns a part of a value. The parts are GNU parallel's.
func take(v []byte, op string) []byte {
	slash := bytes.LastIndexByte(v, '/') + 1
	dir, base := v[:slash], v[slash:]
	dots := func(n int) int { // where the last n extensions begin, -1 if there are fewer
		at := len(base)
		for range n {
			if at = bytes.LastIndexByte(base[:max(0, at)], '.'); at < 0 {
				return -1
			}
		}
		return at
	}
	n := strings.Count(op, ".")
	at := dots(max(1, n))
	switch {
	case op == "/":
		return base
	case op == "//":
		return []byte(dirname(v))
	case op == "+/":
		return bytes.TrimSuffix(dir, []byte("/"))
	case op[0] == '+' && at < 0:
		return nil
	case op[0] == '+':
		return base[at+1:]
	case at < 0 && op[0] == '/':
		return base
	case at < 0:
		return v
	case op[0] == '/':
		return base[:at]
	}
	return v[:len(dir)+at]
}

// dirname is that of the program of this name.
func dirname(v []byte) string {
	s := strings.TrimRight(string(v), "/")
	if s == "" {
		if len(v) > 0 {
			return "/"
		}
		return "."
	}
	i := strings.LastIndexByte(s, '/')
	if i < 0 {
		return "."
	}
	if s = strings.TrimRight(s[:i], "/"); s == "" {
		return "/"
	}
	return s
}

// Shells are programs that read their next argument behind -c as a line.
var shells = []string{"sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "csh", "tcsh", "rbash"}

var commandOption = regexp.MustCompile(`^-[a-zA-Z]*c[a-zA-Z]*$`)

// scriptWord returns the position of the word that a shell among the words reads as a line, as in sh -c LINE; -1 if
// there is none.
func scriptWord(command []string) int {
	for i, name := range command {
		if !slices.Contains(shells, path.Base(name)) {
			continue
		}
		for j := i + 1; j < len(command) && (strings.HasPrefix(command[j], "-") || strings.HasPrefix(command[j], "+")); j++ {
			if commandOption.MatchString(command[j]) && j+1 < len(command) {
				for j++; j < len(command)-1 && (strings.HasPrefix(command[j], "-") || strings.HasPrefix(command[j], "+")); j++ {
				}
				return j
			}
		}
	}
	return -1
}

// Picky tells whether there are values that [Template.Fill] refuses.
func (t *Template) Picky() bool {
	for i := range t.words {
		w := &t.words[i]
		if w.guard || w.line && slices.ContainsFunc(w.pieces, func(p piece) bool { return p.where == unclear }) {
			return true
		}
	}
	return false
}
