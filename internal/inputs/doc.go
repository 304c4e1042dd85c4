// Package inputs holds the values that the tasks of an array job are given: where they come from, how several sources
// become one row per task, and how a row goes into a command, as GNU parallel's users know it. It starts nothing.
package inputs
