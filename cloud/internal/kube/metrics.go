package kube

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/tailcut/tailcut/cloud/internal/podtemplate"
)

// What the controller tells Prometheus, beside what controller-runtime does. An attempt that ended while no controller
// ran is counted by the next one.
var (
	attemptsStarted = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tailcut_attempts_started_total", Help: "Pods made.",
	}, []string{"kind"})
	attempts = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tailcut_attempts_total", Help: "Pods that have ended by themselves.",
	}, []string{"kind", "outcome"})
	attemptSeconds = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tailcut_attempt_seconds_total", Help: "Time for which containers ran; useful that of pods that succeeded.",
	}, []string{"useful"})
	jobFlow = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "tailcut_job_flow_seconds", Help: "Time from a Job's creation to its end.", Buckets: prometheus.ExponentialBuckets(1, 2, 18),
	}, []string{"result"})
	deadlines = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tailcut_deadline_total", Help: "Jobs with tailcut.dev/deadline that have ended.",
	}, []string{"result"})
	nodeSlowness = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "tailcut_node_slowness", Help: "Share of a node's attempts of late that took more than twice the median of their Jobs.",
	}, []string{"node"})
	nodeAvoided = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "tailcut_node_avoided", Help: "1 for a node that pods avoid because it is slow.",
	}, []string{"node"})
	poolPods = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "tailcut_pool_pods", Help: "Pods that have slots of a SlotPool.",
	}, []string{"pool", "kind"})
	poolJobs = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "tailcut_pool_jobs", Help: "Unfinished Jobs of a SlotPool; those that wait have no slot.",
	}, []string{"pool", "state"})
)

// observePool tells how a pool stands; nil is one that is gone.
func observePool(name string, st *SlotPoolStatus) {
	if st == nil {
		poolPods.DeletePartialMatch(prometheus.Labels{"pool": name})
		poolJobs.DeletePartialMatch(prometheus.Labels{"pool": name})
		return
	}
	poolPods.WithLabelValues(name, podtemplate.Original).Set(float64(st.Used - st.Clones))
	poolPods.WithLabelValues(name, podtemplate.Clone).Set(float64(st.Clones))
	poolJobs.WithLabelValues(name, "waiting").Set(float64(st.Waiting))
	poolJobs.WithLabelValues(name, "running").Set(float64(st.Jobs - st.Waiting))
}

func init() {
	metrics.Registry.MustRegister(attemptsStarted, attempts, attemptSeconds, jobFlow, deadlines, nodeSlowness, nodeAvoided, poolPods, poolJobs)
}

// observePod counts an attempt that has ended by itself.
func observePod(p *corev1.Pod) {
	if p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed {
		return
	}
	success := p.Status.Phase == corev1.PodSucceeded
	outcome, useful := "failed", "false"
	if success {
		outcome, useful = "succeeded", "true"
	}
	attempts.WithLabelValues(podtemplate.Kind(podtemplate.IsClone(p.Labels)), outcome).Inc()
	if begun, ended := lifetime(p); !begun.IsZero() && ended.After(begun) {
		attemptSeconds.WithLabelValues(useful).Add(ended.Sub(begun).Seconds())
	}
}

// observeLost counts the time of an attempt that is ended.
func observeLost(p *corev1.Pod, now time.Time) {
	attempts.WithLabelValues(podtemplate.Kind(podtemplate.IsClone(p.Labels)), "lost").Inc()
	if begun, _ := lifetime(p); !begun.IsZero() && now.After(begun) {
		attemptSeconds.WithLabelValues("false").Add(now.Sub(begun).Seconds())
	}
}

// observeJob counts a Job that has just ended.
func observeJob(job *batchv1.Job, now time.Time) {
	result := "failed"
	if conditionOf(&job.Status, batchv1.JobComplete) != nil {
		result = "succeeded"
	}
	jobFlow.WithLabelValues(result).Observe(now.Sub(job.CreationTimestamp.Time).Seconds())
	if at, err := aimOf(job); err == nil && !at.IsZero() {
		met := "missed"
		if result == "succeeded" && !now.After(at) {
			met = "met"
		}
		deadlines.WithLabelValues(met).Inc()
	}
}
