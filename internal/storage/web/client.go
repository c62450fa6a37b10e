package web

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/storage/bucket"
)

// client makes requests to servers of the web. It follows redirects itself: a token goes to the host that was named and
// to no other one, and a server out in the public leads to no address that only this network reaches.
type client struct {
	meter bucket.Meter
	// near reaches any address, far only those that anybody reaches.
	near, far *http.Transport
	tokens    tokens
}

// newClient returns a client that trusts the certificates of roots; nil: those that the system trusts.
func newClient(roots *x509.CertPool) *client {
	const connections, longestDial = 100, 30 * time.Second // connections of one host that are kept
	transport := func(control func(network, address string, c syscall.RawConn) error) *http.Transport {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.MaxIdleConnsPerHost = connections
		t.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
		t.DialContext = (&net.Dialer{Timeout: longestDial, Control: control}).DialContext
		return t
	}
	return &client{near: transport(nil), far: transport(publicOnly)}
}

// shared are networks that only some machines reach, in addition to those that package netip knows: among them the host
// of a machine at Azure, and addresses of IPv6 that have one of IPv4 within.
var shared = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("168.63.129.16/32"), netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("64:ff9b::/96"),
	netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("2001::/32"), netip.MustParsePrefix("2002::/16"),
	netip.MustParsePrefix("fec0::/10"),
}

// isPublic reports whether anybody reaches an address, which has a port.
func isPublic(address string) bool {
	found, err := netip.ParseAddrPort(address)
	ip := found.Addr().Unmap()
	return err == nil && ip.IsGlobalUnicast() && !ip.IsPrivate() &&
		!slices.ContainsFunc(shared, func(p netip.Prefix) bool { return p.Contains(ip) })
}

var errPrivate = errors.New(
	"a public server leads to an address that only this network reaches: name that address if you trust it")

// publicOnly lets no connection be made to an address that only this network reaches.
func publicOnly(_, address string, _ syscall.RawConn) error {
	if !isPublic(address) {
		return errPrivate
	}
	return nil
}

// answer is the answer of the last server of a chain of redirects.
type answer struct {
	*http.Response
	// own is the header of the last answer of the named host, or of the one that tells the etag of its target.
	own http.Header
}

// linkedEtag is the field in which the hub says the etag of a file that is elsewhere.
const linkedEtag = "X-Linked-Etag"

// get asks for a stretch of what is at an address, or for all of it if the length is 0. Its answer has a status below
// 300. An error that is an answer is a refusal.
func (c *client) get(ctx context.Context, address string, offset, length int64) (answer, error) {
	first, err := url.Parse(address)
	if err != nil {
		return answer{}, errors.New("the address is malformed: write %25 for a literal percent sign")
	}
	var own http.Header
	next, isLed := first, false
	const mostRedirects = 10
	for range mostRedirects {
		request := &http.Request{
			Method: http.MethodGet,
			URL:    next,
			Host:   next.Host,
			Header: http.Header{"Accept-Encoding": {"identity"}},
		}
		if length > 0 {
			request.Header.Set("Range", bucket.Range(offset, length))
		}
		if next.Host == first.Host {
			if err := c.tokens.authorize(request); err != nil {
				return answer{}, err
			}
		}
		got, isFar, err := c.send(ctx, request, isLed)
		if err != nil {
			return answer{}, unanswered{err}
		}
		if next.Host == first.Host && own.Get(linkedEtag) == "" {
			own = got.Header
		}
		isLed = isLed || isFar
		place := got.Header.Get("Location")
		switch {
		case got.StatusCode < http.StatusMultipleChoices:
			return answer{got, own}, nil
		case got.StatusCode >= http.StatusBadRequest || place == "":
			drop(got)
			return answer{}, refuse(got)
		}
		drop(got)
		if next, err = follow(next, place); err != nil {
			return answer{}, err
		}
	}
	return answer{}, fmt.Errorf("%d servers lead from one to the next: name the address that has the file",
		mostRedirects)
}

// send sends a request, and reports whether the server is one that anybody reaches. If a public server has led there,
// only such a server is asked. A proxy of the user's decides for itself.
func (c *client) send(ctx context.Context, request *http.Request,
	isLed bool,
) (got *http.Response, isFar bool, err error) {
	proxy, err := http.ProxyFromEnvironment(request)
	if err != nil {
		return nil, false, err
	}
	transport := c.near
	if proxy == nil {
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(g httptrace.GotConnInfo) {
			isFar = isPublic(g.Conn.RemoteAddr().String())
		}})
		if isLed {
			transport = c.far
		}
	}
	c.meter.Count(storage.Fetching)
	got, err = transport.RoundTrip(request.WithContext(ctx))
	return got, isFar, err
}

// drop ends an answer whose content nobody wants. A short one is read, so that its connection serves the next request.
func drop(got *http.Response) {
	const short = 4 << 10
	_, _ = io.CopyN(io.Discard, got.Body, short)
	got.Body.Close()
}

func follow(from *url.URL, place string) (*url.URL, error) {
	next, err := from.Parse(place)
	switch {
	case err != nil:
		return nil, errors.New("the server leads to an address that is malformed: name the address that has the file")
	case next.Scheme != from.Scheme && next.Scheme != "https":
		return nil, fmt.Errorf(
			"the server leads to an address of %s://, which nobody protects on the way: name another one", next.Scheme)
	case next.Host == from.Host && next.Path == from.Path+"/":
		return nil, &refusal{status: http.StatusNotFound, text: "the address is a folder"}
	}
	next.User = nil
	return next, nil
}

type unanswered struct{ error }

func (u unanswered) Unwrap() error { return u.error }

