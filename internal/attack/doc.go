// Package attack holds tests of the whole tool from outside: the real binary, real processes, real deaths. It has no
// code of its own.
//
// Attacks (TestDeaths, TestServerDeaths, TestPowerCuts, TestDamagedJournals, TestClockJumps, TestLies) draw jobs and a
// policy from a seed, do something to the engine, and expect the result of an undisturbed run. A finding names the
// command that repeats it. Flags of the test binary say how many attacks there are; docs/explain/reliability.md lists
// them.
//
// With the build tag long the other tests run under every registered policy, and the engine dies ten times per run;
// without it, under a few policies, smaller jobs, and fewer deaths. The long ones take three minutes of processor time,
// seven on the clock on two cores with as much other work again, and the attacks as long again:
// go test -tags long -timeout 60m ./internal/attack
package attack
