package sim

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// purpose says what a random number is for. The values are part of every result: never renumber them.
type purpose uint64

const (
	forService  purpose = 1  // how long an attempt lasts: job, task, attempt number
	forNoise    purpose = 2  // the error of an estimate: job, task, attempt number and report
	forSlowdown purpose = 3  // how slow a machine is for a while: machine, spell
	forSpell    purpose = 4  // how long that while is: machine, spell
	forUp       purpose = 5  // how long a machine works: machine, spell
	forRepair   purpose = 6  // how long it takes to repair: machine, spell
	forRun      purpose = 7  // the seed of a run: run
	forCapacity purpose = 8  // what a machine does in a slot: machine, slot
	forOddity   purpose = 9  // whether an attempt's reports are odd: job, task, attempt number
	forHang     purpose = 10 // where an attempt hangs: job, task, attempt number
	forWait     purpose = 11 // how long an attempt waits before it begins: job, task, attempt number
	forBeat     purpose = 12 // when a machine's heartbeats begin: machine
	forPause    purpose = 13 // when an attempt pauses first: job, task, attempt number

	forSite     purpose = 16 // how much slower an attempt is than its machine: job, task, attempt number
	forSpeed    purpose = 17 // how fast a machine is: machine
	forPlace    purpose = 18 // at which site the input of a job is, if it does not say: job
	forBusy     purpose = 19 // how much of a site is busy for a while: site, while
	forWhile    purpose = 20 // how long that while is: site, while
	forOccupied purpose = 21 // which machines are busy first: machine
	forPlane    purpose = 22 // where a site of a generated cluster is: site, attempt to place it
)

// draw returns 64 random bits that depend on what they are for and on nothing else.
func draw(seed uint64, p purpose, a, b, c uint32) uint64 {
	var g rand.PCG
	g.Seed(mix(seed^uint64(p)<<48), mix(uint64(a)<<32|uint64(b))+uint64(c))
	return g.Uint64()
}

// mix is the finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), a bijection.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// uniform turns bits into a number in (0, 1), one of 2^52 equally likely ones.
func uniform(x uint64) float64 { return (float64(x>>12) + 0.5) / (1 << 52) }

// below turns bits into an index less than n. The bias is below n/2^64.
func below(x uint64, n int) int {
	hi, _ := bits.Mul64(x, uint64(n))
	return int(hi)
}

// normal turns bits into a standard normal number.
func normal(x uint64) float64 { return math.Sqrt2 * math.Erfinv(2*uniform(x)-1) }

// exponential turns bits into an exponential number with mean 1.
func exponential(x uint64) float64 { return -math.Log(uniform(x)) }

// RunSeed returns the seed of run k of an experiment.
func RunSeed(seed uint64, k int) uint64 { return draw(seed, forRun, uint32(k), 0, 0) }
