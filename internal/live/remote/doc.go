// Package remote lets the executor of a run be a program of its own, which the engine starts and speaks to through
// pipes. So tailcut, which starts itself for every attempt, need not hold the libraries of clusters and object stores.
//
// The engine writes calls to the program's standard input and the program writes answers and reports to its standard
// output, both as JSON values, one a line. Calls are answered in the order in which they came. When its standard input
// ends the engine is gone: the program ends all attempts and then itself. The program must not end when its terminal is
// interrupted, for the engine has still things to say then.
package remote
