// Package browsertest looks at pages in a Chromium without a window.
package browsertest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// Browser is a Chromium without a window. The test talks to it over two pipes, by its DevTools protocol.
type Browser struct {
	t        *testing.T
	to       *os.File
	messages chan message
	last     int
	session  string
	// events are those that came with answers.
	events []message
}

// message is an answer, which has an id, or an event.
type message struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Params json.RawMessage `json:"params"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// patience is how long an answer may take. A machine may be busy.
const patience = time.Minute

// Open starts a browser. It skips the test if there is none.
func Open(t *testing.T) *Browser {
	t.Helper()
	path, err := findBrowser()
	if err != nil {
		t.Skipf("no browser (install chromium, or name one in REPORT_BROWSER): %v", err)
	}
	profile, err := os.MkdirTemp("", "report-browser-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { removeProfile(t, profile) })
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	command := exec.CommandContext(ctx, path, "--headless=new", "--no-sandbox", "--disable-gpu",
		"--disable-dev-shm-usage",
		"--no-first-run", "--disable-background-networking", "--remote-debugging-pipe", "--user-data-dir="+profile,
		"about:blank")
	command.WaitDelay = patience
	theirInput, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	from, theirOutput, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	command.ExtraFiles = []*os.File{theirInput, theirOutput} // descriptors 3 and 4
	if err := command.Start(); err != nil {
		t.Skipf("the browser does not start: %v", err)
	}
	theirInput.Close()
	theirOutput.Close()
	b := &Browser{t: t, to: to, messages: make(chan message)}
	go b.read(bufio.NewReader(from))
	t.Cleanup(func() {
		to.Close() // a browser whose pipe is closed ends
		_ = command.Wait()
		for range b.messages { // until read has seen the end
		}
		from.Close()
	})
	var target struct {
		ID      string `json:"targetId"`
		Session string `json:"sessionId"`
	}
	b.Call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	b.Call("Target.attachToTarget", map[string]any{"targetId": target.ID, "flatten": true}, &target)
	b.session = target.Session
	for _, domain := range []string{"Page", "Network", "Runtime", "Log"} {
		b.Call(domain+".enable", nil, nil)
	}
	return b
}

// removeProfile removes the folder of a browser. Its helpers may write to it for a moment after it has ended.
func removeProfile(t *testing.T, folder string) {
	err := os.RemoveAll(folder)
	for range 100 {
		if err == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
		err = os.RemoveAll(folder)
	}
	t.Errorf("remove the folder of the browser: %v", err)
}

// findBrowser returns the path of a browser: the one that REPORT_BROWSER names, or one of the usual names.
func findBrowser() (string, error) {
	names := []string{"chromium", "chromium-browser", "google-chrome"}
	if chosen := os.Getenv("REPORT_BROWSER"); chosen != "" {
		names = []string{chosen}
	}
	var all error
	for _, name := range names {
		path, err := exec.LookPath(name)
		if err == nil {
			return path, nil
		}
		all = errors.Join(all, err)
	}
	return "", all
}

// read hands on what the browser says, until it ends.
func (b *Browser) read(from *bufio.Reader) {
	defer close(b.messages)
	for {
		content, err := from.ReadBytes(0)
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(bytes.TrimSuffix(content, []byte{0}), &m) == nil {
			b.messages <- m
		}
	}
}

// next returns what the browser says next.
func (b *Browser) next() message {
	b.t.Helper()
	select {
	case m, open := <-b.messages:
		if !open {
			b.t.Fatal("the browser has ended")
		}
		return m
	case <-time.After(patience):
		b.t.Fatal("the browser does not answer")
	}
	panic("unreachable")
}

// Call asks the browser for something, and notes the events that come before the answer.
func (b *Browser) Call(method string, params any, result any) {
	b.t.Helper()
	b.last++
	request := map[string]any{"id": b.last, "method": method}
	if params != nil {
		request["params"] = params
	}
	if b.session != "" {
		request["sessionId"] = b.session
	}
	encoded, err := json.Marshal(request)
	if err == nil {
		_, err = b.to.Write(append(encoded, 0))
	}
	if err != nil {
		b.t.Fatal(err)
	}
	for {
		m := b.next()
		switch {
		case m.ID != b.last:
			b.events = append(b.events, m)
			continue
		case m.Error != nil:
			b.t.Fatalf("%s: %s", method, m.Error.Message)
		case result != nil:
			if err := json.Unmarshal(m.Result, result); err != nil {
				b.t.Fatalf("%s: %v", method, err)
			}
		}
		return
	}
}

// Open opens a page and waits until it is loaded.
func (b *Browser) Open(address string) {
	b.t.Helper()
	b.events = nil
	b.Call("Page.navigate", map[string]any{"url": address}, nil)
	for _, event := range b.events {
		if event.Method == "Page.loadEventFired" {
			return
		}
	}
	for {
		m := b.next()
		b.events = append(b.events, m)
		if m.Method == "Page.loadEventFired" {
			return
		}
	}
}

// Eval runs a script in the page and decodes its value.
func (b *Browser) Eval(script string, value any) {
	b.t.Helper()
	var answer struct {
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		Exception *struct {
			Text      string `json:"text"`
			Exception struct {
				Description string `json:"description"`
			} `json:"exception"`
		} `json:"exceptionDetails"`
	}
	b.Call("Runtime.evaluate", map[string]any{
		"expression":    "(() => {" + script + "})()",
		"returnByValue": true,
		"awaitPromise":  true,
	}, &answer)
	if answer.Exception != nil {
		b.t.Fatalf("%s: %s %s", script, answer.Exception.Text, answer.Exception.Exception.Description)
	}
	if value != nil {
		if err := json.Unmarshal(answer.Result.Value, value); err != nil {
			b.t.Fatalf("%s: %v", script, err)
		}
	}
}

// Faults returns the requests of a page beyond its own address and what is below that, and what it says on the console.
func (b *Browser) Faults(address string) (all []string) {
	for _, event := range b.events {
		switch event.Method {
		case "Network.requestWillBeSent":
			var params struct {
				Request struct {
					URL string `json:"url"`
				} `json:"request"`
			}
			if json.Unmarshal(event.Params, &params) != nil ||
				!strings.HasPrefix(params.Request.URL, address) && params.Request.URL != "data:," {
				all = append(all, "a request to "+params.Request.URL)
			}
		case "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded", "Page.javascriptDialogOpening":
			all = append(all, fmt.Sprintf("%s: %.300s", event.Method, event.Params))
		}
	}
	return all
}

// Scheme makes the page light or dark, and so wide.
func (b *Browser) Scheme(colours string, width int) {
	b.t.Helper()
	b.Call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{
		"name":  "prefers-color-scheme",
		"value": colours,
	}}}, nil)
	b.Call("Emulation.setDeviceMetricsOverride", map[string]any{
		"width":             width,
		"height":            900,
		"deviceScaleFactor": 1,
		"mobile":            width < 600,
	}, nil)
}

// LowContrast is a script that returns the texts whose contrast to the ground is below 4.5, the least of WCAG AA.
const LowContrast = `
	const parse = (colour) => { const p = colour.match(/[\d.]+/g).map(Number); return p.length < 4 ? [...p, 1] : p; };
	const linear = (c) => (c /= 255) <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4;
	const light = ([r, g, b]) => .2126 * linear(r) + .7152 * linear(g) + .0722 * linear(b);
	const ground = (e) => {
		for (; e; e = e.parentElement) {
			const c = parse(getComputedStyle(e).backgroundColor);
			if (c[3] > .99) return c;
		}
		return [255, 255, 255, 1];
	};
	const found = new Set();
	const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let node; (node = walker.nextNode());) {
		const e = node.parentElement;
		if (!node.data.trim() || ["SCRIPT", "STYLE"].includes(e.tagName) || !e.getClientRects().length) continue;
		const [a, b] = [light(parse(getComputedStyle(e).color)), light(ground(e))];
		const contrast = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
		const where = e.tagName + "." + e.className + " " + node.data.trim().slice(0, 30);
		if (contrast < 4.5) found.add(contrast.toFixed(2) + " " + where);
	}
	return [...found];`
