// Package door lets programs and browsers of this machine's user in to an HTTP server, and nobody else: who brings the
// token (door.go), how many at once and for how long (visitors.go, serve.go), and the form of answers (answer.go). It
// knows nothing of what is inside.
package door

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Over TCP everybody on the machine can knock, and any page that a browser shows. So only loopback addresses are
// listened on, each request has to bring a token that only the owner can read, and one that a browser
// sends has to come from the server's own page: a name that an attacker lets point to 127.0.0.1 is no name of this
// server, and another site's form is of another origin.

// A browser cannot send headers with links and event streams. It has a cookie instead, which is made of the token and
// does not tell it: who gets hold of one has it until it expires, or until the server has another token, and no longer.

// sessionTime is how long a browser need not log in again.
const sessionTime = 7 * 24 * time.Hour

// cookieName is that of the cookie. Cookies are shared by all ports of an address; their names are not.
func cookieName(address net.Addr) string {
	_, port, _ := net.SplitHostPort(address.String())
	return "tailcut-" + port
}

// newSession is the value of a cookie that is good until an instant.
func newSession(token string, until time.Time) string {
	at := strconv.FormatInt(until.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte("tailcut session until " + at))
	return at + "." + hex.EncodeToString(mac.Sum(nil))
}

// inSession tells whether the value of a cookie is good now.
func inSession(value, token string, now time.Time) bool {
	at, _, _ := strings.Cut(value, ".")
	seconds, err := strconv.ParseInt(at, 10, 64)
	return err == nil && now.Unix() < seconds && same(value, newSession(token, time.Unix(seconds, 0)))
}

// CheckListen tells whether an address is one that only this machine has.
func CheckListen(address string) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !at.Addr().IsLoopback() {
		return fmt.Errorf("expected a loopback address and a port such as 127.0.0.1:8080, not %q; "+
			"others reach the server through ssh: ssh -L 8080:127.0.0.1:8080 HOST", address)
	}
	return nil
}

// Listen listens on a loopback address.
func Listen(address string) (net.Listener, error) {
	if err := CheckListen(address); err != nil {
		return nil, err
	}
	return net.Listen("tcp", address)
}

// NewToken returns a token that nobody guesses.
func NewToken() string { return rand.Text() + rand.Text() }

// Token is the door of a server at an address, which lets those in who bring the token. found says where they find it.
func Token(token, found string, address net.Addr) func(http.Handler) http.Handler {
	name := cookieName(address)
	return func(inside http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case !isHost(r.Host, address):
				turnAway(w, http.StatusMisdirectedRequest, "this server is not called %.100q", r.Host)
			case !sameOrigin(r):
				turnAway(w, http.StatusForbidden, "pages of other origins may not ask this server")
			case r.Method == http.MethodGet && r.URL.Path == "/login":
				login(w, r, name, token)
			case !brings(r, name, token):
				w.Header().Set("WWW-Authenticate", "Bearer")
				turnAway(w, http.StatusUnauthorized, "expected the token of the server, %s, as Authorization: Bearer TOKEN, or in a browser once by /login?token=TOKEN", found)
			default:
				inside.ServeHTTP(w, r)
			}
		})
	}
}

// turnAway answers somebody who may not come in, and ends the connection: what else he sends is not waited for.
func turnAway(w http.ResponseWriter, status int, format string, args ...any) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(time.Second / 2))
	w.Header().Set("Connection", "close")
	Refuse(w, status, format, args...)
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

// brings tells whether a request has the token, or the cookie of a session.
func brings(r *http.Request, name, token string) bool {
	if given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return same(given, token)
	}
	c, err := r.Cookie(name)
	return err == nil && inSession(c.Value, token, time.Now())
}

// same compares in a time that says nothing of where or how the two differ.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// login gives a browser a session for the token, and takes the token out of the address bar.
func login(w http.ResponseWriter, r *http.Request, name, token string) {
	if !same(r.URL.Query().Get("token"), token) {
		turnAway(w, http.StatusUnauthorized, "this is not the token of the server")
		return
	}
	until := time.Now().Add(sessionTime)
	http.SetCookie(w, &http.Cookie{
		Name: name, Value: newSession(token, until), Path: "/", Expires: until, HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
	w.Header().Set("Referrer-Policy", "no-referrer")
	http.Redirect(w, r, "/", http.StatusSeeOther) // the page asks with the cookie
}
