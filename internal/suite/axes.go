package suite

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
)

// Cell is a world. Its fields are words of the axes.
type Cell struct {
	Family   string // of workloads, see families
	Size     string // tasks of an array; "" for other families
	Service  string // how long attempts last, see services
	Reports  string // that policies are told, see reports
	Load     string // work that arrives by what the slots can do; for an array, see waves
	Slots    string
	Scale    string // mean duration of a task
	Told     string // sizes: known or unknown beforehand
	Stations string // stages of a job: one, or two (maps and reduces) for what is generated
}

// axis is the words of one field.
type axis struct {
	name  string
	field func(*Cell) *string
	words func(family string) []string
}

func always(words ...string) func(string) []string { return func(string) []string { return words } }

// families are what jobs are like. Arrays are single jobs. mix is generated: Poisson arrivals, heavy-tailed numbers of
// tasks. The others are traces.
var families = []string{"array", "mix", "tpch", "alibaba", "montage", "google", "facebook", "hadoop"}

func generated(family string) bool { return family == "array" || family == "mix" }

// perFamily is how many cells a family has.
const perFamily = 30

// axes are declared before any policy was tuned on them.
var axes = []axis{
	{"size", func(c *Cell) *string { return &c.Size }, func(family string) []string {
		if family != "array" {
			return []string{""}
		}
		return []string{"10", "40", "100", "400", "1000", "10000"}
	}},
	{"service", func(c *Cell) *string { return &c.Service }, func(family string) []string {
		all := []string{"resample", "recorded", "sx:light", "sx:heavy", "sx:bimodal", "machine"}
		if generated(family) {
			all = append(all, "law:light", "law:heavy", "law:bimodal")
		}
		return all
	}},
	{"reports", func(c *Cell) *string { return &c.Reports }, always(
		"none", "every", "independent:0.2", "independent:0.5", "persistent:0.2", "persistent:0.5", "hang")},
	{"load", func(c *Cell) *string { return &c.Load }, always("0.2", "0.5", "0.8", "1.0", "1.2")},
	{"slots", func(c *Cell) *string { return &c.Slots }, func(family string) []string {
		switch family {
		case "array":
			return []string{"by load"}
		case "google":
			return []string{"200", "1000", "11000"}
		case "hadoop", "mix", "tpch", "montage":
			return []string{"2", "8", "40", "200"}
		}
		return []string{"8", "40", "200", "1000"}
	}},
	{"scale", func(c *Cell) *string { return &c.Scale }, always("100ms", "1s", "10s", "1m0s", "10m0s", "1h0m0s")},
	{"told", func(c *Cell) *string { return &c.Told }, always("known", "unknown")},
	{"stations", func(c *Cell) *string { return &c.Stations }, func(family string) []string {
		if generated(family) {
			return []string{"one", "two"}
		}
		return []string{""}
	}},
}

// ID names the cell.
func (c *Cell) ID() string {
	return fmt.Sprintf("%s,%s,%s,%s,%s,%s,%s,%s,%s", c.Family, c.Size, c.Service, c.Reports, c.Load, c.Slots, c.Scale, c.Told, c.Stations)
}

// HeldOut tells whether the cell is of the third that nobody looks at while tuning.
func (c *Cell) HeldOut() bool { return hashOf("held out "+c.ID())%3 == 0 }

// Declare draws the cells: of each family those combinations of words that a hash puts first.
func Declare() []Cell {
	var all []Cell
	for _, family := range families {
		combined := combine(family)
		rank := make(map[Cell]uint64, len(combined))
		for _, c := range combined {
			rank[c] = hashOf(c.ID())
		}
		slices.SortFunc(combined, func(a, b Cell) int { return cmp.Compare(rank[a], rank[b]) })
		all = append(all, combined[:perFamily]...)
	}
	return all
}

// combine returns all combinations of words.
func combine(family string) []Cell {
	all := []Cell{{Family: family}}
	for _, ax := range axes {
		var next []Cell
		for _, c := range all {
			for _, word := range ax.words(family) {
				*ax.field(&c) = word
				next = append(next, c)
			}
		}
		all = next
	}
	// The simulator has no attempts that hang on machines whose pace changes.
	return slices.DeleteFunc(all, func(c Cell) bool { return c.Service == "machine" && c.Reports == "hang" })
}

func hashOf(text string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	// The last bits of FNV are poor; mix them (Stafford's variant 13).
	x := h.Sum64()
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}
