package show

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
)

// WriteRecords writes structs as CSV. The columns are called as the fields are in JSON, in their order; a struct in a
// field has a column for each of its own, behind the field's name and "_", unless it is embedded. Numbers are Plain,
// nil pointers empty. Columns can be left out by name.
func WriteRecords[T any](w io.Writer, rows []T, without ...string) error {
	all := columnsOf(reflect.TypeFor[T](), "", nil)
	all = slices.DeleteFunc(all, func(c column) bool { return slices.Contains(without, c.name) })
	out := NewCSV(w)
	cells := make([]string, len(all))
	for i, c := range all {
		cells[i] = c.name
	}
	_ = out.Write(cells)
	for r := range rows {
		for i, c := range all {
			cells[i] = cellOf(reflect.ValueOf(&rows[r]).Elem().FieldByIndex(c.field))
		}
		_ = out.Write(cells)
	}
	out.Flush()
	return out.Error()
}

type column struct {
	name  string
	field []int
}

func columnsOf(t reflect.Type, prefix string, at []int) (all []column) {
	for i := range t.NumField() {
		f, field := t.Field(i), append(slices.Clone(at), i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous:
			all = append(all, columnsOf(f.Type, prefix, field)...)
		case f.Type.Kind() == reflect.Struct:
			all = append(all, columnsOf(f.Type, prefix+name+"_", field)...)
		case name != "-" && name != "":
			all = append(all, column{prefix + name, field})
		}
	}
	return all
}

func cellOf(v reflect.Value) string {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return ""
		}
		v = v.Elem()
	}
	if v.Kind() == reflect.Float64 {
		return Plain(v.Float())
	}
	return fmt.Sprint(v)
}
