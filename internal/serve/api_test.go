package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/internal/run"
	"github.com/tailcut/tailcut/sched"
)

// ask sends a request as it is and returns the answer.
func (r *rig) ask(method, path string, body []byte) (*http.Response, []byte) {
	r.t.Helper()
	req, err := http.NewRequest(method, "http://tailcut"+path, bytes.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	answer, err := r.http.Do(req)
	if err != nil {
		r.t.Fatalf("%s %s %.200q: %v", method, path, body, err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return answer, text
}

// What the server really answers is what its description says.
func TestAnswersFitTheDescription(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Limits.MaxWait = 60 * sched.Second })
	r.submit(&run.Submission{Name: "over", Nice: 2})
	r.submit(&run.Submission{Name: "bad", Dir: "fail"})
	r.wait("over")
	r.wait("bad")
	r.submit(&run.Submission{Name: "wait", Dir: "wait", Nice: 3})
	r.until("wait", Running)
	r.submit(&run.Submission{Name: "held", After: []string{"wait"}})
	answer, text := r.ask("GET", "/openapi.json", nil)
	doc := object{}
	if err := json.Unmarshal(text, &doc); err != nil || answer.StatusCode != 200 {
		t.Fatal(answer.Status, err)
	}
	for _, c := range []struct{ method, path, ask, body string }{
		{"GET", "/v1/server", "", ""}, {"GET", "/v1/jobs", "?limit=2", ""}, {"GET", "/v1/jobs/{job}", "over", ""}, {"GET", "/v1/jobs/{job}", "wait?wait=0.01", ""},
		{"POST", "/v1/jobs/{job}/pause", "held", ""}, {"POST", "/v1/jobs/{job}/resume", "held", ""}, {"PUT", "/v1/jobs/{job}/priority", "wait", `{"priority":2,"deadline":"1h"}`},
		{"GET", "/v1/jobs/{job}/tasks", "wait?limit=2", ""}, {"GET", "/v1/jobs/{job}/timeline", "wait", ""}, {"GET", "/v1/timeline", "", ""},
		{"PUT", "/v1/policy", "", `{"policy":"fair"}`}, {"POST", "/v1/jobs/{job}/cancel", "wait", ""}, {"POST", "/v1/drain", "", ""},
	} {
		path := c.path + c.ask
		if before, after, ok := strings.Cut(c.path, "{job}"); ok {
			name, query, _ := strings.Cut(c.ask, "?")
			path = before + name + after + "?" + query
		}
		answer, text := r.ask(c.method, path, []byte(c.body))
		var v any
		if err := json.Unmarshal(text, &v); err != nil || answer.StatusCode != 200 {
			t.Errorf("%s %s: %s %s (%v)", c.method, path, answer.Status, text, err)
			continue
		}
		for _, s := range conforms(doc, answerSchema(doc, c.method, c.path), v, c.method+" "+path) {
			t.Error(s)
		}
	}
	close(r.shop.gate("wait"))
}

// Whatever is sent, the server answers: with what was asked for, or with what was wrong, and never with a failure of
// its own. It is as before afterwards.
func TestAnyRequest(t *testing.T) {
	r := newRig(t)
	random := rand.New(rand.NewPCG(6, 1))
	words := []string{
		`{`, `}`, `[`, `]`, `"`, `:`, `,`, `null`, `true`, `0`, `-1`, `1e999`, `9223372036854775808`, `"job"`, `"array"`, `"stages"`, `"tasks"`, `"after"`, `"name"`, `"\u0000"`,
		`"nice"`, `"env"`, `"priority"`, `"weight"`, `"deadline"`, `"policy"`, `"mapreduce"`, "\xff", ` `, `"10m"`, `{"name":`, `{"nice":3}`, `{"priority":1}`, `{"weight":0}`,
	}
	refs := []string{"0", "1", "x", "-1", "99999999999999999999", "%00", "%2e%2e%2fetc", "0123456789abcdef", "%ff", strings.Repeat("a", 500), "a%0Ab"}
	queries := []string{"", "?", "?limit=-1", "?limit=1e9", "?before=x", "?wait=-1", "?wait=NaN", "?wait=1e300", "?state=", "?%zz", "?since=-1", "?after=99999999999", "?a&a&a", "?task=-1&follow=false"}
	for range 3000 {
		all := routes()
		route := &all[random.IntN(len(all))]
		if route.long > 0 && route.kind == "text/event-stream" || route.path == "/v1/drain" {
			continue
		}
		var body []byte
		for range random.IntN(12) {
			body = append(body, words[random.IntN(len(words))]...)
		}
		path := strings.ReplaceAll(route.path, "{job}", refs[random.IntN(len(refs))]) + queries[random.IntN(len(queries))]
		answer, text := r.ask(route.method, path, body)
		if answer.StatusCode >= 500 && answer.StatusCode != http.StatusServiceUnavailable && answer.StatusCode != http.StatusNotImplemented {
			t.Fatalf("%s %s %q: %s %s", route.method, path, body, answer.Status, text)
		}
		if strings.Contains(answer.Header.Get("Content-Type"), "json") && !json.Valid(text) {
			t.Fatalf("%s %s %q: %s", route.method, path, body, text)
		}
	}
	j := r.submit(&run.Submission{Name: "after all"})
	if j = r.wait(fmt.Sprint(j.ID)); j.State != Succeeded {
		t.Errorf("%+v", j)
	}
}
