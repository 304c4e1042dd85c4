// Package mapreduce is what an attempt does with data: it lists and splits input, maps, partitions, sorts,
// spills, shuffles, reduces, and publishes the parts. It is not a scheduler: it knows nothing of machines,
// clones, journals or the supervision of processes. Its caller asks a Plan for the stages and for the spec of
// an attempt, has Run carry that spec out anywhere, and tells the next stage which directories were committed.
//
// # Records
//
// A record is a line: the bytes up to, and without, the next "\n". The end of a file ends a line too, so a file
// without a final newline is not glued to its successor as cat(1) would do. Bytes are kept as they are: NUL and
// invalid UTF-8 are ordinary, and the "\r" of a CRLF belongs to the line for sort, grep and streaming (for
// wordcount and wordmean it is white space and vanishes). A line belongs to the split that holds its first byte,
// wherever it ends; so a line longer than a split is one record, and the splits that lie inside it are empty.
//
// A word count therefore equals, byte for byte,
//
//	find DIR -type f -exec sh -c 'for f; do cat "$f"; echo; done' sh {} + |
//		tr -s ' \t\n\v\f\r' '\n' | sed '/^$/d' | LC_ALL=C sort | LC_ALL=C uniq -c
//
// in which echo ends the last line of every file and sed drops the empty word that tr leaves in front of leading
// white space.
//
// # Attempts
//
// An attempt writes only below its own directory. What it leaves there, either segments (seg-00000, one for each
// partition of the next stage) or a part, is on disk when Run returns nil, and is the same bytes whichever attempt of
// the task wrote it, and wherever it went on from what another had saved: the order of records depends on the plan and
// the input only.
package mapreduce
