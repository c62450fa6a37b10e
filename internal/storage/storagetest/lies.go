package storagetest

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"mirrorbeam.dev/internal/storage"
)

// lies are the ways in which a service or a proxy breaks its word about the content of a file.
var lies = map[string]func(w http.ResponseWriter, body []byte){
	"coded on the way": func(w http.ResponseWriter, body []byte) {
		var coded bytes.Buffer
		writer := gzip.NewWriter(&coded)
		_, _ = writer.Write(body)
		_ = writer.Close()
		w.Header().Set("Content-Encoding", "gzip")
		chunked(w, coded.Bytes())
	},
	"more bytes than listed": func(w http.ResponseWriter, body []byte) {
		w.Header().Set("Content-Length", strconv.Itoa(2*len(body)))
		place(w, 2*len(body))
		_, _ = w.Write(append(body, body...))
	},
	"more bytes than it says": func(w http.ResponseWriter, body []byte) { chunked(w, append(body, body...)) },
	"half of the bytes": func(w http.ResponseWriter, body []byte) {
		half := body[:len(body)/2]
		w.Header().Set("Content-Length", strconv.Itoa(len(half)))
		place(w, len(half))
		_, _ = w.Write(half)
	},
}

// place says that an answer is a whole file of that length.
func place(w http.ResponseWriter, length int) {
	w.Header().Set("Content-Range", fmt.Sprintf("bytes 0-%d/%d", length-1, length))
	w.WriteHeader(http.StatusPartialContent)
}

// chunked answers without the length.
func chunked(w http.ResponseWriter, body []byte) {
	w.Header().Del("Content-Length")
	w.WriteHeader(http.StatusPartialContent)
	_ = http.NewResponseController(w).Flush()
	_, _ = w.Write(body)
}

// otherBytes is a lie that nobody sees where the service tells no sum of what it sends.
func otherBytes(w http.ResponseWriter, body []byte) {
	w.WriteHeader(http.StatusPartialContent)
	_, _ = w.Write(append(bytes.Clone(body[:len(body)-1]), ^body[len(body)-1]))
}

// Lies has reads answered by a service that breaks its word about a file. Each must fail: what it gives is not the
// file.
func Lies(t *testing.T, proxy *Proxy, p Place) {
	name, target := p.at("file"), proxy.target
	defer proxy.Serve(target)
	w, err := p.Storage.Create(name, storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(noise(5000)); err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	info, err := p.Storage.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	all := maps.Clone(lies)
	if storage.Scheme(p.Folder) == "gs" {
		all["other bytes"] = otherBytes
	}
	for way, lie := range all {
		proxy.Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if Kind(r) != "read" {
				target.ServeHTTP(w, r)
				return
			}
			answer := httptest.NewRecorder()
			target.ServeHTTP(answer, r)
			maps.Copy(w.Header(), answer.Header())
			w.Header().Set("Content-Range", fmt.Sprintf("bytes 0-%d/%d", info.Size-1, info.Size))
			lie(w, answer.Body.Bytes())
		}))
		file, err := p.Storage.(storage.Reopener).Reopen(info)
		if err != nil {
			t.Fatal(err)
		}
		stream := file.From(0)
		got, err := io.ReadAll(stream)
		if !errors.Is(err, storage.ErrChanged) && !errors.Is(err, storage.ErrDamaged) {
			t.Errorf("%s: %d of %d bytes, %v", way, len(got), info.Size, err)
		}
		t.Logf("%s: %v", way, err)
		stream.Close()
		file.Close()
	}
}
