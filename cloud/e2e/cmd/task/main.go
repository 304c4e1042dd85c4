// Task is the work of the tests' pods: it takes the time of its first argument, many times as long on the node that its
// second names (the third says how many), and reports its progress in its pod's annotation tailcut.dev/progress. Its
// output is its pod's name, in a file of /out that has its index for a name: of several attempts the first to finish
// leaves it. With the first argument exit it ends as the others say. It ignores SIGTERM.
package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

func main() {
	signal.Ignore(syscall.SIGTERM) // as a shell does that is the first process of its container
	if len(os.Args) > 1 && os.Args[1] == "exit" {
		os.Exit(exit(os.Args[2:]))
	}
	err := work(os.Args[1:])
	if err == nil {
		err = commit("/out", os.Getenv("JOB_COMPLETION_INDEX"), os.Getenv("POD_NAME"))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "task:", err)
		os.Exit(1)
	}
}

// commit links a file that is complete to the name of the output. Where the name exists, another attempt was faster.
func commit(dir, index, pod string) error {
	own := dir + "/" + pod
	if err := os.WriteFile(own, []byte(pod), 0o644); err != nil {
		return err
	}
	defer os.Remove(own)
	if err := os.Link(own, dir+"/"+index); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

func work(args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("usage: task DURATION SLOW-NODE TIMES")
	}
	total, err := time.ParseDuration(args[0])
	if err != nil {
		return err
	}
	times, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	if os.Getenv("NODE_NAME") == args[1] {
		total *= time.Duration(times)
	}
	report := reporter()
	start := time.Now()
	for done := time.Duration(0); done < total; done = time.Since(start) {
		report(done.Seconds() / total.Seconds())
		time.Sleep(min(time.Second, total-done))
	}
	return nil
}

// reporter returns what tells the API server how far the task is. That it cannot be told does not stop the work.
func reporter() func(float64) {
	const account = "/var/run/secrets/kubernetes.io/serviceaccount/"
	token, err := os.ReadFile(account + "token")
	authority, err2 := os.ReadFile(account + "ca.crt")
	if err != nil || err2 != nil {
		return func(float64) {}
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	client := http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	url := "https://" + net.JoinHostPort(os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT")) +
		"/api/v1/namespaces/" + os.Getenv("POD_NAMESPACE") + "/pods/" + os.Getenv("POD_NAME")
	return func(progress float64) {
		body := fmt.Appendf(nil, `{"metadata":{"annotations":{"tailcut.dev/progress":"%.3f"}}}`, progress)
		request, err := http.NewRequest(http.MethodPatch, url, bytes.NewReader(body))
		if err != nil {
			return
		}
		request.Header.Set("Authorization", "Bearer "+string(token))
		request.Header.Set("Content-Type", "application/merge-patch+json")
		if response, err := client.Do(request); err == nil {
			response.Body.Close()
		}
	}
}
