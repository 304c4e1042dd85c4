// Package why says why the pods of Jobs that Tailcut runs run or wait. It knows what the API server shows, which is
// what the controller has written into statuses, events, labels and annotations, and changes nothing.
package why
