// Package tandem holds what the policies for overlapping map and shuffle phases have in common: the sizes of jobs at
// two stations. It holds no policy.
package tandem
