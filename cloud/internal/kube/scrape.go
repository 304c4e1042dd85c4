package kube

import (
	"context"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// Metrics name Jobs of nobody, but tell how busy a cluster is. At an address that other machines reach they are served
// over HTTPS, to whoever the API server knows by a bearer token and lets get /metrics. controller-runtime's own filter
// does the same; it needs the libraries of the API server (docs/decisions/0021).

// metricsOptions says how metrics are served at an address: as they are on loopback, else with TLS and authorisation.
func metricsOptions(address string) server.Options {
	o := server.Options{BindAddress: address}
	if address != "0" && !onLoopback(address) {
		o.SecureServing, o.FilterProvider = true, authorised
	}
	return o
}

// onLoopback tells whether only this machine, or in a pod only this pod, reaches an address.
func onLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// authorised is the filter in front of the metrics.
func authorised(config *rest.Config, client *http.Client) (server.Filter, error) {
	api, err := kubernetes.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, err
	}
	return func(log logr.Logger, next http.Handler) (http.Handler, error) {
		return &guard{next: next, log: log, may: func(ctx context.Context, token, path string) (int, error) { return mayGet(ctx, api, token, path) }}, nil
	}, nil
}

// guard lets requests through that the API server would let through.
type guard struct {
	next http.Handler
	log  logr.Logger
	may  func(ctx context.Context, token, path string) (status int, err error)

	mu    sync.Mutex
	known map[[2]string]time.Time // tokens and paths that may, and until when nobody is asked again
}

// Of those that may, the guard knows this many for this long.
const (
	knownTokens = 100
	knownFor    = time.Minute
)

func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	token, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !found || token == "" {
		http.Error(w, "a bearer token is wanted", http.StatusUnauthorized)
		return
	}
	key, now := [2]string{token, r.URL.Path}, time.Now()
	g.mu.Lock()
	fresh := now.Before(g.known[key])
	g.mu.Unlock()
	if !fresh {
		status, err := g.may(r.Context(), token, r.URL.Path)
		if err != nil {
			g.log.Error(err, "who asks for metrics is not known")
		}
		if status != http.StatusOK {
			http.Error(w, http.StatusText(status), status)
			return
		}
		g.mu.Lock()
		if len(g.known) >= knownTokens || g.known == nil {
			g.known = map[[2]string]time.Time{}
		}
		g.known[key] = now.Add(knownFor)
		g.mu.Unlock()
	}
	g.next.ServeHTTP(w, r)
}

// mayGet asks the API server whose token it is, and whether he may get the path.
func mayGet(ctx context.Context, api kubernetes.Interface, token, path string) (status int, err error) {
	who, err := api.AuthenticationV1().TokenReviews().Create(ctx,
		&authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}, metav1.CreateOptions{})
	if err != nil {
		return http.StatusInternalServerError, err
	}
	if !who.Status.Authenticated {
		return http.StatusUnauthorized, nil
	}
	user, extra := who.Status.User, map[string]authorizationv1.ExtraValue{}
	for k, v := range user.Extra {
		extra[k] = authorizationv1.ExtraValue(v)
	}
	review, err := api.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{
			User: user.Username, UID: user.UID, Groups: user.Groups, Extra: extra,
			NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: path, Verb: "get"},
		},
	}, metav1.CreateOptions{})
	switch {
	case err != nil:
		return http.StatusInternalServerError, err
	case !review.Status.Allowed:
		return http.StatusForbidden, nil
	}
	return http.StatusOK, nil
}
