package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/internal/run"
	"github.com/tailcut/tailcut/policy"
)

// What a client reads of a stream does not depend on how it comes in pieces. Whatever comes, each event says one thing,
// in JSON that is whole, and no job is over that is not.
func FuzzHear(f *testing.F) {
	for _, text := range []string{
		"", "\n", "event: line\ndata: \"hello\"\n\n", "event: standing\r\ndata: {\"state\":\"running\"}\r\n\r\n", ": nothing\n\ndata: 3\n\n",
		"event: result\ndata: {\ndata: }\n\n", "event: over\ndata: null\n\n", "event: over\ndata: {\"id\":3,\"state\":\"failed\"}\n\nevent: line\ndata: 3\n\n",
		"event: over\n\ndata: {\"state\":\"failed\"}\n\n", "event: line\ndata: \"a", "event: line\ndata: [1]\n\n", "event: odd\ndata: {}\n\n", "event: standing\ndata: \n\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var told, again []string
		job, heard, err := hear(bytes.NewReader(text), func(w *Watched) {
			all, marshal := json.Marshal(w)
			if marshal != nil {
				t.Fatal(marshal)
			}
			if told = append(told, string(all)); len(w.Standing) > 0 && len(w.Result) > 0 || w.Over != nil && !w.Over.State.Over() {
				t.Fatalf("%+v", w)
			}
		})
		if (job == nil) == (err == nil) || heard != bytes.Contains(text, []byte("\n")) {
			t.Fatalf("%+v, %v, %v", job, heard, err)
		}
		_, _, _ = hear(iotest.OneByteReader(bytes.NewReader(text)), func(w *Watched) {
			all, _ := json.Marshal(w)
			again = append(again, string(all))
		})
		if diff := cmp.Diff(told, again); diff != "" {
			t.Fatal(diff)
		}
	})
}

// What a client reads is what the server wrote, line by line.
func TestHearsWhatIsWritten(t *testing.T) {
	r := newRig(t)
	j := r.submit(&run.Submission{Name: "a", Nice: 2})
	_, text := r.ask("GET", fmt.Sprintf("/v1/jobs/%d/watch", j.ID), nil)
	var told []Watched
	job, _, err := hear(bytes.NewReader(text), func(w *Watched) { told = append(told, *w) })
	if err != nil || job.ID != j.ID || job.State != Succeeded || len(told) == 0 || told[len(told)-1].Over == nil {
		t.Errorf("%+v, %v: %+v of %s", job, err, told, text)
	}
}

// Whatever is asked for by PUT, the server answers that it is done or what is wrong. A policy that it accepts can be
// built, and a job that comes under it runs under the next one at the latest.
func FuzzOrders(f *testing.F) {
	for _, body := range []string{
		`{"policy":"fair"}`, `{"policy":"srpt"}`, `{"policy":"spark:quantile=0.5,order=srpt"}`, `{"policy":"fifo/fair"}`, `{"policy":""}`, `{"policy":"laps:beta=1e-9"}`, `{"policy":"a:b=(c:d=("}`,
		`{"priority":3}`, `{"priority":-2147483649}`, `{"weight":1e-300}`, `{"weight":1e9}`, `{"deadline":"1ns"}`, `{"deadline":"9999-12-31T23:59:59Z"}`, `{"deadline":"none"}`, `{"deadline":"2540400h"}`,
		`{}`, `null`, `[]`, `{"priority":null}`, `{"policy":"shed:law=(pareto:alpha=1.5,xm=3)"}`,
	} {
		f.Add([]byte(body), len(body)%2 == 0)
	}
	r := newRig(f, func(c *Config) { c.Limits.Attempts = 1 }) // a clone of the job that waits would take the other slot
	r.submit(&run.Submission{Name: "wait", Dir: "wait", Nice: 1})
	f.Cleanup(func() { close(r.shop.gate("wait")) })
	f.Fuzz(func(t *testing.T, body []byte, ofJob bool) {
		r.t = t
		path := "/v1/policy"
		if ofJob {
			path = "/v1/jobs/wait/priority"
		}
		answer, text := r.ask("PUT", path, body)
		switch {
		case !json.Valid(text) || answer.StatusCode >= 500:
			t.Fatalf("%s %q: %s %s", path, body, answer.Status, text)
		case answer.StatusCode != 200 || ofJob:
			return
		}
		now := PolicyNow{}
		if err := json.Unmarshal(text, &now); err != nil {
			t.Fatal(err)
		}
		if _, err := policy.New(now.Policy, 1); err != nil {
			t.Fatalf("%q was accepted as %q: %v", body, now.Policy, err)
		}
		j := r.submit(&run.Submission{Name: "short"})
		if answer, text := r.ask("PUT", "/v1/policy", []byte(`{"policy":"fifo"}`)); answer.StatusCode != 200 {
			t.Fatalf("after %q: %s", now.Policy, text)
		}
		if j = r.wait(fmt.Sprint(j.ID)); j.State != Succeeded {
			t.Fatalf("under %q: %+v", now.Policy, j)
		}
	})
}
