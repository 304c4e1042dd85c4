package jobfile

import (
	"go.yaml.in/yaml/v3"

	"github.com/tailcut/tailcut/internal/grammar"
)

// whereReader reads what a job file says of data. Mistakes in it keep those from being told that only follow from them.
type whereReader struct {
	*parser
	to    *Whereabouts
	names map[string]field // of datasets
	whole bool             // no dataset lacks its name because of a mistake
	used  map[string]bool  // datasets that something is of
}

// whereabouts reads where the data of a job is, and where it may be; nil if the file says nothing of it. stages are the
// fields of each stage, nil for map/reduce work.
func (p *parser) whereabouts(form field, fields fieldList, stages []fieldList) *Whereabouts {
	q := &whereReader{parser: p, to: &Whereabouts{lines: map[string]int{}}, names: map[string]field{}, whole: true, used: map[string]bool{}}
	q.datasets(fields.get("datasets"))
	if form.name == stagesForm {
		for _, st := range stages {
			q.to.Stages = append(q.to.Stages, StageData{q.data(st.get("data"), "bytes"), q.releases(st.get("releases"))})
		}
	} else {
		q.to.Data = q.data(fields.get("data"), "path")
		if f := fields.get("releases"); f.given() {
			q.to.Stages = []StageData{{Releases: q.releases(f)}}
		}
	}
	for _, d := range q.to.Datasets {
		if f := q.names[d.Name]; q.whole && !q.used[d.Name] {
			p.note(p.expected(f, "data that names it: none is of dataset %s", quote(d.Name)))
		}
	}
	if q.to.none() {
		return nil
	}
	return q.to
}

// items returns the members of a list of mappings, with the fields of each.
func (q *whereReader) items(f field, of string, valid []string, one string) (items fieldList, fields []fieldList) {
	if !f.given() {
		return nil, nil
	}
	q.to.lines[f.path] = f.line
	for _, item := range q.list(f, of) {
		list, odd := q.fields(item, valid, one)
		if odd || item.node.Kind != yaml.MappingNode { // what is missing may be meant
			q.whole = false
			continue
		}
		items, fields = append(items, item), append(fields, list)
	}
	return items, fields
}

func (q *whereReader) datasets(f field) {
	items, fields := q.items(f, "datasets", []string{"name", "allow", "deny"}, "a dataset")
	for i, item := range items {
		name, good := q.named(item, fields[i], "name")
		d := Dataset{Name: name, Allow: q.sites(fields[i].get("allow")), Deny: q.sites(fields[i].get("deny"))}
		first, twice := q.names[name]
		switch {
		case !good:
			q.whole = false
			continue
		case twice:
			q.note(q.expected(fields[i].get("name"), "a name of its own: the dataset at line %d is called %s too", first.line, quote(name)))
			continue
		case !fields[i].get("allow").given() && !fields[i].get("deny").given():
			q.note(q.expected(item, "allow, deny or both: lists of sites where %s may be, and may not be", quote(name)))
		}
		q.names[name] = item
		q.to.Datasets = append(q.to.Datasets, d)
	}
}

// named reads a text that has to be there.
func (q *whereReader) named(item field, fields fieldList, name string) (text string, good bool) {
	f := fields.get(name)
	if !f.given() {
		return "", !q.note(q.expected(item, "a field %s", name))
	}
	text, err := q.text(f)
	return text, !q.note(err)
}

// sites reads names of sites.
func (q *whereReader) sites(f field) (all []string) {
	if !f.given() {
		return nil
	}
	for _, item := range q.list(f, "sites") {
		name, err := q.text(item)
		if !q.note(err) {
			all = append(all, name)
			q.to.lines[item.path] = item.line
		}
	}
	return all
}

// data reads sources, each with a path or a number of bytes.
func (q *whereReader) data(f field, amount string) (all []Source) {
	items, fields := q.items(f, "sources", []string{"site", amount, "dataset"}, "data")
	for i, item := range items {
		var s Source
		var good bool
		if s.Site, good = q.named(item, fields[i], "site"); !good {
			continue
		}
		q.to.lines[item.path+".site"] = fields[i].get("site").line
		switch at := fields[i].get(amount); {
		case amount == "path" && !at.given():
			q.note(q.expected(item, "a field path: the file, folder or pattern that is at %s", quote(s.Site)))
		case amount == "path":
			var err error
			s.Path, err = q.path(at)
			q.note(err)
			q.to.lines[item.path+".path"] = at.line
		case at.given():
			var err error
			s.Bytes, err = q.bytes(at)
			q.note(err)
		}
		if d := fields[i].get("dataset"); d.given() {
			s.Dataset = q.dataset(d)
		}
		if k := q.to.Dataset(s.Dataset); k >= 0 && !q.to.Datasets[k].May(s.Site) {
			q.note(q.expected(fields[i].get("site"), "a site where dataset %s may be, not %s", quote(s.Dataset), quote(s.Site)))
		}
		q.used[s.Dataset] = true
		all = append(all, s)
	}
	return all
}

// bytes reads a number of bytes, at least 0.
func (q *whereReader) bytes(f field) (int64, error) {
	text, err := q.text(f)
	if err != nil || text == "0" {
		return 0, err
	}
	n, err := grammar.ParseSize(text)
	if err != nil {
		return 0, q.expected(f, "a size such as 512MiB or 2GiB, not %s", f.describe())
	}
	return n, nil
}

// dataset reads the name of one of the datasets; "" if it is none.
func (q *whereReader) dataset(f field) string {
	name, err := q.text(f)
	if q.note(err) {
		return ""
	}
	if _, known := q.names[name]; !known {
		if q.whole {
			q.note(q.expected(f, "the name of one of the job's datasets, not %s", quote(name)))
		}
		return ""
	}
	return name
}

func (q *whereReader) releases(f field) (all []string) {
	if !f.given() {
		return nil
	}
	for _, item := range q.list(f, "names of datasets") {
		if name := q.dataset(item); name != "" {
			all = append(all, name)
		}
	}
	return all
}