// refusal is the answer of a server that refuses a request.
type refusal struct {
	status int
	text   string
	after  time.Duration // how long the server wants to be left alone
}

func (r *refusal) Error() string { return r.text }

// refuse returns the error that an answer is. The hub says in its header what is wrong.
func refuse(got *http.Response) error {
	r := &refusal{
		status: got.StatusCode,
		text: cmp.Or(got.Header.Get("X-Error-Message"),
			fmt.Sprintf("%d %s", got.StatusCode, http.StatusText(got.StatusCode))),
	}
	wait := got.Header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(wait, 10, 31); err == nil {
		r.after = time.Duration(seconds) * time.Second
	} else if until, err := http.ParseTime(wait); err == nil {
		r.after = max(time.Until(until), 0)
	}
	return r
}

func (c *client) Meter() *bucket.Meter { return &c.meter }

func (c *client) Judge(err error) (meaning bucket.Meaning) {
	if answer, is := errors.AsType[*refusal](err); is {
		meaning.Status, meaning.Text, meaning.After = answer.status, answer.text, answer.after
		meaning.Again = answer.status == http.StatusTooManyRequests || answer.status == http.StatusRequestTimeout ||
			answer.status >= 500 && answer.status != http.StatusNotImplemented
	} else if errors.As(err, new(unanswered)) {
		unknown, isName := errors.AsType[*net.DNSError](err)
		_, isUntrusted := errors.AsType[*tls.CertificateVerificationError](err)
		meaning.Again = !errors.Is(err, errPrivate) && !isUntrusted && !(isName && unknown.IsNotFound) &&
			!errors.As(err, new(tls.AlertError)) && !errors.As(err, new(tls.RecordHeaderError))
		if isUntrusted {
			meaning.Advice = "put the certificate of who has signed it into the file that SSL_CERT_FILE names"
		}
	} else if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		meaning.Again = true
	}
	return meaning
}

func (a answer) stretch() (bucket.Body, error) {
	body := bucket.Body{
		ReadCloser: a.Body,
		Length:     a.ContentLength,
		Size:       a.ContentLength,
		Encoding:   a.Header.Get("Content-Encoding"),
	}
	if a.StatusCode != http.StatusPartialContent {
		return body, nil // of the whole
	}
	var err error
	if body.Offset, body.Size, err = bucket.ContentRange(a.Header.Get("Content-Range")); err != nil {
		a.Body.Close()
		return bucket.Body{}, err
	}
	return body, nil
}

// tokens finds the credentials for a host: in ~/.netrc, and the hub's own places. The zero tokens is usable.
type tokens struct {
	once   sync.Once
	logins map[string]login // by host; "" is of all others
	fault  error
	hub    string // token of the hub, may be empty
}

type login struct{ name, password string }

func (t *tokens) authorize(request *http.Request) error {
	t.once.Do(t.find)
	if request.URL.Host == hubAddress().Host {
		if t.hub != "" {
			request.Header.Set("Authorization", "Bearer "+t.hub)
		}
		return nil
	}
	if request.URL.Scheme != "https" {
		return nil
	}
	found, known := t.logins[request.URL.Hostname()]
	if !known {
		found, known = t.logins[""]
	}
	if known {
		request.SetBasicAuth(found.name, found.password)
	}
	return t.fault
}

func (t *tokens) find() {
	t.hub = hubToken()
	named := os.Getenv("NETRC")
	path := named
	if home, err := os.UserHomeDir(); path == "" && err == nil {
		path = filepath.Join(home, ".netrc")
	}
	content, err := os.ReadFile(path)
	switch {
	case err == nil:
		t.logins = parseNetrc(string(content))
	case named != "" || !errors.Is(err, fs.ErrNotExist):
		t.fault = fmt.Errorf("find the tokens of hosts: %w", err)
	}
}

// parseNetrc returns the logins of a netrc file. The first one of a host counts. Macros are passed over.
func parseNetrc(content string) map[string]login {
	logins := map[string]login{}
	host, current, isOpen, inMacro := "", login{}, false, false
	keep := func() {
		if _, known := logins[host]; isOpen && !known {
			logins[host] = current
		}
		current = login{}
	}
	for line := range strings.Lines(content) {
		words := strings.Fields(line)
		if inMacro = inMacro && len(words) > 0; inMacro {
			continue
		}
		for i := 0; i < len(words); i++ {
			if strings.HasPrefix(words[i], "#") {
				break
			}
			value := ""
			if i+1 < len(words) {
				value = strings.Trim(words[i+1], `"`)
			}
			switch words[i] {
			case "default":
				keep()
				host, isOpen = "", true
				continue
			case "machine":
				keep()
				host, isOpen = value, value != ""
			case "login":
				current.name = value
			case "password":
				current.password = value
			case "macdef":
				inMacro = true
			}
			i++
		}
	}
	keep()
	return logins
}

// hubToken returns the token of the hub, from where its own programs have it.
func hubToken() string {
	if token := strings.TrimSpace(cmp.Or(os.Getenv("HF_TOKEN"), os.Getenv("HUGGING_FACE_HUB_TOKEN"))); token != "" {
		return token
	}
	home, _ := os.UserHomeDir()
	cache := cmp.Or(os.Getenv("XDG_CACHE_HOME"), filepath.Join(home, ".cache"))
	folder := cmp.Or(os.Getenv("HF_HOME"), filepath.Join(cache, "huggingface"))
	// without it requests are anonymous
	content, _ := os.ReadFile(cmp.Or(os.Getenv("HF_TOKEN_PATH"), filepath.Join(folder, "token")))
	return strings.TrimSpace(string(content))
}
