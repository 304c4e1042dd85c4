package jobfile

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/tailcut/tailcut/internal/mapreduce"
)

var stageFields = []string{"name", "tasks", "command", "after", "after_each", "env", "resumable"}

// array reads the stages of an array job.
func (p *parser) array(stages field) (*Array, error) {
	if stages.node.Kind != yaml.SequenceNode {
		return nil, p.expected(stages, "a list of stages, not %s", stages.describe())
	}
	items, err := p.list(stages, "stages")
	if err != nil {
		return nil, err
	}
	work := &Array{Stages: make([]Stage, len(items))}
	fields := make([]fieldList, len(items))
	index := map[string]int{}
	for i, item := range items {
		if fields[i], err = p.fields(item, stageFields); err != nil {
			return nil, err
		}
		st := &work.Stages[i]
		if err := p.stage(item, fields[i], st); err != nil {
			return nil, err
		}
		if first, ok := index[st.Name]; ok {
			return nil, p.expected(fields[i].get("name"), "another name: the stage at line %d is called %s too", items[first].line, quote(st.Name))
		}
		index[st.Name] = i
	}
	for i := range items {
		st := &work.Stages[i]
		if st.After, err = p.references(fields[i].get("after"), index); err != nil {
			return nil, err
		}
		if st.AfterEach, err = p.references(fields[i].get("after_each"), index); err != nil {
			return nil, err
		}
		if err := p.checkEach(fields[i].get("after_each"), work, i); err != nil {
			return nil, err
		}
	}
	return work, p.checkCycle(fields, work)
}

// stage reads what one stage says about itself.
func (p *parser) stage(item field, fields fieldList, st *Stage) (err error) {
	for _, name := range []string{"name", "command"} {
		if !fields.get(name).given() {
			return p.expected(item, "a field %s", name)
		}
	}
	name := fields.get("name")
	if st.Name, err = p.text(name); err != nil {
		return err
	}
	if !validStageName(st.Name) {
		return p.expected(name, "a name without / that begins with neither . nor _, not %s", quote(st.Name))
	}
	st.Tasks = 1
	if tasks := fields.get("tasks"); tasks.given() {
		text, err := p.whole(tasks)
		if err != nil {
			return err
		}
		if st.Tasks, err = strconv.Atoi(text); err != nil || st.Tasks < 1 || st.Tasks > mapreduce.MaxTasks {
			return p.expected(tasks, "a whole number between 1 and %d, not %s", mapreduce.MaxTasks, text)
		}
	}
	if st.Command, err = p.command(fields.get("command")); err != nil {
		return err
	}
	if st.Env, err = p.env(fields.get("env")); err != nil {
		return err
	}
	st.Resumable, err = p.yesNo(fields.get("resumable"))
	return err
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
	items, err := p.list(f, "a program and its arguments, or a line for sh -c")
	if err != nil {
		return nil, err
	}
	var args []string
	for i, item := range items {
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
func (p *parser) env(f field) ([]string, error) {
	if !f.given() {
		return nil, nil
	}
	pairs, err := p.pairs(f)
	if err != nil {
		return nil, err
	}
	var env []string
	for _, v := range pairs {
		if v.name == "" || strings.ContainsAny(v.name, "=\x00") || strings.HasPrefix(v.name, "TAILCUT_") {
			return nil, p.expected(v, "the name of a variable, without = and not beginning with TAILCUT_")
		}
		value := ""
		if !v.isScalar() || v.isNull() || v.node.Value != "" { // "" is a value, nothing is not
			if value, err = p.text(v); err != nil {
				return nil, err
			}
		}
		env = append(env, v.name+"="+value)
	}
	return env, nil
}

// references turns names of stages into their numbers.
func (p *parser) references(f field, index map[string]int) ([]int, error) {
	if !f.given() {
		return nil, nil
	}
	items, err := p.list(f, "names of stages")
	if err != nil {
		return nil, err
	}
	var all []int
	for _, item := range items {
		name, err := p.text(item)
		if err != nil {
			return nil, err
		}
		i, ok := index[name]
		if !ok {
			return nil, p.expected(item, "the name of a stage, not %s; there are %s", quote(name), stageList(index))
		}
		if slices.Contains(all, i) {
			return nil, p.expected(item, "stage %s once", quote(name))
		}
		all = append(all, i)
	}
	return all, nil
}

// stageList lists the stages in the order of the file, or the first of many.
func stageList(index map[string]int) string {
	names := make([]string, len(index))
	for name, i := range index {
		names[i] = word(name)
	}
	const most = 20
	if len(names) > most {
		return strings.Join(names[:most], ", ") + " and others"
	}
	return strings.Join(names, ", ")
}

// checkEach checks that tasks can wait for each other one by one.
func (p *parser) checkEach(f field, work *Array, i int) error {
	st := &work.Stages[i]
	for _, from := range st.AfterEach {
		up := &work.Stages[from]
		if up.Tasks != st.Tasks {
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
