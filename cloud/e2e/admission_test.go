package e2e

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/ptr"
)

// In a namespace with the label Jobs come to be managed by Tailcut, in others not, and of Jobs that must not be cloned the API server warns, unless they say
// what is to be done.
func TestAdmission(t *testing.T) {
	c := newCluster(t)
	c.must(c.program("tailcut-controller", "--print-manifests=admission"), "apply", "-f", "-")
	defer c.must(c.program("tailcut-controller", "--print-manifests=admission"), "delete", "-f", "-")
	c.must("", "create", "namespace", "managed")
	c.must("", "label", "namespace", "managed", "tailcut.dev/managed=true")
	create := func(namespace, name, annotations, pod string) (warning string) {
		cmd := exec.Command(filepath.Join(c.bin, "kubectl"), "--kubeconfig", c.kubeconfig(), "create", "-f", "-")
		cmd.Stdin = strings.NewReader("apiVersion: batch/v1\nkind: Job\nmetadata: {name: " + name + ", namespace: " + namespace + ", annotations: {" + annotations + "}}\n" +
			"spec: {suspend: true, template: {spec: {restartPolicy: Never, " + pod + " containers: [{name: task, image: none}]}}}\n")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	manager := func(namespace, name string) string {
		job := c.jobIn(namespace, name)
		return ptr.Deref(job.Spec.ManagedBy, "")
	}
	const ours = "tailcut.dev/controller"
	n := ""
	c.eventually(time.Minute, "a Job that the policy has changed", func() bool { // which the API server learns of in the background
		n += "x"
		create("managed", "plain-"+n, "", "")
		return manager("managed", "plain-"+n) == ours
	})
	create("default", "elsewhere", "", "")
	if got := manager("default", "elsewhere"); got != "" {
		t.Errorf("elsewhere Jobs are managed by %q", got)
	}
	const claim = "volumes: [{name: v, persistentVolumeClaim: {claimName: c}}],"
	c.eventually(time.Minute, "a warning", func() bool {
		n += "x"
		return strings.Contains(create("managed", "claim-"+n, "", claim), "Warning:")
	})
	if out := create("managed", "host", "", "subdomain: s,"); !strings.Contains(out, "share a host name") {
		t.Errorf("of a subdomain it says %q", out)
	}
	for name, pod := range map[string]string{"said": claim, "nothing": ""} {
		if out := create("managed", name, "tailcut.dev/clones: never", pod); strings.Contains(out, "Warning") {
			t.Errorf("%s: %q", name, out)
		}
	}
	c.must("", "delete", "namespace", "managed", "--timeout=2m")
	c.must("", "delete", "job", "elsewhere")
}
