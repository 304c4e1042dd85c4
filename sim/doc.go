// Package sim drives the scheduling core with a virtual clock and an executor that rolls dice.
//
// [Run] replays a workload under one policy. It knows nothing about scheduling: sched.Core decides what happens, the
// same core that drives real work. The simulator adds how long attempts last ([Model]), when machines fail ([Faults])
// and which reports of progress a policy receives ([Progress]).
//
// Random draws are keyed, not streamed: every number is a function of the seed and of its purpose, such as the third
// attempt of task 7 of a job. An attempt gets the same draws under every policy, and an added clone changes no other
// draw. So two policies are compared on common random numbers.
//
// The package holds no policies and prints nothing.
package sim
