package storagetest

import (
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Proxy sits in front of a server of objects. It counts requests and, if it is told to, hurts some of them.
type Proxy struct {
	// URL is its address.
	URL string
	// Host is the part of the URL behind the scheme.
	Host string

	target http.Handler
	gone   <-chan struct{} // is closed when the test ends

	mutex    sync.Mutex
	every    int // 0: no request is hurt
	random   *rand.Rand
	all      int // requests so far
	requests map[string]int
	hurts    map[string]int

	received, sent atomic.Int64 // bytes of bodies
}

// NewProxy starts a proxy for as long as the test runs. Target is what answers, and may be set later by Serve.
func NewProxy(t testing.TB, target http.Handler) *Proxy {
	p := &Proxy{target: target, requests: map[string]int{}, hurts: map[string]int{}, gone: t.Context().Done()}
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	p.URL, p.Host = server.URL, strings.TrimPrefix(server.URL, "http://")
	return p
}

// Serve sets what answers. A server may have to know the address of the proxy first.
func (p *Proxy) Serve(target http.Handler) { p.target = target }

// Hurt makes one request in a given number fail in one of several ways, which the seed chooses: it is refused with 503
// or 429 before or after the server has heard of it, its connection is cut before or after, or within the answer, the
// answer is short, slow, or never ends. No request is hurt if every is 0.
func (p *Proxy) Hurt(every int, seed uint64) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.every, p.random = every, rand.New(rand.NewPCG(seed, 0))
}

// Requests returns the number of requests since the last call, by kind: list, stat, read, write, copy, remove, other.
func (p *Proxy) Requests() map[string]int {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	counted := p.requests
	p.requests = map[string]int{}
	return counted
}

// Bytes returns how many bytes of requests and of answers there were since the last call, without headers. Requests
// that are hurt do not count.
func (p *Proxy) Bytes() (received, sent int64) { return p.received.Swap(0), p.sent.Swap(0) }

// countedBody counts the bytes of a request, and countedAnswer the bytes of its answer.
type (
	countedBody struct {
		io.ReadCloser
		count *atomic.Int64
	}
	countedAnswer struct {
		http.ResponseWriter
		count *atomic.Int64
	}
)

func (b countedBody) Read(content []byte) (int, error) {
	n, err := b.ReadCloser.Read(content)
	b.count.Add(int64(n))
	return n, err
}

func (a countedAnswer) Write(content []byte) (int, error) {
	n, err := a.ResponseWriter.Write(content)
	a.count.Add(int64(n))
	return n, err
}

// Hurts returns how often requests were hurt so far, by the way in which they were.
func (p *Proxy) Hurts() map[string]int {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return maps.Clone(p.hurts)
}

// Kind returns the kind of a request to either service: list, stat, read, write, copy, remove or other.
func Kind(r *http.Request) string {
	query := r.URL.Query()
	google := strings.HasPrefix(r.URL.Path, "/storage/v1/") || strings.HasPrefix(r.URL.Path, "/upload/")
	_, list := query["list-type"]
	switch copied := r.Header.Get("X-Amz-Copy-Source") != "" || strings.Contains(r.URL.Path, "/rewriteTo/"); {
	case copied:
		return "copy"
	case list, google && r.Method == http.MethodGet && strings.HasSuffix(r.URL.EscapedPath(), "/o"):
		return "list"
	case r.Method == http.MethodHead, google && r.Method == http.MethodGet:
		return "stat"
	case r.Method == http.MethodGet:
		return "read"
	case r.Method == http.MethodDelete && !query.Has("uploadId"):
		return "remove"
	case google && !strings.HasPrefix(r.URL.Path, "/upload/"), strings.Count(strings.Trim(r.URL.Path, "/"), "/") == 0:
		return "other" // of buckets
	}
	return "write"
}

// ways are those in which a request is hurt.
var ways = []string{"busy", "slow down", "lost", "unheard", "cut", "short", "slow", "stalled"}

// choose counts a request, and returns the way in which it is hurt, or "".
func (p *Proxy) choose(r *http.Request) (way string) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	kind := Kind(r)
	p.requests[kind]++
	p.all++
	if p.every == 0 || p.all%p.every != 0 {
		return ""
	}
	way = ways[p.random.IntN(len(ways))]
	if kind != "read" && (way == "short" || way == "stalled") {
		way = "cut"
	}
	p.hurts[way]++
	return way
}

// ServeHTTP answers a request, or hurts it.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch way := p.choose(r); way {
	case "":
		r.Body = countedBody{r.Body, &p.received}
		p.target.ServeHTTP(countedAnswer{w, &p.sent}, r)
	case "busy":
		w.WriteHeader(http.StatusServiceUnavailable)
	case "slow down":
		w.WriteHeader(http.StatusTooManyRequests)
	case "unheard":
		panic(http.ErrAbortHandler)
	case "slow":
		time.Sleep(20 * time.Millisecond)
		p.target.ServeHTTP(w, r)
	default:
		answer := httptest.NewRecorder()
		p.target.ServeHTTP(answer, r)
		p.maim(w, answer, way)
	}
}

// maim gives a part of an answer.
func (p *Proxy) maim(w http.ResponseWriter, answer *httptest.ResponseRecorder, way string) {
	if way == "lost" {
		panic(http.ErrAbortHandler)
	}
	body := answer.Body.Bytes()
	half := body[:len(body)/2]
	maps.Copy(w.Header(), answer.Header())
	if way == "short" {
		w.Header().Set("Content-Length", strconv.Itoa(len(half)))
	} else if len(body) > 0 {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	w.WriteHeader(answer.Code)
	_, _ = w.Write(half)
	_ = http.NewResponseController(w).Flush()
	switch way {
	case "cut":
		panic(http.ErrAbortHandler)
	case "stalled":
		<-p.gone
	}
}
