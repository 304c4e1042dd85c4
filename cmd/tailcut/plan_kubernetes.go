package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tailcut/tailcut/internal/live"
)

// clusterFrom says of which Job of a cluster durations are wanted. kubectl gets them, so that Kubernetes' libraries are
// not needed, and what it takes to reach a cluster is said once.
type clusterFrom struct {
	object    string // job/NAME or cronjob/NAME; "" for none
	namespace string // "" for kubectl's
	history   string // namespace where the controller keeps durations
}

func (c *clusterFrom) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&c.object, "kubernetes", "", "durations of a Job of the cluster that kubectl speaks to, instead of FILE: job/NAME or cronjob/NAME; "+
		"what tailcut-controller has kept of it and its like, or else the Job's pods")
	flags.StringVar(&c.namespace, "namespace", "", "with --kubernetes: namespace of the Job (default that of kubectl)")
	flags.StringVar(&c.history, "history-namespace", "tailcut-system", "with --kubernetes: namespace where tailcut-controller keeps durations")
}

// durations returns a log that package history reads. notes is told what it is of.
func (c *clusterFrom) durations(notes io.Writer) ([]byte, error) {
	kind, name, found := strings.Cut(c.object, "/")
	if !found || name == "" || kind != "job" && kind != "cronjob" {
		return nil, fmt.Errorf("--kubernetes: expected job/NAME or cronjob/NAME, not %q", c.object)
	}
	namespace := c.namespace
	if namespace == "" {
		text, err := kubectl("config", "view", "--minify", "--output", "jsonpath={..namespace}")
		var silent failure
		if errors.As(err, &silent) {
			return nil, fmt.Errorf("--kubernetes: kubectl has no cluster to speak to; choose one with 'kubectl config use-context': %w", silent.error)
		}
		if err != nil {
			return nil, err
		}
		if namespace = strings.TrimSpace(string(text)); namespace == "" {
			namespace = "default"
		}
	}
	named, exists, err := c.named(kind, namespace, name)
	if err != nil {
		return nil, err
	}
	key := live.PastKey(named)
	kept, err := c.kept(key)
	if err != nil {
		notice(notes, "%v", err)
	}
	if len(kept) > 0 {
		notice(notes, "%s: from what is kept in configmap %s/%s", c.object, c.history, key)
		return kept, nil
	}
	if kind != "job" {
		return nil, failure{fmt.Errorf("%s: nothing is kept of it: there is no configmap %s in namespace %s", c.object, key, c.history)}
	}
	if !exists {
		return nil, fmt.Errorf("--kubernetes: there is no job %s in namespace %s, and nothing is kept of it in namespace %s", name, namespace, c.history)
	}
	notice(notes, "%s: nothing is kept of it; from its pods", c.object)
	return kubectl("get", "pods", "--namespace", namespace, "--selector", "batch.kubernetes.io/job-name="+name, "--output", "json")
}

// named returns what the Job is known by, and whether it is there. A Job that is gone is known by its name alone.
func (c *clusterFrom) named(kind, namespace, name string) (n live.Named, exists bool, err error) {
	n = live.Named{Namespace: namespace, Name: name}
	if kind != "job" {
		n.OwnerKind, n.OwnerName = kind, name
		return n, false, nil
	}
	text, err := kubectl("get", "job", name, "--namespace", namespace, "--output", "json", "--ignore-not-found")
	if err != nil || len(bytes.TrimSpace(text)) == 0 {
		return n, false, err
	}
	var job struct {
		Metadata struct {
			GenerateName string `json:"generateName"`
			Owners       []struct {
				Kind       string `json:"kind"`
				Name       string `json:"name"`
				Controller bool   `json:"controller"`
			} `json:"ownerReferences"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(text, &job); err != nil {
		return n, true, failure{fmt.Errorf("kubectl get job %s: %w", name, err)}
	}
	n.GenerateName = job.Metadata.GenerateName
	for _, o := range job.Metadata.Owners {
		if o.Controller {
			n.OwnerKind, n.OwnerName = o.Kind, o.Name
		}
	}
	return n, true, nil
}

// kept returns what the controller keeps under a key; nothing if there is nothing.
func (c *clusterFrom) kept(key string) ([]byte, error) {
	text, err := kubectl("get", "configmap", key, "--namespace", c.history, "--output", "json", "--ignore-not-found")
	if err != nil || len(bytes.TrimSpace(text)) == 0 {
		return nil, err
	}
	var m struct {
		Data map[string]string `json:"data"`
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, failure{fmt.Errorf("kubectl get configmap %s: %w", key, err)}
	}
	return []byte(m.Data[live.PastFile]), nil
}

// kubectl returns what kubectl prints. The last of what it complains of is the error: what its libraries log is before.
func kubectl(args ...string) ([]byte, error) {
	out, err := exec.Command("kubectl", args...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		said := strings.TrimSpace(string(exit.Stderr))
		last := said[strings.LastIndexByte(said, '\n')+1:]
		return nil, failure{fmt.Errorf("kubectl %s: %s", strings.Join(args[:2], " "), strings.TrimPrefix(last, "error: "))}
	}
	if errors.Is(err, exec.ErrNotFound) {
		return nil, errors.New("--kubernetes: there is no kubectl on PATH")
	}
	if err != nil {
		return nil, failure{err}
	}
	return out, nil
}
