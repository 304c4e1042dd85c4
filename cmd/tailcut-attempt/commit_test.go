package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// result makes a file of a text.
func result(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "result")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// race commits several files to one place at once, and returns the text of the one that has won.
func race(t *testing.T, destination string) string {
	t.Helper()
	var all sync.WaitGroup
	var mu sync.Mutex
	won := ""
	for i := range 8 {
		text := fmt.Sprint("result ", i)
		file := result(t, text)
		all.Go(func() {
			var out, errs strings.Builder
			status := commit([]string{file, destination}, &out, &errs)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case status != 0:
				t.Errorf("status %d: %s", status, &errs)
			case strings.HasPrefix(out.String(), "committed ") && won != "":
				t.Error("two have won")
			case strings.HasPrefix(out.String(), "committed "):
				won = text
			}
		})
	}
	all.Wait()
	return won
}

// Of several attempts one wins, and what it wrote is the result; nothing else is left on the volume.
func TestCommitToVolume(t *testing.T) {
	dir := t.TempDir()
	won := race(t, filepath.Join(dir, "7"))
	text, err := os.ReadFile(filepath.Join(dir, "7"))
	if err != nil || won == "" || string(text) != won {
		t.Errorf("%q has won, and the result is %q, %v", won, text, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left are %v, %v", left, err)
	}
}

// The same on a store, which says 409 now and then, as S3 does to writes that meet, and 503.
func TestCommitToStore(t *testing.T) {
	var mu sync.Mutex
	objects, n := map[string]string{}, 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		sum := sha256.Sum256(body)
		mu.Lock()
		defer mu.Unlock()
		n++
		switch _, there := objects[r.URL.Path]; {
		case err != nil || r.Method != http.MethodPut || r.Header.Get("If-None-Match") != "*" || r.Header.Get("X-Amz-Content-Sha256") != hex.EncodeToString(sum[:]):
			w.WriteHeader(http.StatusBadRequest)
		case n%3 == 1:
			w.WriteHeader([]int{http.StatusConflict, http.StatusServiceUnavailable}[n%2])
		case there:
			w.WriteHeader(http.StatusPreconditionFailed)
		default:
			objects[r.URL.Path] = string(body)
		}
	}))
	defer server.Close()
	t.Setenv("AWS_ENDPOINT_URL_S3", server.URL)
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	won := race(t, "s3://bucket/out/a b+7")
	if got := objects["/bucket/out/a b+7"]; won == "" || got != won {
		t.Errorf("%q has won, and the object is %q", won, got)
	}
}

// The signature is that of AWS' own example (Signature Version 4, PUT Object), but for a header that we do not send.
func TestSign(t *testing.T) {
	s := &s3{region: "us-east-1", key: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
		now: func() time.Time { return time.Date(2013, 5, 24, 0, 0, 0, 0, time.UTC) }}
	r, err := http.NewRequest(http.MethodGet, "https://examplebucket.s3.amazonaws.com"+escaped("/"), nil)
	if err != nil {
		t.Fatal(err)
	}
	const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	s.sign(r, empty)
	if got := r.Header.Get("Authorization"); !strings.HasPrefix(got, "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=") {
		t.Error(got)
	}
	if got := escaped("/test$file.text"); got != "/test%24file.text" {
		t.Error(got)
	}
}

// A pod's role gives credentials.
func TestRole(t *testing.T) {
	sts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("RoleArn") != "arn" || r.FormValue("WebIdentityToken") != "mine" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		fmt.Fprint(w, `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><Credentials>`+
			`<AccessKeyId>k</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`)
	}))
	defer sts.Close()
	env := map[string]string{"AWS_ROLE_ARN": "arn", "AWS_WEB_IDENTITY_TOKEN_FILE": result(t, "mine\n"), "AWS_ENDPOINT_URL_STS": sts.URL}
	s, err := s3Of(func(name string) string { return env[name] })
	if err != nil || s.key != "k" || s.secret != "s" || s.token != "t" {
		t.Errorf("%+v, %v", s, err)
	}
	env["AWS_ROLE_ARN"] = "other"
	if _, err := s3Of(func(name string) string { return env[name] }); err == nil || !strings.Contains(err.Error(), "403") {
		t.Error(err)
	}
}

func TestCommitUsage(t *testing.T) {
	for args, want := range map[string]int{"": 2, "a": 2, "--x b": 2, "none /tmp/x": 1, "none gs://b/k": 1, "none s3://b": 1, "/dev/null " + filepath.Join(t.TempDir(), "x"): 1} {
		var out, errs strings.Builder
		if got := commit(strings.Fields(args), &out, &errs); got != want || errs.Len() == 0 {
			t.Errorf("%q: status %d, %s", args, got, &errs)
		}
	}
}
