package pods

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// PodVariable names the pod that an engine runs in, where its host name does not.
const PodVariable = "TAILCUT_POD"

// accountNamespace is there in each pod that may speak to the API server.
const accountNamespace = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// Own gives the pods an owner if the engine runs in a pod of their namespace. Outside of the cluster the engine is
// there to delete them.
func Own(ctx context.Context, cfg *Config) {
	namespace, err := os.ReadFile(accountNamespace)
	if err != nil || strings.TrimSpace(string(namespace)) != cfg.Namespace {
		return
	}
	host, _ := os.Hostname() // "" is no pod either
	if cfg.Owner, err = ownerOf(ctx, cfg.Client, cfg.Namespace, cmp.Or(os.Getenv(PodVariable), host)); err != nil {
		fmt.Fprintf(cfg.Log, "tailcut: %v\n", err)
	}
}

// ownerOf returns what the pods of an engine belong to that itself runs in a pod: the Job of that pod, or whatever made
// it, or else the pod. Kubernetes deletes them with it. The error is for the user to know; the run can go on without.
func ownerOf(ctx context.Context, client kubernetes.Interface, namespace, name string) (*metav1.OwnerReference, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	pod, err := client.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("pods will stay if the engine's own Job is deleted, because the engine cannot read its pod %s (%s); "+
			"let its service account get pods, and set %s to metadata.name", name, oneLine(err.Error()), PodVariable)
	}
	if maker := metav1.GetControllerOf(pod); maker != nil {
		return &metav1.OwnerReference{APIVersion: maker.APIVersion, Kind: maker.Kind, Name: maker.Name, UID: maker.UID}, nil
	}
	return &metav1.OwnerReference{APIVersion: corev1.SchemeGroupVersion.String(), Kind: "Pod", Name: pod.Name, UID: pod.UID}, nil
}
