package page

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"path"
)

// served are the files of a page, by their paths.
func served(index string, assets ...string) map[string]string {
	all := map[string]string{"/": index}
	for _, name := range append(assets, "style.css") {
		all["/assets/"+name] = name
	}
	return all
}

// kinds are the media types of files.
var kinds = map[string]string{".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}

// pagePolicy lets the page load its own files and ask its own server, and nothing else; no other page may frame it.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Handler serves the page of a server, which asks that server's /v1 for all that it shows.
func Handler() http.Handler {
	return handler(served("index.html", "make.js", "store.js", "timeline.js", "hands.js", "tables.js", "plot.js", "client.js", "parts.js", "sections.js", "live.js"))
}

// Pools serves the page of the pools of a cluster, which asks /v1/pools of its own server for all that it shows.
func Pools() http.Handler {
	return handler(served("pools.html", "make.js", "tables.js", "client.js", "parts.js", "pools.js"))
}

// handler serves the files of a page, and nothing else.
func handler(files map[string]string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, ok := files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "expected GET", http.StatusMethodNotAllowed)
			return
		}
		text := asset(name)
		tag := fmt.Sprintf("%q", fmt.Sprintf("%x", sha256.Sum256([]byte(text)))[:16])
		h := w.Header()
		h.Set("Content-Type", kinds[path.Ext(name)])
		h.Set("Content-Security-Policy", pagePolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-cache") // another version of the program has other files
		h.Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = io.WriteString(w, text)
	})
}
