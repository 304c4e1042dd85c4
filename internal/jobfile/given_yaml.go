package jobfile

import (
	"path/filepath"
	"regexp"

	"go.yaml.in/yaml/v3"

	"github.com/tailcut/tailcut/internal/inputs"
	"github.com/tailcut/tailcut/internal/mapreduce"
)

// inputFields are the fields of a stage that say what each of its tasks is given.
var inputFields = []string{"inputs", "inputs_file", "delimiter", "colsep"}

// inputs reads what the tasks of a stage are given: a value or a row of values each.
func (p *parser) inputs(fields fieldList, st *Stage) error {
	list, file := fields.get("inputs"), fields.get("inputs_file")
	given := list
	switch {
	case !list.given() && !file.given():
		for _, name := range inputFields[2:] {
			if f := fields.get(name); f.given() {
				return p.expected(f, "inputs_file beside it")
			}
		}
		return nil
	case list.given() && file.given():
		return p.expected(file, "only one of inputs and inputs_file, and line %d has inputs", list.line)
	case fields.get("tasks").given():
		return p.expected(fields.get("tasks"), "no number of tasks beside inputs: there is a task for each")
	case file.given():
		given = file
	}
	rows, err := p.rows(fields, list, file)
	if err != nil || rows == nil || rows.Count == 0 {
		return err // or it was told
	}
	if rows.Count > mapreduce.MaxTasks {
		return p.expected(given, "inputs of at most %d tasks, not %d", mapreduce.MaxTasks, rows.Count)
	}
	st.Inputs, st.Tasks, st.Line = rows, rows.Count, fields.get("command").given() && fields.get("command").isScalar()
	if len(st.Command) == 0 {
		return nil // which is a mistake of its own
	}
	if err := st.checkInputs(); err != nil {
		return p.expected(fields.get("command"), "a command that fits its inputs: %v", err)
	}
	return nil
}

func (p *parser) rows(fields fieldList, list, file field) (*inputs.Rows, error) {
	if list.given() {
		return p.rowsOf(fields, list)
	}
	path, err := p.path(file)
	if err != nil {
		return nil, err
	}
	delimiter, o := []byte("\n"), inputs.Options{}
	if f := fields.get("delimiter"); f.given() {
		text, err := p.text(f)
		if err == nil {
			if delimiter, err = inputs.Delimiter(text); err != nil {
				err = p.expected(f, `characters, or escapes such as \n, \t or \0, not %s`, quote(text))
			}
		}
		if err != nil {
			return nil, err
		}
	}
	if f := fields.get("colsep"); f.given() {
		text, err := p.text(f)
		if err != nil {
			return nil, err
		}
		if o.Colsep, err = regexp.Compile(text); err != nil || o.Colsep.MatchString("") {
			return nil, p.expected(f, "a regular expression that matches something, not %s", quote(text))
		}
	}
	values, err := inputs.ReadFile(path, delimiter)
	if err != nil {
		return nil, p.expected(file, "a file that can be read: %v", err)
	}
	rows, err := inputs.Build([]inputs.Source{{Name: filepath.Base(path), Values: values}}, o)
	if err != nil {
		return nil, p.expected(file, "a file of values: %v", err)
	}
	return rows, nil
}

// rowsOf reads a list of values, or of lists of values.
func (p *parser) rowsOf(fields fieldList, list field) (*inputs.Rows, error) {
	for _, name := range inputFields[2:] {
		if f := fields.get(name); f.given() {
			return nil, p.expected(f, "inputs_file beside it: the values of inputs are a list already")
		}
	}
	var rows [][]string
	for _, item := range p.list(list, "values, or of lists of values") {
		cells := fieldList{item}
		if item.node.Kind == yaml.SequenceNode {
			cells = p.list(item, "values")
		}
		var row []string
		for _, cell := range cells {
			value, err := "", error(nil)
			if !cell.isScalar() || cell.isNull() || cell.node.Value != "" { // "" is a value, nothing is not
				value, err = p.text(cell)
			}
			p.note(err)
			row = append(row, value)
		}
		rows = append(rows, row)
	}
	packed, err := inputs.Pack(rows)
	if err != nil {
		return nil, p.expected(list, "values: %v", err)
	}
	return packed, nil
}
