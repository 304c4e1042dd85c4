package serve

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// Over TCP everybody on the machine can knock, and any page that a browser shows. So only loopback addresses are
// listened on, each request has to bring the token of a file that the owner alone can read, and one that a browser
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
	name := cookieName(address)
	return func(inside http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case !isHost(r.Host, address):
				turnAway(w, problem(http.StatusMisdirectedRequest, "this server is not called %.100q", r.Host))
			case !sameOrigin(r):
				turnAway(w, problem(http.StatusForbidden, "pages of other origins may not ask this server"))
			case r.Method == http.MethodGet && r.URL.Path == "/login":
				login(w, r, name, token)
			case !brings(r, name, token):
				w.Header().Set("WWW-Authenticate", "Bearer")
				turnAway(w, problem(http.StatusUnauthorized, "expected the token of the server, from its folder: in $TAILCUT_TOKEN, as Authorization: Bearer TOKEN, or in a browser once by /login?token=TOKEN"))
			default:
				inside.ServeHTTP(w, r)
			}
		})
	}
}

// turnAway answers somebody who may not come in, and ends the connection: what else he sends is not waited for.
func turnAway(w http.ResponseWriter, p *Problem) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(time.Second / 2))
	w.Header().Set("Connection", "close")
	answerProblem(w, p)
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
		turnAway(w, problem(http.StatusUnauthorized, "this is not the token of the server"))
		return
	}
	until := time.Now().Add(sessionTime)
	http.SetCookie(w, &http.Cookie{
		Name: name, Value: newSession(token, until), Path: "/", Expires: until, HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
	w.Header().Set("Referrer-Policy", "no-referrer")
	http.Redirect(w, r, "/", http.StatusSeeOther) // the page asks with the cookie
}
