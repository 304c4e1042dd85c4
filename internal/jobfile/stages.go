package jobfile

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/tailcut/tailcut/internal/grammar"
	"github.com/tailcut/tailcut/internal/mapreduce"
	"github.com/tailcut/tailcut/sched"
)

var stageFields = []string{
	"name", "tasks", "command", "after", "after_each", "env", "workdir", "timeout", "retries", "memory", "nice", "resumable", "class",
	"inputs", "inputs_file", "delimiter", "colsep", "data", "releases",
}

// array reads the stages of an array job, and returns the fields of each, too.
func (p *parser) array(stages field) (*Array, []fieldList) {
	if stages.node.Kind != yaml.SequenceNode {
		p.note(p.expected(stages, "a list of stages, not %s", stages.describe()))
		return nil, nil
	}
	items := p.list(stages, "stages")
	work := &Array{Stages: make([]Stage, len(items))}
	fields := make([]fieldList, len(items))
	names := stageNames{index: map[string]int{}, whole: len(items) == len(stages.node.Content)}
	for i, item := range items {
		st := &work.Stages[i]
		if fields[i] = p.stage(item, st); st.Name == "" {
			names.whole = false
			continue
		}
		if first, ok := names.index[st.Name]; ok {
			p.note(p.expected(fields[i].get("name"), "another name: the stage at line %d is called %s too", items[first].line, quote(st.Name)))
			continue
		}
		names.index[st.Name] = i
		names.all = append(names.all, st.Name)
	}
	for i := range items {
		st := &work.Stages[i]
		st.After = p.references(fields[i].get("after"), &names)
		st.AfterEach = p.references(fields[i].get("after_each"), &names)
		p.note(p.checkEach(fields[i].get("after_each"), work, i))
	}
	p.note(p.checkCycle(fields, work))
	return work, fields
}

// stage reads what one stage says about itself, and returns its fields. Without a good name it has none, and without a
// good number of tasks that is 0.
func (p *parser) stage(item field, st *Stage) fieldList {
	fields, odd := p.fields(item, stageFields, "a stage")
	for _, name := range []string{"name", "command"} {
		if !fields.get(name).given() && !odd && item.node.Kind == yaml.MappingNode { // else it may be meant
			p.note(p.expected(item, "a field %s", name))
		}
	}
	read := func(name string, into func(field) error) {
		if f := fields.get(name); f.given() {
			p.note(into(f))
		}
	}
	st.Tasks = 1
	read("name", func(f field) (err error) { st.Name, err = p.stageName(f); return err })
	read("tasks", func(f field) (err error) { st.Tasks, err = p.number(f, 1, mapreduce.MaxTasks); return err })
	read("command", func(f field) (err error) { st.Command, err = p.command(f); return err })
	read("env", func(f field) error { st.Env = p.env(f); return nil })
	read("workdir", func(f field) (err error) { st.Dir, err = p.path(f); return err })
	p.note(p.inputs(fields, st))
	read("class", func(f field) (err error) { st.Class, err = p.className(f); return err })
	read("resumable", func(f field) (err error) { st.Resumable, err = p.yesNo(f); return err })
	read("timeout", func(f field) error {
		text, err := p.timeout(f)
		if err == nil {
			st.Limits.Timeout = new(Timeout)
			err = st.Limits.Timeout.UnmarshalText([]byte(text))
		}
		return err
	})
	read("retries", func(f field) (err error) {
		n, err := p.number(f, 0, sched.MaxRetries)
		st.Limits.Retries = &n
		return err
	})
	read("memory", func(f field) error {
		text, err := p.text(f)
		if err != nil {
			return err
		}
		n, err := grammar.ParseSize(text)
		if st.Limits.Memory = &n; err != nil {
			return p.expected(f, "a size such as 512MiB or 2GiB, not %s", f.describe())
		}
		return nil
	})
	read("nice", func(f field) (err error) {
		n, err := p.number(f, 0, MostNice)
		st.Limits.Nice = &n
		return err
	})
	return fields
}

func (p *parser) stageName(f field) (string, error) {
	name, err := p.text(f)
	if err == nil && !validStageName(name) {
		return "", p.expected(f, "a name without / that begins with neither . nor _, not %s", quote(name))
	}
	return name, err
}

func (p *parser) className(f field) (string, error) {
	name, err := p.text(f)
	if err == nil && !ValidClass(name) {
		return "", p.expected(f, "the name of a class of slots, such as map, not %s", quote(name))
	}
	return name, err
}

// number reads a whole number within bounds.
func (p *parser) number(f field, least, most int) (int, error) {
	text, err := p.whole(f)
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, p.expected(f, "a whole number between %d and %d, not %s", least, most, text)
	}
	return n, nil
}

