// Package jobfile describes jobs as data, cuts them into tasks, and reads the files that declare them
// (docs/reference/jobfile.md). It starts nothing; drivers of attempts find in Work what to do.
package jobfile
