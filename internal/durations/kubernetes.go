package durations

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/tailcut/tailcut/internal/live"
)

// Cluster says of which Job of a cluster durations are wanted. kubectl gets them, so that Kubernetes' libraries are
// not needed, and what it takes to reach a cluster is said once.
type Cluster struct {
	Object    string // job/NAME or cronjob/NAME; "" for none
	Namespace string // "" for kubectl's
	History   string // namespace where the controller keeps durations
}

// Unreachable is an error of a cluster that did not give what it was asked for, of which the user's words are not the
// cause.
type Unreachable struct{ error }

// Unwrap returns what went wrong.
func (u Unreachable) Unwrap() error { return u.error }

// Take makes the log the one of the cluster's Job, and tells what it is of.
func (c *Cluster) Take(log *Log) error {
	text, err := c.durations(func(line string) {
		if log.Tell != nil {
			log.Tell(line)
		}
	})
	log.Path, log.Title, log.Stdin = "-", c.Object, bytes.NewReader(text)
	return err
}

// durations returns a log that package history reads.
func (c *Cluster) durations(tell func(string)) ([]byte, error) {
	kind, name, found := strings.Cut(c.Object, "/")
	if !found || name == "" || kind != "job" && kind != "cronjob" {
		return nil, fmt.Errorf("expected job/NAME or cronjob/NAME, not %q", c.Object)
	}
	namespace := c.Namespace
	if namespace == "" {
		text, err := kubectl("config", "view", "--minify", "--output", "jsonpath={..namespace}")
		var silent Unreachable
		if errors.As(err, &silent) {
			return nil, fmt.Errorf("kubectl has no current cluster; choose one with: kubectl config use-context NAME (%w)", silent.error)
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
		tell(err.Error())
	}
	if len(kept) > 0 {
		tell(fmt.Sprintf("%s: durations from configmap %s/%s", c.Object, c.History, key))
		return kept, nil
	}
	if kind != "job" {
		return nil, Unreachable{fmt.Errorf("%s: has no history: there is no configmap %s in namespace %s; start tailcut-controller with --history-namespace", c.Object, key, c.History)}
	}
	if !exists {
		return nil, fmt.Errorf("there is no job %s in namespace %s, and no history in namespace %s; list jobs with: kubectl get jobs -A", name, namespace, c.History)
	}
	tell(c.Object + ": no history; durations from its pods")
	return kubectl("get", "pods", "--namespace", namespace, "--selector", "batch.kubernetes.io/job-name="+name, "--output", "json")
}

// named returns what the Job is known by, and whether it is there. A Job that is gone is known by its name alone.
func (c *Cluster) named(kind, namespace, name string) (n live.Named, exists bool, err error) {
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
		return n, true, Unreachable{fmt.Errorf("kubectl get job %s: %w", name, err)}
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
func (c *Cluster) kept(key string) ([]byte, error) {
	text, err := kubectl("get", "configmap", key, "--namespace", c.History, "--output", "json", "--ignore-not-found")
	if err != nil || len(bytes.TrimSpace(text)) == 0 {
		return nil, err
	}
	var m struct {
		Data map[string]string `json:"data"`
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, Unreachable{fmt.Errorf("kubectl get configmap %s: %w", key, err)}
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
		return nil, Unreachable{fmt.Errorf("kubectl %s: %s", strings.Join(args[:2], " "), strings.TrimPrefix(last, "error: "))}
	}
	if errors.Is(err, exec.ErrNotFound) {
		return nil, errors.New("kubectl is not on PATH; install it, or give a FILE of durations")
	}
	if err != nil {
		return nil, Unreachable{err}
	}
	return out, nil
}
