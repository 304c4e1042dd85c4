// Package lint holds tests about the code of this module: who may import whom, that the core stays pure, that files and
// functions stay short, that what is exported is documented. They run with all other tests.
//
// A finding names file and line and says what to do. The rules are policy (docs/style.md): when a test fails, the code
// is wrong, and a rule changes only by decision. The package is not a place for style that gofmt, vet and staticcheck
// know.
package lint
