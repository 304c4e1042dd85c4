// Package why says why the pods of Jobs that Tailcut runs run or wait: on a terminal, and of pools as a page, too. It
// knows what the API server shows, which is what the controller has written into statuses, events, labels and
// annotations, and changes nothing.
package why
