package mapreduce

// wordcount counts words: what lies between ASCII white space. Its parts hold "word\tcount" lines, a word in the part
// that its hash names, in byte order of the words.
func wordcount() operator {
	return operator{
		stages: mapReduce,
		sums:   true,
		run: map[Kind]func(*worker) error{
			KindMap: func(a *worker) error {
				words := a.newTally()
				if err := a.words(words, words.count); err != nil {
					return err
				}
				return words.writeSegments()
			},
			KindReduce: func(a *worker) error {
				in, err := a.shuffled(true)
				if err != nil {
					return err
				}
				return a.writeCounts(in)
			},
		},
	}
}
