package kube

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// Metrics beyond loopback are for those whom the API server lets get them.
func TestMetricsAreGuarded(t *testing.T) {
	for address, open := range map[string]bool{
		"127.0.0.1:8080": true, "localhost:8080": true, "[::1]:8080": true, "0": true, ":8080": false, "0.0.0.0:8080": false, "10.0.0.7:8080": false,
	} {
		if o := metricsOptions(address); o.SecureServing == open || (o.FilterProvider == nil) != open {
			t.Errorf("%s: secure %v", address, o.SecureServing)
		}
	}
	asked := 0
	api := fake.NewClientset()
	api.PrependReactor("create", "tokenreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
		asked++
		review := a.(clienttesting.CreateAction).GetObject().(*authenticationv1.TokenReview)
		if review.Spec.Token == "broken" {
			return true, nil, errors.New("no API server")
		}
		review.Status = authenticationv1.TokenReviewStatus{Authenticated: review.Spec.Token != "forged", User: authenticationv1.UserInfo{Username: review.Spec.Token}}
		return true, review, nil
	})
	api.PrependReactor("create", "subjectaccessreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
		review := a.(clienttesting.CreateAction).GetObject().(*authorizationv1.SubjectAccessReview)
		at := review.Spec.NonResourceAttributes
		review.Status.Allowed = review.Spec.User == "prometheus" && at.Path == "/metrics" && at.Verb == "get"
		return true, review, nil
	})
	g := &guard{next: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }), log: logr.Discard(),
		may: func(ctx context.Context, token, path string) (int, error) { return mayGet(ctx, api, token, path) }}
	for _, c := range []struct {
		header string
		want   int
	}{
		{"", 401}, {"Basic eDp5", 401}, {"Bearer ", 401}, {"Bearer forged", 401}, {"Bearer somebody", 403}, {"Bearer broken", 500}, {"Bearer prometheus", 200}, {"Bearer prometheus", 200},
	} {
		r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
		r.Header.Set("Authorization", c.header)
		w := httptest.NewRecorder()
		if g.ServeHTTP(w, r); w.Code != c.want {
			t.Errorf("%q: %d, want %d", c.header, w.Code, c.want)
		}
	}
	if asked != 4 {
		t.Errorf("the API server was asked %d times, want 4: who may once is not asked for again", asked)
	}
}