// command reads a program and its arguments, or a line for the shell.
func (p *parser) command(f field) ([]string, error) {
	if f.isScalar() && !f.isNull() {
		script, err := p.text(f)
		if err == nil && strings.TrimSpace(script) == "" {
			err = p.expected(f, "a command, not white space")
		}
		return []string{"sh", "-c", script}, err
	}
	var args []string
	for i, item := range p.list(f, "a program and its arguments, or a line for sh -c") {
		if i > 0 && item.isScalar() && item.node.Value == "" && !item.isNull() { // an empty argument is one
			args = append(args, "")
			continue
		}
		arg, err := p.text(item)
		if err != nil {
			return nil, err
		}
		args = append(args, arg)
	}
	return args, nil
}

// yesNo reads true or false; a field that is not given is false.
func (p *parser) yesNo(f field) (bool, error) {
	if !f.given() {
		return false, nil
	}
	text, err := p.text(f)
	if err == nil && text != "true" && text != "false" {
		err = p.expected(f, "true or false, not %s", quote(text))
	}
	return text == "true", err
}

// env reads the variables of a stage as NAME=value, in the order of the file.
func (p *parser) env(f field) (env []string) {
	for _, v := range p.pairs(f) {
		if v.name == "" || strings.ContainsAny(v.name, "=\x00") || strings.HasPrefix(v.name, "TAILCUT_") {
			p.note(p.expected(v, "the name of a variable, without = and not beginning with TAILCUT_"))
			continue
		}
		value := ""
		if !v.isScalar() || v.isNull() || v.node.Value != "" { // "" is a value, nothing is not
			var err error
			value, err = p.text(v)
			p.note(err)
		}
		env = append(env, v.name+"="+value)
	}
	return env
}

// stageNames are the names of the stages.
type stageNames struct {
	all   []string // in the order of the file
	index map[string]int
	whole bool // no stage lacks its name because of a mistake
}

// references turns names of stages into their numbers.
func (p *parser) references(f field, names *stageNames) (all []int) {
	if !f.given() {
		return nil
	}
	for _, item := range p.list(f, "names of stages") {
		name, err := p.text(item)
		if p.note(err) {
			continue
		}
		switch i, ok := names.index[name]; {
		case ok && slices.Contains(all, i):
			p.note(p.expected(item, "stage %s once", quote(name)))
		case ok:
			all = append(all, i)
		case names.whole:
			p.note(p.expected(item, "the name of a stage, not %s; there are %s", quote(name), names))
		}
	}
	return all
}

// String lists the stages in the order of the file, or the first of many.
func (n *stageNames) String() string {
	const most = 20
	var list []string
	for _, name := range n.all[:min(len(n.all), most)] {
		list = append(list, word(name))
	}
	if len(n.all) > most {
		return strings.Join(list, ", ") + " and others"
	}
	return strings.Join(list, ", ")
}

// checkEach checks that tasks can wait for each other one by one.
func (p *parser) checkEach(f field, work *Array, i int) error {
	st := &work.Stages[i]
	for _, from := range st.AfterEach {
		up := &work.Stages[from]
		if up.Tasks != st.Tasks && up.Tasks > 0 && st.Tasks > 0 { // else that is a mistake already
			return p.expected(f, "a stage with as many tasks, but %s has %d and %s has %d", word(st.Name), st.Tasks, word(up.Name), up.Tasks)
		}
		if slices.Contains(st.After, from) {
			return p.expected(f, "a stage that is not in after too, not %s", word(up.Name))
		}
	}
	return nil
}

// checkCycle refuses stages that wait for each other.
func (p *parser) checkCycle(fields []fieldList, work *Array) error {
	const (
		unseen = iota
		open
		closed
	)
	state := make([]uint8, len(work.Stages))
	var path []int
	var visit func(i int) error
	visit = func(i int) error {
		if state[i] == open {
			return p.cycle(fields[i], work, path[slices.Index(path, i):])
		}
		if state[i] == closed {
			return nil
		}
		state[i] = open
		path = append(path, i)
		for _, from := range slices.Concat(work.Stages[i].After, work.Stages[i].AfterEach) {
			if err := visit(from); err != nil {
				return err
			}
		}
		path = path[:len(path)-1]
		state[i] = closed
		return nil
	}
	for i := range work.Stages {
		if err := visit(i); err != nil {
			return err
		}
	}
	return nil
}

// cycle is the error about a cycle that the stage with these fields is on.
func (p *parser) cycle(fields fieldList, work *Array, path []int) error {
	f := fields.get("after")
	if !f.given() {
		f = fields.get("after_each")
	}
	var names []string
	for _, i := range path {
		names = append(names, word(work.Stages[i].Name))
	}
	names = append(names, names[0])
	const most = 20
	if len(names) > most {
		names = append(names[:most], "...")
	}
	return p.expected(f, "stages that do not wait for each other, but %s", strings.Join(names, " waits for "))
}
