package proc

import (
	"os"
	"path/filepath"

	"github.com/tailcut/tailcut/internal/strides"
)

// leftStrides reads the strides that earlier engines have left in the folder of a task.
func leftStrides(dir string) map[place]*strides.Stride {
	entries, _ := os.ReadDir(dir) // none if it cannot be read: then the task begins anew
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	all := map[place]*strides.Stride{}
	for _, s := range strides.Link(names) {
		s.Path = filepath.Join(dir, s.Name())
		all[place{s.Number, s.Fraction}] = s
	}
	return all
}

// sound returns a stride if it and all before it are as they were saved; else the last before the damage, nil for none.
func sound(s *strides.Stride) *strides.Stride {
	for _, x := range s.Chain() {
		if x.Left && !x.Intact() {
			return x.Before
		}
	}
	return s
}
