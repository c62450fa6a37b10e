package web_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/storage/bucket"
	"mirrorbeam.dev/internal/storage/storagetest"
	"mirrorbeam.dev/internal/storage/web"
)

// give gives a file with ranges.
func give(w http.ResponseWriter, r *http.Request, content string) {
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(content))
}

// TestAnswers: what a server answers for a file that it does not give, or not as it must be read, is an error that says
// what to do.
func TestAnswers(t *testing.T) {
	alone(t)
	for name, test := range map[string]struct {
		answer http.HandlerFunc
		want   string
		cause  error
	}{
		"not there": {http.NotFound, "404 Not Found", fs.ErrNotExist},
		"forbidden": {
			func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }, "~/.netrc",
			fs.ErrPermission,
		},
		"no ranges": {
			func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "some text") },
			"reads no ranges of files: download the file", nil,
		},
		"no length": {func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, "some")
			_ = http.NewResponseController(w).Flush()
			fmt.Fprint(w, "text")
		}, "does not report the length", nil},
		"a range without a total": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Range", "bytes 0-0/*")
			w.WriteHeader(http.StatusPartialContent)
		}, "does not report the length", nil},
		"no range at all": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusPartialContent)
		}, "reads no ranges", nil},
		"a folder": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.Path+"/", http.StatusMovedPermanently)
		}, "the address is a folder", fs.ErrNotExist},
		"a circle": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		}, "10 servers lead from one to the next", nil},
		"to plain HTTP": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://"+r.Host+"/other", http.StatusFound)
		}, "which nobody protects", nil},
	} {
		host, roots := storagetest.Secure(t, test.answer)
		_, err := web.New(hasty(), roots).Stat("https://" + host + "/file")
		if err == nil || !strings.Contains(err.Error(), test.want) || test.cause != nil && !errors.Is(err, test.cause) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestUntrusted: a server whose certificate nobody has signed whom the system trusts is not believed, and not asked
// twice.
func TestUntrusted(t *testing.T) {
	alone(t)
	host, _ := storagetest.Secure(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		give(w, r, "content")
	}))
	begun := time.Now()
	_, err := web.New(bucket.Usual(), nil).Stat("https://" + host + "/file")
	if err == nil || !strings.Contains(err.Error(), "SSL_CERT_FILE") || time.Since(begun) > time.Minute {
		t.Error(err)
	}
}

// TestChanged: a file whose etag or, without one, whose time is another one than when it was opened is refused.
func TestChanged(t *testing.T) {
	alone(t)
	for _, field := range []string{"Etag", "Last-Modified"} {
		var version atomic.Int64
		host, roots := storagetest.Secure(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set(field, map[string][]string{
				"Etag":          {`"1"`, `W/"2"`},
				"Last-Modified": {"Tue, 24 Nov 2026 10:00:00 GMT", "Tue, 24 Nov 2026 10:00:01 GMT"},
			}[field][version.Load()])
			give(w, r, "content")
		}))
		file, err := web.New(hasty(), roots).Open("https://" + host + "/file")
		if err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 3)
		if _, err := file.ReadAt(b, 1); err != nil || string(b) != "ont" {
			t.Errorf("%s: %q, %v", field, b, err)
		}
		version.Store(1)
		if _, err := file.ReadAt(b, 1); !errors.Is(err, storage.ErrChanged) {
			t.Errorf("%s: %q, %v", field, b, err)
		}
	}
}

// TestTokens: who a user is for a host is told to that host, and to no other to which the host leads.
func TestTokens(t *testing.T) {
	alone(t)
	elsewhere, roots := storagetest.Secure(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if who := r.Header.Get("Authorization"); who != "" {
			t.Errorf("the other host is told %s", who)
		}
		give(w, r, "content")
	}))
	var told atomic.Value
	lead := func(w http.ResponseWriter, r *http.Request) {
		told.Store(r.Header.Get("Authorization"))
		if strings.Contains(r.URL.Path, "/api/") {
			fmt.Fprintf(w, `{"sha": %q}`, storagetest.Commit)
			return
		}
		http.Redirect(w, r, "https://user:secret@"+elsewhere+"/content", http.StatusFound)
	}
	host, _ := storagetest.Secure(t, http.HandlerFunc(lead)) // all servers of tests have one certificate
	netrc := filepath.Join(os.Getenv("HOME"), ".netrc")
	const content = "machine other login a password b\n# machine 127.0.0.1 login x password y\nmacdef init\ncd /tmp\n\nmachine 127.0.0.1\n\tlogin me\n\tpassword \"secret\"\ndefault login c password d\n"
	if err := os.WriteFile(netrc, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if info, err := web.New(hasty(), roots).Stat("https://" + host + "/file"); err != nil || info.Size != 7 ||
		told.Load() != "Basic bWU6c2VjcmV0" {
		t.Errorf("%+v, %v, told %v", info, err, told.Load())
	}
	hub := httptest.NewServer(http.HandlerFunc(lead))
	defer hub.Close()
	t.Setenv("HF_ENDPOINT", hub.URL)
	t.Setenv("HF_HOME", os.Getenv("HOME"))
	if err := os.WriteFile(filepath.Join(os.Getenv("HOME"), "token"), []byte("hf_file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Bearer hf_file", "Bearer hf_environment"} {
		file, err := web.NewHub(hasty(), roots).Reopen(storage.Info{Name: "hf://datasets/owner/name@v1/file", Size: 7})
		if err != nil {
			t.Fatal(err)
		}
		if b := make([]byte, 7); told.Load() == "" {
			t.Error("nothing is told")
		} else if _, err := file.ReadAt(b, 0); err != nil || string(b) != "content" || told.Load() != want {
			t.Errorf("%q, %v, told %v", b, err, told.Load())
		}
		t.Setenv("HF_TOKEN", "hf_environment")
	}
}

// TestNamesWithSecrets: an address with a secret is refused, and the error does not say the secret.
func TestNamesWithSecrets(t *testing.T) {
	alone(t)
	for _, name := range []string{
		"https://user:hush@host/file", "https://host/file?X-Amz-Signature=hush",
		"https://host/file?a=b&SIG=hush", "https://host/file?key=hu@sh",
	} {
		_, err := web.New(hasty(), nil).Stat(name)
		if err == nil || !strings.Contains(err.Error(), "are in all results") ||
			!strings.Contains(err.Error(), "https://host/file:") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestReadOnly: nothing can be written, and no folder be listed.
func TestReadOnly(t *testing.T) {
	alone(t)
	store := web.New(hasty(), nil)
	_, created := store.Create("https://host/file", storage.Options{})
	_, leased := store.Lease("https://host/file", "a test")
	for _, err := range []error{
		created, leased, store.Remove("https://host/file"),
		store.Copy("https://host/file", "https://host/other"),
	} {
		if !errors.Is(err, fs.ErrPermission) {
			t.Error(err)
		}
	}
	for _, err := range store.List("https://host/folder") {
		if err == nil || !strings.Contains(err.Error(), "lists no folders") {
			t.Error(err)
		}
	}
}

// TestSpent: requests to servers of the web have no price.
func TestSpent(t *testing.T) {
	_, servers, _ := places(t)
	p := servers(t)
	w, err := p.Storage.Create(p.Folder+"/a", storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte("content")); err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	store := p.Storage.(published).Storage.(*bucket.Store)
	file, err := store.Open(p.Folder + "/a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.ReadAt(make([]byte, 7), 0); err != nil {
		t.Fatal(err)
	}
	want := storage.Spent{FetchedBytes: 7}
	want.Requests[storage.Fetching] = 2
	if spent := store.TakeSpent(); spent != want {
		t.Errorf("spent %+v", spent)
	}
}

// TestHubNames: what is between the name of a dataset and the file in it is the revision, which stays the commit that
// it was first.
func TestHubNames(t *testing.T) {
	alone(t)
	var asked []string
	var commits atomic.Int64
	hub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.EscapedPath())
		if strings.Contains(r.URL.Path, "/revision/") {
			fmt.Fprintf(w, `{"sha": "%040x"}`, commits.Add(1))
			return
		}
		fmt.Fprint(w,
			`[{"type": "file", "oid": "b", "size": 3, "path": "a/x y", "lfs": {"oid": "c", "size": 3}}, {"type": "directory", "path": "a/d"}]`)
	}))
	defer hub.Close()
	t.Setenv("HF_ENDPOINT", hub.URL+"/")
	store := web.NewHub(hasty(), nil)
	for name, revision := range map[string]string{
		"hf://datasets/o/n/a/x y":                      "main",
		"hf://datasets/o/n@v1.0/a/x y":                 "v1.0",
		"hf://datasets/o/n@refs/convert/parquet/a/x y": "refs%2Fconvert%2Fparquet",
		"hf://datasets/o/n@refs%2Fpr%2F7/a/x y":        "refs%2Fpr%2F7",
		"hf://datasets/o/m@~parquet/a/x y":             "refs%2Fconvert%2Fparquet",
	} {
		asked = nil
		before := commits.Load()
		for range 2 {
			info, err := store.Stat(name)
			if err != nil || info.Name != name || info.Size != 3 || info.Generation != "c" {
				t.Errorf("%s: %+v, %v", name, info, err)
			}
		}
		dataset := name[len("hf://datasets/") : len("hf://datasets/")+3]
		want := fmt.Sprintf(
			"/api/datasets/%s/revision/%s /api/datasets/%[1]s/tree/%040[3]x/a /api/datasets/%[1]s/tree/%040[3]x/a",
			dataset, revision, before+1)
		if got := strings.Join(asked, " "); got != want {
			t.Errorf("%s asks for %s, want %s", name, got, want)
		}
	}
	for _, name := range []string{"hf://models/o/n/a", "hf://datasets/n", "hf://datasets/o/n@/a"} {
		if _, err := store.Stat(name); err == nil || !strings.Contains(err.Error(), "hf://datasets/owner/name") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := store.Stat("hf://datasets/o/n/a/d"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder: %v", err)
	}
}
