package why

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/tailcut/tailcut/cloud/internal/kube"
)

var rewrite = flag.Bool("rewrite", false, "write what the page is answered into internal/page/testdata instead of comparing it")

// answered is what the page is answered, with which the tests of internal/page look at it in a browser.
const answered = "../../../internal/page/testdata/pools.json"

// cluster has some pools.
type cluster struct {
	client.Client
	mu     sync.Mutex
	lists  int
	refuse error
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	text, err := os.Open("testdata/pools.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer text.Close()
	var objects []client.Object
	for read := yaml.NewYAMLOrJSONDecoder(text, 1<<10); ; {
		u := &unstructured.Unstructured{}
		if err := read.Decode(u); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		objects = append(objects, u)
	}
	scheme, err := kube.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{}
	inner := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
	c.Client = interceptor.NewClient(inner, interceptor.Funcs{List: func(ctx context.Context, api client.WithWatch, into client.ObjectList, how ...client.ListOption) error {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.lists++
		o := client.ListOptions{}
		o.ApplyOptions(how)
		if o.Raw == nil || o.Raw.ResourceVersion != "0" {
			t.Errorf("it lists with %+v", o)
		}
		if c.refuse != nil {
			return c.refuse
		}
		return api.List(ctx, into, how...)
	}})
	return c
}

func ask(b *board, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	pageOf(b).ServeHTTP(w, httptest.NewRequest("GET", path, nil))
	return w
}

// Everything that pools say is answered in one form, which the page's own tests read.
func TestBoard(t *testing.T) {
	w := ask(&board{api: newCluster(t), context: "kind-trial", now: func() time.Time { return now }}, "/v1/pools")
	if w.Code != 200 || w.Header().Get("Content-Type") != "application/json" || w.Header().Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	var got bytes.Buffer
	if err := json.Indent(&got, w.Body.Bytes(), "", " "); err != nil {
		t.Fatal(err)
	}
	if *rewrite {
		if err := os.WriteFile(answered, got.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(answered)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Error(diff)
	}
}

// However many look, the API server is asked once a second, and answered for all.
func TestBoardIsAskedOnceASecond(t *testing.T) {
	c, at := newCluster(t), now
	b := &board{api: c, now: func() time.Time { return at }}
	for _, x := range []struct {
		after time.Duration
		lists int
	}{{0, 1}, {0, 1}, {900 * time.Millisecond, 1}, {200 * time.Millisecond, 2}, {time.Second, 3}} {
		at = at.Add(x.after)
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() { ask(b, "/v1/pools") })
		}
		if all.Wait(); c.lists != x.lists {
			t.Errorf("after %v: %d lists, not %d", x.after, c.lists, x.lists)
		}
	}
	c.refuse, at = errors.New("it is gone"), at.Add(time.Second)
	ask(b, "/v1/pools")
	if w := ask(b, "/v1/pools"); w.Code != 502 || c.lists != 4 {
		t.Errorf("an answer that failed: %d, %d lists", w.Code, c.lists)
	}
}

// What the API server does not give is said, with the right that is missing.
func TestPageSaysWhatIsMissing(t *testing.T) {
	what := schema.GroupResource{Group: "tailcut.dev", Resource: "slotpools"}
	for _, c := range []struct {
		name   string
		err    error
		status int
		says   string
	}{
		{"no right", apierrors.NewForbidden(what, "", errors.New(`User "ann" cannot list resource "slotpools" at the cluster scope`)), 403, `no right to list slotpools.tailcut.dev in the whole cluster, which this page needs. The API server says: slotpools.tailcut.dev is forbidden: User \"ann\" cannot list`},
		{"never installed", &meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: "tailcut.dev", Kind: "SlotPool"}}, 503, "slotpools.tailcut.dev is not installed"},
		{"uninstalled", apierrors.NewNotFound(what, ""), 503, "slotpools.tailcut.dev is not installed"},
		{"unknown user", apierrors.NewUnauthorized("Unauthorized"), 502, "does not list the pools: Unauthorized"},
		{"gone", errors.New("connection refused"), 502, "connection refused"},
	} {
		t.Run(c.name, func(t *testing.T) {
			from := newCluster(t)
			from.refuse = c.err
			w := ask(&board{api: from, now: time.Now}, "/v1/pools")
			if w.Code != c.status || !strings.Contains(w.Body.String(), c.says) || w.Header().Get("Content-Type") != "application/problem+json" {
				t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
			}
		})
	}
}

func TestPageServesFilesAndNothingElse(t *testing.T) {
	b := &board{api: newCluster(t), now: time.Now}
	for path, want := range map[string]int{"/": 200, "/assets/pools.js": 200, "/assets/live.js": 404, "/v1/jobs": 404, "/api/v1/secrets": 404} {
		if w := ask(b, path); w.Code != want {
			t.Errorf("%s: %d, not %d", path, w.Code, want)
		}
	}
}
