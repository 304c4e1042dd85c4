package page

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// A browser without a window, driven through two pipes by the Chrome DevTools Protocol: a JSON message, a zero byte.
type browser struct {
	t    *testing.T
	in   *os.File
	mu   sync.Mutex
	next int
	// answers by the number of the question, until somebody takes them
	answers map[int]chan json.RawMessage
	tabs    map[string]*tab
}

type reply struct {
	ID        int             `json:"id"`
	SessionID string          `json:"sessionId"`
	Method    string          `json:"method"`
	Params    json.RawMessage `json:"params"`
	Result    json.RawMessage `json:"result"`
	Error     *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// openBrowser starts Chromium, or skips the test where there is none.
func openBrowser(t *testing.T) *browser {
	t.Helper()
	if testing.Short() {
		t.Skip("no browser in short tests")
	}
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("no Chromium is installed, so nobody looks at the page: apt-get install chromium")
	}
	toBrowser, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, fromBrowser, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run", "--hide-scrollbars",
		"--disable-background-networking", "--disable-component-update", "--user-data-dir="+t.TempDir())
	cmd.ExtraFiles = []*os.File{toBrowser, fromBrowser} // descriptors 3 and 4
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	toBrowser.Close()
	fromBrowser.Close()
	b := &browser{t: t, in: in, answers: map[int]chan json.RawMessage{}, tabs: map[string]*tab{}}
	read := make(chan struct{})
	go func() { defer close(read); b.read(out) }()
	t.Cleanup(func() {
		b.send("", "Browser.close", nil)
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			_ = cmd.Process.Kill()
			<-done
		}
		in.Close()
		<-read
		out.Close()
	})
	return b
}

func (b *browser) read(out *os.File) {
	r := bufio.NewReaderSize(out, 1<<20)
	for {
		text, err := r.ReadBytes(0)
		if err != nil {
			return
		}
		var m reply
		if json.Unmarshal(bytes.TrimSuffix(text, []byte{0}), &m) != nil {
			continue
		}
		b.mu.Lock()
		answer, asked := b.answers[m.ID]
		tab := b.tabs[m.SessionID]
		delete(b.answers, m.ID)
		b.mu.Unlock()
		switch {
		case m.ID > 0 && asked:
			if m.Error != nil {
				b.t.Errorf("the browser refuses: %s", m.Error.Message)
			}
			answer <- m.Result
		case tab != nil:
			tab.hear(&m)
		}
	}
}

func (b *browser) send(session, method string, params any) chan json.RawMessage {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.next++
	answer := make(chan json.RawMessage, 1)
	b.answers[b.next] = answer
	message := map[string]any{"id": b.next, "method": method}
	if params != nil {
		message["params"] = params
	}
	if session != "" {
		message["sessionId"] = session
	}
	text, err := json.Marshal(message)
	if err != nil {
		b.t.Fatal(err)
	}
	_, _ = b.in.Write(append(text, 0))
	return answer
}

func (b *browser) call(session, method string, params, into any) {
	b.t.Helper()
	select {
	case text := <-b.send(session, method, params):
		if into != nil {
			if err := json.Unmarshal(text, into); err != nil {
				b.t.Fatalf("%s: %v: %s", method, err, text)
			}
		}
	case <-time.After(60 * time.Second):
		b.t.Fatalf("%s: no answer", method)
	}
}

// tab is a page in the browser.
type tab struct {
	b       *browser
	session string
	mu      sync.Mutex
	wrong   []string // what the page has complained of
	asked   []string // addresses that it has asked for
}

// hear keeps what a test wants to know in the end. That a server answers with an error is no mistake of the page.
func (p *tab) hear(m *reply) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var e struct {
		Type    string `json:"type"`
		Request struct {
			URL string `json:"url"`
		} `json:"request"`
		Entry struct {
			Level, Source string
		} `json:"entry"`
		ExceptionDetails json.RawMessage `json:"exceptionDetails"`
	}
	_ = json.Unmarshal(m.Params, &e)
	switch {
	case m.Method == "Network.requestWillBeSent":
		p.asked = append(p.asked, e.Request.URL)
	case m.Method == "Runtime.exceptionThrown":
		p.wrong = append(p.wrong, string(e.ExceptionDetails))
	case m.Method == "Log.entryAdded" && e.Entry.Level == "error" && e.Entry.Source != "network", m.Method == "Runtime.consoleAPICalled" && e.Type == "error":
		p.wrong = append(p.wrong, string(m.Params))
	}
}

