// Package jobfile says what a user asks to have run: jobs as data, their cutting into tasks, and the files that declare
// them (docs/reference/jobfile.md). It starts nothing; whoever runs attempts, here or elsewhere, finds in Work what
// they do.
package jobfile
