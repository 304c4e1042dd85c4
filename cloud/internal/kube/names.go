package kube

import (
	batchv1 "k8s.io/api/batch/v1"
)

// ManagedBy is the spec.managedBy of the Jobs that the controller reconciles.
const ManagedBy = "tailcut.dev/controller"

// Annotations of Jobs.
const (
	PolicyAnnotation      = "tailcut.dev/policy"       // as --policy takes it; the controller's default without
	MaxAttemptsAnnotation = "tailcut.dev/max-attempts" // attempts of a task at once
	// what policies aim at: a duration from the start, or an instant (RFC 3339)
	DeadlineAnnotation = "tailcut.dev/deadline"
	// of an attempt's duration in seconds; what is known of earlier runs without
	LawAnnotation         = "tailcut.dev/law"
	CloneBudgetAnnotation = "tailcut.dev/clone-budget" // clones of the Job at once, or none for no limit
	// "true": attempts can go on from an offset that another one has reported
	ResumableAnnotation = "tailcut.dev/resumable"
	ClonesAnnotation    = "tailcut.dev/clones"  // never, or allowed where the controller would start none
	DryRunAnnotation    = "tailcut.dev/dry-run" // "true": decide about clones and start none
	DataAnnotation      = "tailcut.dev/data"    // what tasks read in which zones; see data.go
	// how long a loser may take to end, if its own grace period is not shorter; a duration
	LoserGraceAnnotation = "tailcut.dev/loser-grace"
)

// Labels and annotations of pods, beside those of podtemplate.
const (
	LostLabel = "tailcut.dev/lost" // why the controller ended the attempt; the pod counts for nothing
	ZoneLabel = "tailcut.dev/zone" // of its pool, in which it has a slot and has to run
	// set by the task: fraction of its work done, and the offset reached if it can be gone on from there
	ProgressAnnotation = "tailcut.dev/progress"
	resumeAnnotation   = "tailcut.dev/resume" // offset that the attempt goes on from, if not 0
)

// ClassLabel on a Job names the class of its pool whose slots its pods have; on a pod, that one.
const ClassLabel = "tailcut.dev/class"

// WinnersLabel is on the ConfigMaps that say which attempts of a Job have won; its value is the Job's name.
const WinnersLabel = "tailcut.dev/winners-of"

// On ConfigMaps that keep durations of earlier Jobs.
const (
	historyLabel    = "tailcut.dev/history"
	addedAnnotation = "tailcut.dev/added" // when the latest run was added; RFC 3339 in UTC
)

const (
	finalizer  = batchv1.JobTrackingFinalizer
	indexLabel = batchv1.JobCompletionIndexAnnotation // Kubernetes uses the same key for label and annotation
	failsKey   = batchv1.JobIndexFailureCountAnnotation
)
