package proc

import (
	"io/fs"
	"path/filepath"
)

// readOf returns how many bytes each task that reads the result in a folder reads of it: a reduce attempt a segment,
// about as much as the others; a shuffle attempt and a command all.
func (w work) readOf(stage int, dir string) int64 {
	bytes := sizeOf(dir)
	if w.MapReduce == nil || stage+1 < len(w.MapReduce.Stages) && w.MapReduce.Stages[stage+1].Group > 0 {
		return bytes
	}
	return bytes / int64(max(1, w.MapReduce.Stages[stage].Segments))
}

// shuffled tells whether what attempts of a stage write is read partition by partition.
func (w work) shuffled(stage int) bool {
	return w.MapReduce != nil && w.MapReduce.Stages[stage].Segments > 0
}

// sizeOf adds up the files below a folder. What cannot be looked at counts as nothing: the number is for placing tasks
// well, not for reading them.
func sizeOf(dir string) (bytes int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		if info, err := d.Info(); err == nil {
			bytes += info.Size()
		}
		return nil
	})
	return bytes
}
