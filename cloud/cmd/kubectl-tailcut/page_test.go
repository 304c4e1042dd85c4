package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/cloud/internal/why"
)

// withPool is what an API server answers that has a pool, by paths.
var withPool = map[string]string{
	"/api":  `{"kind":"APIVersions","versions":[]}`,
	"/apis": `{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"tailcut.dev","versions":[{"groupVersion":"tailcut.dev/v1alpha1","version":"v1alpha1"}]}]}`,
	"/apis/tailcut.dev/v1alpha1": `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"tailcut.dev/v1alpha1","resources":[
		{"name":"slotpools","singularName":"slotpool","namespaced":false,"kind":"SlotPool","verbs":["get","list","watch"]}]}`,
	"/apis/tailcut.dev/v1alpha1/slotpools": `{"kind":"SlotPoolList","apiVersion":"tailcut.dev/v1alpha1","metadata":{"resourceVersion":"1"},"items":[
		{"kind":"SlotPool","apiVersion":"tailcut.dev/v1alpha1","metadata":{"name":"batch"},"spec":{"slots":4},"status":{"used":3}}]}`,
}

// apiServer is an API server that answers who brings the token of a kubeconfig file, which it returns.
func apiServer(t *testing.T, answers map[string]string) (kubeconfig string) {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer ann" {
			t.Errorf("asked for %s as %q", r.URL, r.Header.Get("Authorization"))
		}
		w.Header().Set("Content-Type", "application/json")
		answer := answers[r.URL.Path]
		if answer == "" {
			w.WriteHeader(404)
			answer = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`
		} else if strings.Contains(answer, "Forbidden") {
			w.WriteHeader(403)
		}
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	kubeconfig = filepath.Join(t.TempDir(), "config")
	text := fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: trial\nclusters: [{name: c, cluster: {server: %q, insecure-skip-tls-verify: true}}]\n"+
		"users: [{name: u, user: {token: ann}}]\ncontexts: [{name: trial, context: {cluster: c, user: u}}]\n", server.URL)
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return kubeconfig
}

// The page is for whoever has the address that is printed: with its token, and by the server's own name.
func TestPage(t *testing.T) {
	c, err := why.Connect(apiServer(t, withPool), "", "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	printed, out := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- servePage(ctx, c, "127.0.0.1:0", out, io.Discard) }()
	address := ""
	if _, err := fmt.Fscanln(printed, &address); err != nil {
		t.Fatal(err)
	}
	base, token, _ := strings.Cut(address, "/login?token=")
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(base, "http://"))
	for _, x := range []struct {
		name, path, token, host string
		status                  int
		says                    string
	}{
		{"pools", "/v1/pools", token, "", 200, `"context":"trial","pools":[{"name":"batch","policy":"auto","ready":null,"unit":"slots","used":3,"total":4,"says":"3 of 4 slots"`},
		{"page", "/", token, "", 200, "<title>Tailcut pools</title>"},
		{"without the token", "/v1/pools", "x", "", 401, "in the address that kubectl tailcut page printed"},
		{"files without the token", "/assets/pools.js", "x", "", 401, "expected the token"},
		{"by another name", "/v1/pools", token, "evil.example:" + port, 421, "not called"},
	} {
		t.Run(x.name, func(t *testing.T) {
			req, err := http.NewRequest("GET", base+x.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Host = x.host
			req.Header.Set("Authorization", "Bearer "+x.token)
			answer, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			if text, err := io.ReadAll(answer.Body); err != nil || answer.StatusCode != x.status || !strings.Contains(string(text), x.says) {
				t.Errorf("%s: %.300s (%v)", answer.Status, text, err)
			}
		})
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// What a cluster without pools answers, and one that refuses, is said.
func TestPageOfAClusterThatRefuses(t *testing.T) {
	refuses := maps.Clone(withPool)
	refuses["/apis/tailcut.dev/v1alpha1/slotpools"] = `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"slotpools.tailcut.dev is forbidden: User \"ann\" cannot list","reason":"Forbidden","code":403}`
	for _, c := range []struct {
		answers map[string]string
		status  int
		says    string
	}{
		{map[string]string{"/api": withPool["/api"], "/apis": `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`}, 503, "slotpools.tailcut.dev is not installed"},
		{refuses, 403, `User \"ann\" cannot list`},
	} {
		cluster, err := why.Connect(apiServer(t, c.answers), "", "")
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		if cluster.Page().ServeHTTP(w, httptest.NewRequest("GET", "/v1/pools", nil)); w.Code != c.status || !strings.Contains(w.Body.String(), c.says) {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
}
