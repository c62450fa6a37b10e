// Package explore serves a finished run to a browser on this machine: clusters, documents and pairs, each on demand.
package explore

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"mirrorbeam.dev/internal/inspect/report"
	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/util/setting"
)

var (
	//go:embed page/explore.html
	page string
	//go:embed page/explore.js
	script string
	//go:embed page/explore.css
	style string
)

// policy lets the page load nothing but what this server has.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Server answers a browser about one finished run. It holds no rows: each answer reads them again, and ends early if
// the browser does not want it any more.
type Server struct {
	folder   *finished.Folder
	listener net.Listener
	// token is in the address of the page. Whoever lacks it, such as another user or another page, learns nothing.
	token string
	recut string // the command that makes results at the threshold behind it
}

// Listen opens a port of the loopback, a free one if the number is 0. Recut is a command that takes a threshold last.
func Listen(folder *finished.Folder, port int, recut string) (*Server, error) {
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return nil, fmt.Errorf("explore %s: %w", folder.Path, err)
	}
	return &Server{folder, listener, rand.Text(), recut}, nil
}

// Address returns the address of the page.
func (s *Server) Address() string {
	return "http://" + s.listener.Addr().String() + "/" + s.token + "/"
}

// closing is how long answers may still take when the server ends.
const closing = time.Second

// Serve answers until the context ends, which is no error.
func (s *Server) Serve(ctx context.Context) error {
	server := &http.Server{
		Handler:           s.guarded(s.answers()),
		ReadHeaderTimeout: time.Minute,
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(s.listener) }()
	select {
	case err := <-ended:
		return fmt.Errorf("explore %s: %w", s.folder.Path, err)
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
	defer cancel()
	if err := server.Shutdown(last); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("explore %s: %w", s.folder.Path, err)
	}
	<-ended
	return nil
}

// guarded hides everything from requests without the token, and from requests under another name of this machine,
// which a foreign page may have given it.
func (s *Server) guarded(answers http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		if subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) == 0 || r.Host != s.listener.Addr().String() {
			http.NotFound(w, r)
			return
		}
		for name, value := range map[string]string{
			"Content-Security-Policy": policy,
			"Referrer-Policy":         "no-referrer",
			"X-Content-Type-Options":  "nosniff",
			"Cache-Control":           "no-store",
		} {
			w.Header().Set(name, value)
		}
		within := r.Clone(r.Context())
		within.URL.Path = "/" + path
		answers.ServeHTTP(w, within)
	})
}

// answers has the paths of the page, of its parts and of what it asks for.
func (s *Server) answers() http.Handler {
	mux := http.NewServeMux()
	for path, part := range map[string]struct{ kind, content string }{
		"/{$}":        {"text/html; charset=utf-8", page},
		"/explore.js": {"text/javascript; charset=utf-8", script},
		"/style.css":  {"text/css; charset=utf-8", report.Style() + style},
	} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", part.kind)
			_, _ = w.Write([]byte(part.content)) // a browser that has gone needs none
		})
	}
	for path, answer := range map[string]func(request) (any, error){
		"/run":       s.run,
		"/clusters":  s.clusters,
		"/documents": s.documents,
		"/cluster":   s.cluster,
		"/pairs":     s.pairs,
		"/pair":      s.pair,
		"/threshold": s.threshold,
	} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			value, err := answer(request{r})
			if err != nil {
				w.WriteHeader(http.StatusUnprocessableEntity)
				value = map[string]string{"error": setting.Text(err, setting.Flag)}
			}
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(value)
		})
	}
	mux.HandleFunc("GET /table.csv", s.table)
	return mux
}
