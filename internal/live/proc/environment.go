package proc

import "strings"

// environment is what all attempts of a run find in theirs.
type environment struct {
	vars []string // NAME=value
	at   map[string]int
}

func newEnvironment(vars []string) environment {
	e := environment{at: make(map[string]int, len(vars))}
	e.vars = e.set(vars, e.at)
	return e
}

// get returns the value of a name, "" if it has none.
func (e *environment) get(name string) string {
	i, ok := e.at[name]
	if !ok {
		return ""
	}
	_, value, _ := strings.Cut(e.vars[i], "=")
	return value
}

// with returns the environment with more settings. Every name is set once, the last of all settings: who looks a name
// up may see the first of several.
func (e *environment) with(more []string) []string { return e.set(more, map[string]int{}) }

// set adds settings to a copy of the variables. New names are noted in at.
func (e *environment) set(more []string, at map[string]int) []string {
	all := append(make([]string, 0, len(e.vars)+len(more)), e.vars...)
	for _, kv := range more {
		name, _, _ := strings.Cut(kv, "=")
		i, known := e.at[name]
		if !known {
			i, known = at[name]
		}
		if known {
			all[i] = kv
			continue
		}
		at[name] = len(all)
		all = append(all, kv)
	}
	return all
}
