package mapreduce

import (
	"io"
	"math"
)

// A job may have a stage between the maps and those that read all of them: shuffle. A task of it merges, partition by
// partition, what a group of neighbouring map tasks has written, and can start as soon as these are done. So most of
// the merging is done while maps still run, in slots of its own.
//
// Groups are neighbours, and of equal keys the one from the earlier task comes first in every merge. Sums of counts do
// not depend on how they are grouped. So the parts are the same bytes as without the stage.

// groupOf returns how many map tasks a shuffle task reads: about as many as there are shuffle tasks then. A merge of
// either stage has the root of what one merge would have, groups begin to be done early, and their number is bounded.
func groupOf(maps int) int { return max(1, int(math.Sqrt(float64(maps)))) }

// withShuffle puts the stage behind the maps. Without segments there is nothing to shuffle.
func withShuffle(shapes []shape) []shape {
	if shapes[0].segments == 0 {
		return shapes
	}
	return append([]shape{shapes[0], {kind: KindShuffle, tasks: perGroup, segments: shapes[0].segments}}, shapes[1:]...)
}

// shuffle merges each partition of the upstream folders into one segment. With sum set, values are counts and those of
// equal keys are summed up.
func (a *worker) shuffle(sum bool) error {
	partitions := make([][]string, a.spec.Segments)
	for p := range partitions {
		var err error
		if partitions[p], err = a.upstream(p); err != nil {
			return err
		}
	}
	for p, paths := range partitions {
		if err := a.shufflePartition(p, paths, sum); err != nil {
			return err
		}
	}
	return nil
}

func (a *worker) shufflePartition(partition int, paths []string, sum bool) error {
	in, err := a.merge(paths, a.meter, sum)
	if err != nil {
		return err
	}
	in = &countedStream{stream: in, counters: &a.counters}
	defer in.close()
	w, err := newSegmentWriter(a.ctx, segmentPath(a.spec.Dir, partition))
	if err != nil {
		return err
	}
	defer w.abandon()
	for {
		key, value, err := in.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if err := w.add(key, value); err != nil {
			return err
		}
		a.counters.OutputBytes += int64(len(key) + len(value))
	}
	a.counters.OutputRecords += int64(w.records)
	return w.finish(true)
}
