package main

import "github.com/tailcut/tailcut/internal/grammar"

// size is a flag in bytes: 8MiB, 64KiB, 1GiB or a plain number. Its zero value stands for the verb's default.
type size int64

// Type names the kind of value for --help.
func (s *size) Type() string { return "size" }

// String prints the size in the largest unit that divides it.
func (s *size) String() string {
	if *s == 0 {
		return "8MiB"
	}
	return grammar.FormatSize(int64(*s))
}

// Set reads a size of at least one byte.
func (s *size) Set(text string) error {
	n, err := grammar.ParseSize(text)
	*s = size(n)
	return err
}
