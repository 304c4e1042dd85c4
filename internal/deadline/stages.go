package deadline

import (
	"slices"

	"github.com/tailcut/tailcut/plan"
)

// stages reads the stages of a job.
func (r *reader) stages(to *plan.Work) error {
	var names []string
	err := r.array(func(int) error {
		s, name := plan.Phase{}, ""
		err := r.object([]string{"name", "tasks", "law", "after"}, func(field string) (err error) {
			switch field {
			case "name":
				if err = r.name(&name); err == nil && slices.Contains(names, name) {
					return r.fail("two stages are called %q", name)
				}
				return err
			case "tasks":
				return r.whole(&s.Tasks)
			case "law":
				return r.law(&s.Law)
			}
			return r.array(func(int) error {
				var before string
				if err := r.name(&before); err != nil {
					return err
				}
				k := slices.Index(names, before)
				if k < 0 || slices.Contains(s.After, k) {
					return r.fail("expected the name of an earlier stage, each once, got %q", before)
				}
				s.After = append(s.After, k)
				return nil
			})
		})
		for _, missing := range []struct {
			field string
			is    bool
		}{{"tasks", s.Tasks == 0}, {"law", s.Law == nil}} {
			if err == nil && missing.is {
				return r.within(part{field: missing.field}, func() error { return r.fail("missing in the stage that ends here") })
			}
		}
		names, to.Stages = append(names, name), append(to.Stages, s)
		return err
	})
	if err == nil && len(to.Stages) == 0 {
		return r.fail("expected at least one stage")
	}
	return err
}

// name reads a string that is not empty.
func (r *reader) name(to *string) error {
	t, err := r.d.Token()
	name, ok := t.(string)
	if err != nil || !ok || name == "" {
		return r.fail("expected a non-empty string, got %s", shown(t))
	}
	*to = name
	return nil
}

// staged checks a job of several stages, and counts its tasks.
func (r *reader) staged(j *Entry) error {
	for _, f := range []struct {
		name         string
		is, expected bool
	}{
		{"name", j.Name != "", true}, {"deadline_seconds", j.Deadline != 0, true},
		{"tasks", j.Tasks != 0, false}, {"law", j.Law != nil, false}, {"progress", j.Progress != 0, false},
	} {
		if f.is == f.expected {
			continue
		}
		return r.within(part{field: f.name}, func() error {
			if f.expected {
				return r.fail("missing in the job that ends here")
			}
			return r.fail("unexpected beside stages, of which each has its own tasks, those that are not done, and law")
		})
	}
	for _, s := range j.Stages {
		j.Tasks += s.Tasks
	}
	if err := j.Validate(); err != nil {
		return r.within(part{field: "stages"}, func() error { return r.fail("%v", err) })
	}
	return nil
}
