package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// account is where Kubernetes puts what a pod needs to speak to the API server.
var account = "/var/run/secrets/kubernetes.io/serviceaccount"

// pod is the pod that the program runs in.
type pod struct {
	client http.Client
	url    string
}

// ownPod finds out which pod this is, and how to speak of it.
func ownPod() (*pod, error) {
	name, host, port := os.Getenv("TAILCUT_POD"), os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT")
	if name == "" || host == "" {
		return nil, errors.New("TAILCUT_POD or KUBERNETES_SERVICE_HOST is not set")
	}
	namespace, err := os.ReadFile(filepath.Join(account, "namespace"))
	if err != nil {
		return nil, err
	}
	authority, err := os.ReadFile(filepath.Join(account, "ca.crt"))
	if err != nil {
		return nil, err
	}
	known := x509.NewCertPool()
	known.AppendCertsFromPEM(authority)
	return &pod{
		client: http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: known}}},
		url:    "https://" + net.JoinHostPort(host, port) + "/api/v1/namespaces/" + strings.TrimSpace(string(namespace)) + "/pods/" + name,
	}, nil
}

// report writes the annotation. The token is read each time: Kubernetes renews it.
func (p *pod) report(progress string) error {
	token, err := os.ReadFile(filepath.Join(account, "token"))
	if err != nil {
		return err
	}
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]string{"tailcut.dev/progress": progress}}})
	if err != nil {
		return err
	}
	request, err := http.NewRequest(http.MethodPatch, p.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	request.Header.Set("Content-Type", "application/merge-patch+json")
	answer, err := p.client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		said, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<10)) // whatever came
		var status struct{ Message string }
		_ = json.Unmarshal(said, &status)
		return fmt.Errorf("%s: %s", answer.Status, status.Message)
	}
	_, err = io.Copy(io.Discard, answer.Body) // so that the connection is used again
	return err
}
