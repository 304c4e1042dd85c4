package jobfile

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/tailcut/tailcut/internal/mapreduce"
)

// File is a job that a file declares in YAML, with the settings of its run. See docs/reference/jobfile.md.
type File struct {
	Job      Job       // without what flags say: Retries, and MapReduce's SplitSize and Reducers
	Dir      string    // what relative paths in the file start from, and the working directory of its commands
	Settings []Setting // in the order of the file
	// Whereabouts says where the job's data is and may be; nil if the file says nothing of it.
	Whereabouts *Whereabouts
	file        string
}

// Setting is a field of a job file that stands for a flag. Its text has the flag's form.
type Setting struct {
	Flag  string // max-attempts
	Field string // max_attempts
	Text  string
	Line  int
}

// Error places an error about the value of a setting.
func (f *File) Error(s Setting, err error) error {
	return &FieldError{File: f.file, Line: s.Line, Field: s.Field, Problem: err.Error()}
}

// Place places an error about what the file says of data, at a field such as datasets[0].allow[1]; nil if the file has
// no such field.
func (f *File) Place(name string, err error) error {
	if f == nil || f.Whereabouts == nil {
		return nil
	}
	line, known := f.Whereabouts.lines[name]
	if !known { // a single value stands for a list of one
		name = strings.TrimSuffix(name, "[0]")
		line, known = f.Whereabouts.lines[name]
	}
	if !known {
		return nil
	}
	return &FieldError{File: f.file, Line: line, Field: name, Problem: err.Error()}
}

// maxSize bounds the size of a job file in bytes; a stage takes about a hundred.
const maxSize = 16 << 20

// Read reads a job file. Relative paths in it start from its folder, so that it means the same wherever it is
// used from; those in a pipe start from the working directory. check and the error are those of Parse.
func Read(path string, check func(Setting) error) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxSize+1)) // a device or a pipe has no size
	if err != nil {
		return nil, err
	}
	if len(data) > maxSize {
		return nil, fmt.Errorf("%s: expected a job file of at most %d MiB", path, maxSize>>20)
	}
	dir := "."
	if info.Mode().IsRegular() {
		dir = filepath.Dir(path)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	return Parse(path, dir, data, check)
}

// Parse reads the text of a job file, which it calls file. Relative paths start from dir. check, if not nil, says what
// is wrong with a setting that has the right form. The error is *Mistakes: all that there are.
func Parse(file, dir string, data []byte, check func(Setting) error) (*File, error) {
	p := &parser{file: file, dir: dir, check: check}
	f := p.parse(data)
	if err := p.found.err(); err != nil {
		return nil, err
	}
	f.file, f.Dir = file, dir
	if f.Job.Name == "" {
		base := filepath.Base(file)
		f.Job.Name = strings.TrimSuffix(base, filepath.Ext(base))
	}
	return f, nil
}

// parser turns nodes into a job. Methods that read one value return what is wrong with it; those that read several
// note that and go on with the others. What is made of values that are missing for a mistake is never seen: it must
// not be called a second mistake.
type parser struct {
	file, dir string
	check     func(Setting) error
	found     Mistakes
}

func (p *parser) note(err error) bool { return p.found.note(err) }

// A job file has one of three forms, told by the field that only it has.
const (
	operatorForm = "operator"
	mapperForm   = "mapper"
	stagesForm   = "stages"
)

