// Package resume holds what the policies that work towards deadlines have in common: how far the attempts of a task
// have come, which of them is ahead, and from where a clone goes on. It holds no policy.
package resume
