package why

import (
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/tailcut/tailcut/internal/door"
	"github.com/tailcut/tailcut/internal/page"
)

// Page returns a page of all pools. It has the rights of whoever has connected, so it is for nobody else.
func (c *Cluster) Page() http.Handler {
	return pageOf(&board{api: c.api, context: c.context, now: time.Now})
}

func pageOf(b *board) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/pools", func(w http.ResponseWriter, r *http.Request) {
		all, err := b.look(r.Context())
		if err != nil {
			refuse(w, err)
			return
		}
		door.Answer(w, http.StatusOK, "application/json", all)
	})
	mux.HandleFunc("/v1/", func(w http.ResponseWriter, r *http.Request) {
		door.Refuse(w, http.StatusNotFound, "there is no %s %s; there is GET /v1/pools", r.Method, r.URL.Path)
	})
	mux.Handle("/", page.Pools())
	return mux
}

// refuse says what the API server does not give.
func refuse(w http.ResponseWriter, err error) {
	switch {
	case apierrors.IsForbidden(err):
		door.Refuse(w, http.StatusForbidden, "You have no right to list slotpools.tailcut.dev in the whole cluster, which this page needs. The API server says: %v", err)
	case meta.IsNoMatchError(err), apierrors.IsNotFound(err):
		door.Refuse(w, http.StatusServiceUnavailable, "The cluster has no pools: the resource slotpools.tailcut.dev is not installed.")
	default:
		door.Refuse(w, http.StatusBadGateway, "The API server does not list the pools: %v", err)
	}
}
