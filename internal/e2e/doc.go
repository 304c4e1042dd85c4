// Package e2e holds tests of the whole tool from outside: the real binary, real processes, real deaths. It has no code
// of its own.
//
// With the build tag long they run under every registered policy, and the engine dies ten times per run; without it,
// under a few policies, smaller jobs, and fewer deaths. The long ones take three minutes of processor time, seven on
// the clock on two cores with as much other work again: go test -tags long -timeout 30m ./internal/e2e
package e2e
