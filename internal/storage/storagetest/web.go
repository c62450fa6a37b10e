package storagetest

import (
	"bytes"
	"crypto/sha1"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"mirrorbeam.dev/internal/storage"
)

// Web is a server of the web and a hub of datasets. Its files are in memory. The file folder/file is at /folder/file,
// and in the dataset folder/file of the hub.
type Web struct {
	Memory *Memory
	// Folder is where its files are in the memory.
	Folder string
	// Host is its address without the scheme, if it is served.
	Host string
}

// NewWeb returns a server without files, for as long as the test runs.
func NewWeb(t testing.TB) *Web {
	w := &Web{}
	w.Memory, w.Folder = NewMemory(t)
	return w
}

// ServeWeb serves a server without files, for as long as the test runs, and returns who has signed its certificate.
func ServeWeb(t testing.TB) (*Web, *x509.CertPool) {
	w := NewWeb(t)
	host, roots := Secure(t, w)
	w.Host = host
	return w, roots
}

// Secure serves https for as long as the test runs. It returns the address without the scheme, and who has signed the
// certificate.
func Secure(t testing.TB, handler http.Handler) (host string, roots *x509.CertPool) {
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // of connections that are cut, or not believed
	server.StartTLS()
	t.Cleanup(server.Close)
	roots = x509.NewCertPool()
	roots.AddCert(server.Certificate())
	return strings.TrimPrefix(server.URL, "https://"), roots
}

// Commit is the commit of each dataset.
const Commit = "0123456789abcdef0123456789abcdef01234567"

// ServeHTTP answers as a hub does where the path is one of a hub, and else gives a file.
func (w *Web) ServeHTTP(answer http.ResponseWriter, r *http.Request) {
	switch parts := strings.SplitN(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/", 7); {
	case len(parts) >= 6 && parts[0] == "api" && parts[4] == "revision":
		fmt.Fprintf(answer, `{"sha": %q}`, Commit)
	case len(parts) >= 6 && parts[0] == "api" && parts[4] == "tree":
		w.tree(answer, r, decoded(parts[2]+"/"+parts[3]), decoded(strings.Join(parts[6:], "/")))
	case len(parts) >= 6 && parts[0] == "datasets" && parts[3] == "resolve":
		info, _, known := w.file(decoded(strings.Join(append(parts[1:3:3], parts[5:]...), "/")))
		if !known {
			http.NotFound(answer, r)
			return
		}
		answer.Header().Set("X-Linked-Etag", `"`+oid(info)+`"`)
		http.Redirect(answer, r, "/"+strings.Join(append(parts[1:3:3], parts[5:]...), "/"), http.StatusFound)
	default:
		info, content, known := w.file(strings.TrimPrefix(r.URL.Path, "/"))
		if !known {
			http.NotFound(answer, r)
			return
		}
		answer.Header().Set("Etag", `"`+info.Generation+`"`)
		http.ServeContent(answer, r, "", time.Time{}, bytes.NewReader(content))
	}
}

func decoded(escaped string) string {
	plain, _ := url.PathUnescape(escaped)
	return plain
}

// file returns a file.
func (w *Web) file(name string) (storage.Info, []byte, bool) {
	found, err := w.Memory.find("open", storage.Join(w.Folder, name))
	return found.info, found.content, err == nil
}

// oid returns a hash that is another one for each content.
func oid(info storage.Info) string {
	sum := sha1.Sum([]byte(info.Name + info.Generation))
	return hex.EncodeToString(sum[:])
}

// tree gives a page of 20 files and folders of a dataset.
func (w *Web) tree(answer http.ResponseWriter, r *http.Request, dataset, folder string) {
	type item map[string]any
	var items []item
	root := storage.Join(w.Folder, dataset) + "/"
	start := strings.TrimSuffix(root+folder, "/") + "/"
	seen := map[string]bool{}
	for info, err := range w.Memory.List(strings.TrimSuffix(start, "/")) {
		if err != nil {
			http.Error(answer, err.Error(), http.StatusInternalServerError)
			return
		}
		inner, isDeeper := strings.TrimPrefix(info.Name, start), false
		if above := path.Dir(inner); above != "." && r.URL.Query().Get("recursive") != "true" {
			inner, _, _ = strings.Cut(above, "/")
			isDeeper = true
		}
		if name := strings.TrimPrefix(start+inner, root); isDeeper && !seen[name] {
			seen[name] = true
			items = append(items, item{"type": "directory", "oid": oid(info), "size": 0, "path": name})
		} else if !isDeeper {
			items = append(items, item{"type": "file", "oid": oid(info), "size": info.Size, "path": name})
		}
	}
	if len(items) == 0 {
		http.NotFound(answer, r)
		return
	}
	slices.SortFunc(items, func(a, b item) int { return strings.Compare(a["path"].(string), b["path"].(string)) })
	const page = 20
	var from int
	if _, err := fmt.Sscan(r.URL.Query().Get("cursor"), &from); err == nil {
		items = items[min(from, len(items)):]
	}
	if len(items) > page {
		query := r.URL.Query()
		query.Set("cursor", fmt.Sprint(from+page))
		answer.Header().Set("Link",
			fmt.Sprintf(`<http://%s%s?%s>; rel="next"`, r.Host, r.URL.EscapedPath(), query.Encode()))
		items = items[:page]
	}
	_ = json.NewEncoder(answer).Encode(items)
}
