package serve

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
)

// Over TCP everybody on the machine can knock, and any page that a browser shows. So only loopback addresses are
// listened on, each request has to bring the token of a file that the owner alone can read, and one that a browser
// sends has to come from the server's own page: a name that an attacker lets point to 127.0.0.1 is no name of this
// server, and another site's form is of another origin.

// cookie carries the token of a browser, which cannot send headers with links and event streams.
const cookie = "tailcut"

// CheckListen tells whether an address is one that only this machine has.
func CheckListen(address string) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !at.Addr().IsLoopback() {
		return fmt.Errorf("expected a loopback address and a port such as 127.0.0.1:8080, not %q; "+
			"others reach the server through ssh: ssh -L 8080:127.0.0.1:8080 HOST", address)
	}
	return nil
}

// listenTCP listens on a loopback address.
func listenTCP(address string) (net.Listener, error) {
	if err := CheckListen(address); err != nil {
		return nil, err
	}
	return net.Listen("tcp", address)
}

// readToken returns the token of a file, which it makes if there is none.
func readToken(path string) (string, error) {
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		token := rand.Text() + rand.Text()
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return "", err
		}
		_, err = f.WriteString(token + "\n")
		return token, errors.Join(err, f.Close())
	case err != nil:
		return "", err
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("%s: others can read the token; make a new one: rm %s", path, path)
	}
	token := strings.TrimSpace(string(text))
	if len(token) < 20 {
		return "", fmt.Errorf("%s: expected a token of at least 20 letters; make a new one: rm %s", path, path)
	}
	return token, nil
}

// open is the door of a socket that only the owner can open.
func open(inside http.Handler) http.Handler { return inside }

// tokenDoor lets those in who bring the token.
func tokenDoor(token string, address net.Addr) func(http.Handler) http.Handler {
	return func(inside http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case !isHost(r.Host, address):
				answerProblem(w, problem(http.StatusMisdirectedRequest, "this server is not called %.100q", r.Host))
			case !sameOrigin(r):
				answerProblem(w, problem(http.StatusForbidden, "pages of other origins may not ask this server"))
			case r.Method == http.MethodGet && r.URL.Path == "/login":
				login(w, r, token)
			case !brings(r, token):
				w.Header().Set("WWW-Authenticate", "Bearer")
				answerProblem(w, problem(http.StatusUnauthorized, "expected the token of the server, from its folder: in $TAILCUT_TOKEN, as Authorization: Bearer TOKEN, or in a browser once by /login?token=TOKEN"))
			default:
				inside.ServeHTTP(w, r)
			}
		})
	}
}

// isHost tells whether a name stands for the address that is listened on.
func isHost(host string, address net.Addr) bool {
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		return false
	}
	own, ownPort, _ := net.SplitHostPort(address.String())
	return port == ownPort && (name == own || name == "localhost")
}

// sameOrigin tells whether a request is of no page at all, or of one of this server.
func sameOrigin(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		// A link from elsewhere to the page is followed, but does nothing.
		return r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Scheme == "http" && u.Host == r.Host
}

// brings tells whether a request has the token.
func brings(r *http.Request, token string) bool {
	if given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return same(given, token)
	}
	c, err := r.Cookie(cookie)
	return err == nil && same(c.Value, token)
}

// same compares in a time that says nothing of where or how the two differ.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// login gives a browser the token as a cookie, and takes it out of the address bar.
func login(w http.ResponseWriter, r *http.Request, token string) {
	if !same(r.URL.Query().Get("token"), token) {
		answerProblem(w, problem(http.StatusUnauthorized, "this is not the token of the server"))
		return
	}
	http.SetCookie(w, &http.Cookie{Name: cookie, Value: token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	w.Header().Set("Referrer-Policy", "no-referrer")
	http.Redirect(w, r, "/", http.StatusSeeOther) // the page asks with the cookie
}
