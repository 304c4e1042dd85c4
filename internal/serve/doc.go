// Package serve is many jobs on the slots of one machine: a server that takes jobs through a socket, a queue of them
// that outlives the server, and the client that other programs and the verbs of the tool speak to it with.
//
// A request is HTTP and JSON (types.go, routes.go); the description of it all is made from the same types
// (openapi.go). A job runs as the user who owns the server, so nobody else is let in (door.go). The package schedules
// nothing: the one loop of internal/live does, and a job is made ready and finished by internal/run.
package serve
