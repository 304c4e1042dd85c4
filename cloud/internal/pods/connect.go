package pods

import (
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"
)

// Connect returns a client and the namespace to work in. Without a file it looks where kubectl does, and around the
// process; without a namespace it is that of the file's context. Errors are the user's.
func Connect(file, namespace string) (kubernetes.Interface, string, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = file
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{})
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, "", fmt.Errorf("no cluster: %s", oneLine(err.Error()))
	}
	if namespace == "" {
		if namespace, _, err = loader.Namespace(); err != nil {
			return nil, "", fmt.Errorf("no cluster: %s", oneLine(err.Error()))
		}
	}
	config.QPS, config.Burst = 100, 200
	config.UserAgent = "tailcut-cloud"
	client, err := kubernetes.NewForConfig(config)
	return client, namespace, err
}

// ReadTemplate reads a file with a Pod in YAML or JSON; without a file it returns an empty one. Errors are the user's.
func ReadTemplate(file string) (*corev1.Pod, error) {
	pod := &corev1.Pod{}
	if file == "" {
		return pod, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if err := yaml.UnmarshalStrict(data, pod); err != nil {
		return nil, fmt.Errorf("%s: %s", file, oneLine(err.Error()))
	}
	if pod.Kind != "Pod" {
		return nil, fmt.Errorf("%s: kind: expected Pod, not %q", file, pod.Kind)
	}
	return pod, nil
}
