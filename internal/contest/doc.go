// Package contest holds tests that let policies compete for the slots of a real server, with real processes. It has no
// code of its own.
//
// They take minutes and measure time, so they have the build tag long and want a machine that does little else:
// go test -tags long -timeout 60m -v ./internal/contest
package contest
