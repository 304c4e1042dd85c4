// Package past is what is kept of jobs that are over, for a server and other commands to add to and to ask. A
// program of its own, tailcut-history, keeps it in a SQLite database (docs/decisions). This package starts that program
// and speaks to it through pipes, a JSON value a line. Without the program there are the files of [Files], which hold
// the durations of the last ten runs of each name and nothing else.
package past
