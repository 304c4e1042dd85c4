package door

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// Over TCP a request needs the token and the name of the server, and may be no other page's.
func TestDoor(t *testing.T) {
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	const token = "a token of more than twenty letters"
	guarded := Token(token, "printed at its start", l.Addr())(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "inside") }))
	host := l.Addr().String()
	_, port, _ := net.SplitHostPort(host)
	for _, c := range []struct {
		name, host string
		header     map[string]string
		status     int
	}{
		{"with the token", host, map[string]string{"Authorization": "Bearer " + token}, 200},
		{"as localhost", "localhost:" + port, map[string]string{"Authorization": "Bearer " + token}, 200},
		{"with a cookie", host, map[string]string{"Cookie": cookieName(l.Addr()) + "=" + newSession(token, time.Now().Add(time.Hour))}, 200},
		{"with an old cookie", host, map[string]string{"Cookie": cookieName(l.Addr()) + "=" + newSession(token, time.Now().Add(-time.Second))}, 401},
		{"with a cookie of an older token", host, map[string]string{"Cookie": cookieName(l.Addr()) + "=" + newSession("an older token of the server", time.Now().Add(time.Hour))}, 401},
		{"with the token for a cookie", host, map[string]string{"Cookie": cookieName(l.Addr()) + "=" + strings.ReplaceAll(token, " ", "_")}, 401},
		{"with the cookie for a token", host, map[string]string{"Authorization": "Bearer " + newSession(token, time.Now().Add(time.Hour))}, 401},
		{"without", host, nil, 401},
		{"with half of it", host, map[string]string{"Authorization": "Bearer " + token[:20]}, 401},
		{"with another scheme", host, map[string]string{"Authorization": "Basic " + token}, 401},
		{"by another name, as after DNS rebinding", "evil.example:" + port, map[string]string{"Authorization": "Bearer " + token}, 421},
		{"at another port", "127.0.0.1:1", map[string]string{"Authorization": "Bearer " + token}, 421},
		{"without a port", "127.0.0.1", map[string]string{"Authorization": "Bearer " + token}, 421},
		{"of its own page", host, map[string]string{"Authorization": "Bearer " + token, "Origin": "http://" + host, "Sec-Fetch-Site": "same-origin"}, 200},
		{"of another page", host, map[string]string{"Authorization": "Bearer " + token, "Origin": "https://evil.example"}, 403},
		{"of a page without a name", host, map[string]string{"Authorization": "Bearer " + token, "Origin": "null"}, 403},
		{"of a page at another port", host, map[string]string{"Authorization": "Bearer " + token, "Sec-Fetch-Site": "same-site", "Origin": "http://127.0.0.1:1"}, 403},
	} {
		t.Run(c.name, func(t *testing.T) {
			req := httptest.NewRequest("POST", "http://"+c.host+"/v1/jobs", nil)
			for name, value := range c.header {
				req.Header.Set(name, value)
			}
			answer := httptest.NewRecorder()
			if guarded.ServeHTTP(answer, req); answer.Code != c.status {
				t.Errorf("%d, not %d: %s", answer.Code, c.status, answer.Body)
			}
		})
	}
	for _, address := range []string{"0.0.0.0:0", "192.0.2.1:80", ":8080", "localhost:80", "127.0.0.1"} {
		if l, err := Listen(address); err == nil {
			l.Close()
			t.Errorf("%s was listened on", address)
		}
	}
}

// A browser brings the token once, in an address that nobody else sees, and has a cookie from then on.
func TestLogin(t *testing.T) {
	token := NewToken()
	address := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80}
	guarded := Token(token, "printed at its start", address)(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "inside") }))
	ask := func(path string, c *http.Cookie) *httptest.ResponseRecorder {
		req := httptest.NewRequest("GET", "http://127.0.0.1:80"+path, nil)
		req.Host = "127.0.0.1:80"
		if c != nil {
			req.AddCookie(c)
		}
		w := httptest.NewRecorder()
		guarded.ServeHTTP(w, req)
		return w
	}
	if w := ask("/login?token=wrong", nil); w.Code != 401 || len(w.Result().Cookies()) > 0 {
		t.Errorf("a wrong token: %d", w.Code)
	}
	w := ask("/login?token="+token, nil)
	if w.Code != 303 || w.Header().Get("Location") != "/" || len(w.Result().Cookies()) != 1 {
		t.Fatalf("the token: %d %v", w.Code, w.Header())
	}
	c := w.Result().Cookies()[0]
	if strings.Contains(c.Value, token) {
		t.Errorf("the cookie tells the token: %v", c)
	}
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode {
		t.Errorf("the cookie can be had by others: %v", c)
	}
	if w := ask("/", c); w.Body.String() != "inside" {
		t.Errorf("with the cookie: %d %s", w.Code, w.Body)
	}
}
