// Package suite is the yardstick by which a default policy is chosen: cells, each a world in which every policy meets
// the same jobs and the same random draws, and the result of each policy beside that of the best.
//
// The cells are drawn from the axes of axes.go by hash, and frozen in bench/suite/cells.csv. A third of them, by hash
// too, is held out: while a policy is tuned, only the others are looked at.
package suite
