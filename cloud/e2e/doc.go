// Package e2e tests tailcut-controller on a real Kubernetes: etcd, API server, scheduler, controller manager and three
// nodes with kubelets and containers, all on this machine. The script run starts them and the tests; without them the
// tests are skipped.
package e2e