// jobFields are the fields of a job file. What belongs to some forms only is refused beside the others.
var jobFields = []struct {
	name  string
	forms []string                             // nil for all
	check func(*parser, field) (string, error) // of a setting: the flag's text
	many  bool                                 // it may be a list
}{
	{name: "name"},
	{name: "operator"},
	{name: "pattern", forms: []string{operatorForm}},
	{name: "mapper"},
	{name: "reducer", forms: []string{mapperForm}},
	{name: "combiner", forms: []string{mapperForm}},
	{name: "resumable", forms: []string{mapperForm}},
	{name: "input", forms: []string{operatorForm, mapperForm}},
	{name: "split_size", forms: []string{operatorForm, mapperForm}, check: (*parser).text},
	{name: "max_line", forms: []string{operatorForm, mapperForm}, check: (*parser).text},
	{name: "reducers", forms: []string{operatorForm, mapperForm}, check: (*parser).whole},
	{name: "stages"},
	{name: "datasets"},
	{name: "data", forms: []string{operatorForm, mapperForm}},
	{name: "releases", forms: []string{operatorForm, mapperForm}},
	{name: "cluster", check: (*parser).cluster},
	{name: "output", check: (*parser).path},
	{name: "policy", check: (*parser).text},
	{name: "slot", check: (*parser).duration},
	{name: "slots", check: (*parser).count},
	{name: "retries", check: (*parser).whole},
	{name: "keep_going", check: (*parser).trueOrFalse},
	{name: "max_failed", check: (*parser).share},
	{name: "halt", check: (*parser).text},
	{name: "timeout", check: (*parser).timeout},
	{name: "memory", check: (*parser).text},
	{name: "memfree", check: (*parser).text},
	{name: "load", check: (*parser).text},
	{name: "delay", check: (*parser).duration},
	{name: "nice", check: (*parser).whole},
	{name: "max_attempts", check: (*parser).bound},
	{name: "clone_budget", check: (*parser).bound},
	{name: "seed", check: (*parser).whole},
	{name: "deadline", check: (*parser).text},
	{name: "value", check: (*parser).text},
	{name: "late", check: (*parser).text},
	{name: "law", check: (*parser).text},
	{name: "disturb", check: (*parser).text},
	{name: "notify", check: (*parser).text, many: true},
	{name: "priority", check: (*parser).text},
	{name: "weight", check: (*parser).text},
	{name: "after", check: (*parser).text, many: true},
}

// operatorNames are the operators that a job file can name; commands have the field mapper.
var operatorNames = []string{"grep", "sort", "wordcount", "wordmean"}

func (p *parser) parse(data []byte) *File {
	root, err := p.document(data)
	if p.note(err) {
		return nil
	}
	var names []string
	for i := range jobFields {
		names = append(names, jobFields[i].name)
	}
	fields, odd := p.fields(root, names, "a job")
	form := p.form(root, fields, odd)
	f := new(File)
	if name := fields.get("name"); name.given() {
		f.Job.Name, err = p.text(name)
		p.note(err)
	}
	f.Settings = p.settings(form, fields)
	switch {
	case !form.given():
	case form.name == stagesForm:
		var stages []fieldList
		f.Job.Array, stages = p.array(form)
		f.Whereabouts = p.whereabouts(form, fields, stages)
	default:
		f.Job.MapReduce = p.mapReduce(form, fields, odd)
		f.Whereabouts = p.whereabouts(form, fields, nil)
	}
	return f
}

// form finds the field that tells what kind of job it is; none if there are several. One that is missing may be meant
// by a field with an odd name.
func (p *parser) form(root field, fields fieldList, odd bool) (form field) {
	several := false
	for _, f := range fields {
		if f.name != operatorForm && f.name != mapperForm && f.name != stagesForm {
			continue
		}
		if form.given() {
			p.note(p.expected(f, "only one of operator, mapper and stages, and line %d has %s", form.line, form.name))
			several = true
			continue
		}
		form = f
	}
	if several {
		return field{}
	}
	if !form.given() && !odd {
		p.note(p.expected(root, "one of the fields operator, mapper and stages"))
	}
	return form
}

// settings collects the fields that stand for flags, and refuses fields of another form.
func (p *parser) settings(form field, fields fieldList) (all []Setting) {
	for _, f := range fields {
		for i := range jobFields {
			def := &jobFields[i]
			if def.name != f.name {
				continue
			}
			if def.forms != nil && form.given() && !contains(def.forms, form.name) {
				p.note(p.expected(f, "only beside %s, not beside %s", strings.Join(def.forms, " or "), form.name))
				continue
			}
			if def.check == nil {
				continue
			}
			items := fieldList{f}
			if def.many {
				items = p.list(f, "texts")
			}
			for _, item := range items {
				text, err := def.check(p, item)
				if p.note(err) {
					continue
				}
				s := Setting{Flag: strings.ReplaceAll(f.name, "_", "-"), Field: f.name, Text: text, Line: item.line}
				if p.check != nil {
					if err := p.check(s); err != nil {
						p.note(&FieldError{File: p.file, Line: s.Line, Field: s.Field, Problem: oneLine(err.Error())})
					}
				}
				all = append(all, s)
			}
		}
	}
	return all
}