// open opens a page in a window of some size.
func (b *browser) open(url string, wide, high int, dark bool) *tab {
	b.t.Helper()
	var target struct{ TargetID, SessionID string }
	b.call("", "Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	b.call("", "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &target)
	p := &tab{b: b, session: target.SessionID}
	b.mu.Lock()
	b.tabs[p.session] = p
	b.mu.Unlock()
	for _, domain := range []string{"Page", "Runtime", "Network", "Log"} {
		p.call(domain+".enable", nil, nil)
	}
	p.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": wide, "height": high, "deviceScaleFactor": 1, "mobile": wide < 600}, nil)
	if dark {
		p.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": "dark"}}}, nil)
	}
	p.call("Page.navigate", map[string]any{"url": url}, nil)
	return p
}

func (p *tab) call(method string, params, into any) {
	p.b.t.Helper()
	p.b.call(p.session, method, params, into)
}

// value returns what an expression of JavaScript comes to, as JSON has it.
func (p *tab) value(expression string) any {
	p.b.t.Helper()
	var answer struct {
		Result           struct{ Value any }
		ExceptionDetails *struct {
			Exception struct{ Description string }
		}
	}
	p.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &answer)
	if answer.ExceptionDetails != nil {
		p.b.t.Fatalf("%s: %s", expression, answer.ExceptionDetails.Exception.Description)
	}
	return answer.Result.Value
}

// until waits for an expression to be true.
func (p *tab) until(expression string) {
	p.b.t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if p.value("(() => { try { return Boolean("+expression+") } catch { return false } })()") == true {
			return
		}
	}
	p.shoot("failed")
	p.b.t.Fatalf("it never came to be: %s\nthe page complains of %q\nit shows %.1500v", expression, p.complaints(), p.value("document.body.innerText"))
}

// press presses a key.
func (p *tab) press(key string) {
	p.b.t.Helper()
	params := map[string]any{"type": "keyDown", "key": key}
	if len(key) == 1 {
		params["text"] = key
	}
	switch key {
	case "Tab":
		params["windowsVirtualKeyCode"], params["code"] = 9, key
	case "Enter":
		params["windowsVirtualKeyCode"], params["code"], params["text"] = 13, key, "\r"
	}
	p.call("Input.dispatchKeyEvent", params, nil)
	params["type"] = "keyUp"
	delete(params, "text")
	p.call("Input.dispatchKeyEvent", params, nil)
}

func (p *tab) complaints() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string{}, p.wrong...)
}

// shoot writes a picture into the folder that TAILCUT_SCREENSHOTS names, if it does, for somebody to look at.
func (p *tab) shoot(name string) {
	p.b.t.Helper()
	dir := os.Getenv("TAILCUT_SCREENSHOTS")
	if dir == "" {
		return
	}
	var shot struct{ Data string }
	p.call("Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": false}, &shot)
	data, err := base64.StdEncoding.DecodeString(shot.Data)
	if err != nil {
		p.b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, strings.ReplaceAll(p.b.t.Name(), "/", "-")+"-"+name+".png"), data, 0o666); err != nil {
		p.b.t.Fatal(err)
	}
}

// only fails the test if the page has asked for an address that does not begin with one of these, or complained.
func (p *tab) only(prefixes ...string) {
	p.b.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, url := range p.asked {
		known := false
		for _, prefix := range append(prefixes, "data:", "blob:") {
			known = known || strings.HasPrefix(url, prefix)
		}
		if !known {
			p.b.t.Errorf("the page asks for %.200s", url)
		}
	}
	for _, s := range p.wrong {
		p.b.t.Errorf("the page complains: %.500s", s)
	}
}

func (p *tab) text(selector string) string {
	p.b.t.Helper()
	return fmt.Sprint(p.value(fmt.Sprintf("document.querySelector(%q)?.innerText", selector)))
}
