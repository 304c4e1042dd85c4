package mapreduce

import "io"

// sortLines sorts whole lines by their bytes, as LC_ALL=C sort does. The order is total over the parts: no line of a
// part is above any line of the next. Partitions are ranges between boundaries that the planner sampled from
// the input; equal lines all come to the same part.
func sortLines() operator {
	return operator{
		stages: mapReduce,
		run: map[Kind]func(*worker) error{
			KindMap: func(a *worker) error {
				s := a.newSorter(a.spec.memoryLimit(), false)
				err := a.lines(s, func(line []byte) error {
					return s.add(rangePartition(line, a.spec.Boundaries), line, nil)
				})
				if err != nil {
					return err
				}
				return s.writeSegments()
			},
			KindReduce: func(a *worker) error {
				in, err := a.shuffled(false)
				if err != nil {
					return err
				}
				return a.part(func(w io.Writer) error {
					var text []byte
					return each(in, func(line, _ []byte) error {
						text = append(append(text[:0], line...), '\n')
						_, err := w.Write(text)
						return err
					})
				})
			},
		},
	}
}