// mapReduce reads the fields of the forms operator and mapper.
func (p *parser) mapReduce(form field, fields fieldList, odd bool) *mapreduce.Request {
	op := mapreduce.Operator{Name: "streaming"}
	good := true
	for _, part := range []struct {
		name string
		text *string
	}{{"operator", &op.Name}, {"pattern", &op.Pattern}, {"mapper", &op.Mapper}, {"reducer", &op.Reducer}, {"combiner", &op.Combiner}} {
		if f := fields.get(part.name); f.given() {
			var err error
			*part.text, err = p.text(f)
			good = !p.note(err) && good
		}
	}
	if f := fields.get("resumable"); f.given() {
		var err error
		op.ByLine, err = p.yesNo(f)
		p.note(err)
	}
	if good {
		p.note(p.checkOperator(form, fields, &op))
	}
	job := &mapreduce.Request{Operator: op}
	input := fields.get("input")
	switch {
	case input.given():
	case !odd:
		p.note(p.expected(form, "a field input beside it, with the files and folders to read"))
		fallthrough
	default:
		return job
	}
	for _, item := range p.list(input, "paths") {
		path, err := p.path(item)
		p.note(err)
		job.Inputs = append(job.Inputs, path)
	}
	return job
}

// checkOperator checks that the operator exists and has the arguments that it needs.
func (p *parser) checkOperator(form field, fields fieldList, op *mapreduce.Operator) error {
	pattern := fields.get("pattern")
	switch {
	case form.name == mapperForm:
		if combiner := fields.get("combiner"); combiner.given() && op.Reducer == "" {
			return p.expected(combiner, "a field reducer beside it")
		}
		return nil
	case !contains(operatorNames, op.Name):
		return p.expected(form, "one of %s, not %s", strings.Join(operatorNames, ", "), quote(op.Name))
	case op.Name != "grep" && pattern.given():
		return p.expected(pattern, "only beside operator: grep")
	case op.Name == "grep" && !pattern.given():
		return p.expected(form, "a field pattern beside grep")
	case op.Name == "grep":
		if _, err := regexp.Compile(op.Pattern); err != nil {
			return p.expected(pattern, "a regular expression: %s", oneLine(err.Error()))
		}
	}
	return nil
}

// path reads a path; a relative one starts from the file's folder. A URL is one already.
func (p *parser) path(f field) (string, error) {
	path, err := p.text(f)
	if err != nil || filepath.IsAbs(path) || strings.Contains(path, "://") {
		return path, err
	}
	return filepath.Join(p.dir, path), nil
}

// cluster reads the path of a cluster file, or the spec of one that is made up.
func (p *parser) cluster(f field) (string, error) {
	if text, err := p.text(f); err != nil || strings.HasPrefix(text, "synth:") {
		return text, err
	}
	return p.path(f)
}

// whole reads a whole number, written as one.
func (p *parser) whole(f field) (string, error) {
	n, err := strconv.ParseUint(f.node.Value, 10, 64)
	if f.isNumber() && err == nil && strconv.FormatUint(n, 10) == f.node.Value {
		return f.node.Value, nil
	}
	return "", p.expected(f, "a whole number such as 4, not %s", f.describe())
}

// share reads a whole number or a share such as 10%.
func (p *parser) share(f field) (string, error) {
	if f.isNumber() {
		return p.whole(f)
	}
	return p.text(f)
}

// trueOrFalse reads true or false, as a flag has it.
func (p *parser) trueOrFalse(f field) (string, error) {
	yes, err := p.yesNo(f)
	return strconv.FormatBool(yes), err
}

// bound reads a whole number or a word that the flag knows.
func (p *parser) bound(f field) (string, error) {
	if f.isNumber() {
		return p.whole(f)
	}
	text, err := p.text(f)
	if err == nil && text != "none" && (text != "default" || f.name != "clone_budget") {
		words := "none"
		if f.name == "clone_budget" {
			words = "none or default"
		}
		return "", p.expected(f, "a whole number, %s, not %s", words, f.describe())
	}
	return text, err
}

// count reads a whole number, or words that the flag knows, such as 80% and +2.
func (p *parser) count(f field) (string, error) {
	if f.isNumber() && !strings.HasPrefix(f.node.Value, "+") && !strings.HasPrefix(f.node.Value, "-") {
		return p.whole(f)
	}
	return p.text(f)
}

// duration reads a duration.
func (p *parser) duration(f field) (string, error) {
	if f.isScalar() {
		if _, err := ParseDuration(f.node.Value); err == nil {
			return f.node.Value, nil
		}
	}
	return "", p.expected(f, "a duration such as 90s, 10m or 2h, not %s", f.describe())
}

// timeout reads a duration or a percentage.
func (p *parser) timeout(f field) (string, error) {
	if f.isScalar() {
		if _, err := ParseTimeout(f.node.Value); err == nil {
			return f.node.Value, nil
		}
	}
	return "", p.expected(f, "a duration such as 90s, 10m or 2h, or a percentage of the median such as 300%%, not %s", f.describe())
}
