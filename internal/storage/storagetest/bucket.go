package storagetest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"mirrorbeam.dev/internal/storage"
)

// Lack is what a server for tests does not do, and a true one does.
type Lack int

// The lacks of servers.
const (
	// LatePrecondition: an upload in parts may replace a file that must not be there.
	LatePrecondition Lack = 1 << iota
	// LongPages: a list has pages of 100 names and not of 1,000.
	LongPages
	// PlainNames: a//b is the same name as a/b.
	PlainNames
)

// ConformBucket tries what else a bucket must promise, and how many requests it makes, on a server that may lack
// something. The requests of the places go through the proxy. Files of more than 256 KiB are sent in parts.
func ConformBucket(t *testing.T, proxy *Proxy, lacks Lack, fresh func(t *testing.T) Place) {
	for _, test := range []struct {
		name string
		try  func(*testing.T, Place, *Proxy)
	}{
		{"many files", tryPages},
		{"a large file", tryLarge},
		{"what is aborted half-way leaves nothing", tryHalf},
		{"a file that changes", tryChange},
		{"requests", tryRequests},
		{"names of folders", tryFolders},
		{"names that could be read otherwise", tryHardNames},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := fresh(t)
			p.lacks = lacks
			proxy.Requests()
			test.try(t, p, proxy)
		})
	}
}

// noise returns bytes that are the same for a seed.
func noise(n int) []byte {
	b := make([]byte, n)
	random := rand.NewChaCha8([32]byte{1})
	_, _ = random.Read(b)
	return b
}

func tryPages(t *testing.T, p Place, proxy *Proxy) {
	const writers = 8
	files := 5001
	if p.lacks&LongPages != 0 {
		files = 501
	}
	var group sync.WaitGroup
	for writer := range writers {
		group.Go(func() {
			for i := writer; i < files; i += writers {
				if err := storage.WriteFile(p.at(fmt.Sprintf("%02d/%d", i%100, i)), nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if got := proxy.Requests(); got["write"] != files {
		t.Errorf("requests: %v", got)
	}
	seen := map[string]bool{}
	for info, err := range p.Storage.List(p.Folder) {
		if err != nil {
			t.Fatal(err)
		}
		seen[info.Name] = true
	}
	if got := proxy.Requests(); len(seen) != files || got["list"] != 6 {
		t.Errorf("%d files by %v", len(seen), got)
	}
}

func tryLarge(t *testing.T, p Place, proxy *Proxy) {
	content := noise(20<<20 + 3)
	for _, options := range []storage.Options{{}, {IfAbsent: true}} {
		name := p.at(fmt.Sprint("large", options.IfAbsent))
		w, err := p.Storage.Create(name, options)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Abort()
		for rest := content; len(rest) > 0; {
			n := min(len(rest), 777_777)
			if _, err := w.Write(rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
		t.Logf("requests to write %d bytes: %v", len(content), proxy.Requests())
		if got, err := storage.ReadFile(name); err != nil || !bytes.Equal(got, content) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		if options.IfAbsent && p.lacks&LatePrecondition == 0 {
			w, err := p.Storage.Create(name, options)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write(content[:1<<20]); err != nil {
				t.Fatal(err)
			}
			if err := w.Commit(); !errors.Is(err, fs.ErrExist) {
				t.Errorf("a second file of the name: %v", err)
			}
		}
	}
	if err := p.Storage.Copy(p.at("largefalse"), p.at("copy")); err != nil {
		t.Fatal(err)
	}
	if got, err := storage.ReadFile(p.at("copy")); err != nil || !bytes.Equal(got, content) {
		t.Errorf("the copy: %d bytes, %v", len(got), err)
	}
}

func tryHalf(t *testing.T, p Place, _ *Proxy) {
	for _, written := range []int{100, 1 << 20, 17 << 20} {
		w, err := p.Storage.Create(p.at("half"), storage.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(noise(written)); err != nil {
			t.Fatal(err)
		}
		w.Abort()
		if _, err := w.Write([]byte("x")); err == nil {
			t.Error("written to after it was aborted")
		}
		if err := w.Commit(); err == nil {
			t.Error("committed after it was aborted")
		}
		p.holds(t, nil)
	}
}

func tryChange(t *testing.T, p Place, proxy *Proxy) {
	p.put(t, "a", strings.Repeat("old", 1000))
	info, err := p.Storage.Stat(p.at("a"))
	if err != nil {
		t.Fatal(err)
	}
	file, stream := p.open(t, "a"), p.open(t, "a").From(0)
	defer stream.Close()
	proxy.Requests()
	reopened, err := storage.Reopen(info)
	if err != nil {
		t.Fatal(err)
	}
	unknown, err := storage.Reopen(storage.Info{Name: info.Name, Size: info.Size})
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 3)
	for _, file := range []storage.File{reopened, unknown} {
		if _, err := file.ReadAt(b, 3); err != nil || string(b) != "old" {
			t.Errorf("reopened: %q, %v", b, err)
		}
		if now, err := file.Stat(); err != nil || now != info {
			t.Errorf("reopened is %+v, %v; want %+v", now, err, info)
		}
	}
	if got := proxy.Requests(); got["read"] != 2 || len(got) != 1 {
		t.Errorf("requests of reopened files: %v", got)
	}
	p.put(t, "a", strings.Repeat("new", 1000))
	after, err := storage.Reopen(info)
	if err != nil {
		t.Fatal(err)
	}
	for i, file := range []storage.File{file, reopened, unknown, after} {
		if _, err := file.ReadAt(b, 0); !errors.Is(err, storage.ErrChanged) {
			t.Errorf("file %d: ReadAt gives %v", i, err)
		}
		for _, err := range file.ReadRanges([]storage.Range{{Bytes: b}}) {
			if !errors.Is(err, storage.ErrChanged) {
				t.Errorf("file %d: ReadRanges gives %v", i, err)
			}
		}
	}
	if _, err := io.ReadAll(stream); !errors.Is(err, storage.ErrChanged) {
		t.Errorf("a stream gives %v", err)
	}
	if err := p.Storage.Remove(p.at("a")); err != nil {
		t.Fatal(err)
	}
	if _, err := file.ReadAt(b, 0); !errors.Is(err, storage.ErrChanged) {
		t.Errorf("of a removed file ReadAt gives %v", err)
	}
}

// tryRequests holds what each operation costs.
func tryRequests(t *testing.T, p Place, proxy *Proxy) {
	name := p.at("a")
	content := noise(200_000)
	costs := func(what string, operation func() error, want map[string]int) {
		t.Helper()
		proxy.Requests()
		take(p)
		if err := operation(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		spent, counted := take(p), map[string]int{}
		for _, kind := range storage.Kinds() {
			if n := spent.Requests[kind]; n > 0 {
				counted[strings.Replace(kind.String(), "describe", "stat", 1)] = int(n)
			}
		}
		if fmt.Sprint(counted) != fmt.Sprint(want) {
			t.Errorf("%s counts as %v, want %v", what, counted, want)
		}
		hasRead, hasWritten := want["read"] > 0, want["write"] > 0
		if hasRead != (spent.ReadBytes > 0) || hasWritten != (spent.WrittenBytes == int64(len(content))) {
			t.Errorf("%s reads %d bytes and writes %d", what, spent.ReadBytes, spent.WrittenBytes)
		}
		if hasRead != (spent.Answering > 0) {
			t.Errorf("%s waits %v for what it reads", what, spent.Answering)
		}
		if got := proxy.Requests(); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s takes the requests %v, want %v", what, got, want)
		}
	}
	costs("a small file", func() error { return storage.WriteFile(name, content) }, map[string]int{"write": 1})
	costs("its description", func() error { _, err := storage.Stat(name); return err }, map[string]int{"stat": 1})
	costs("to read it", func() error { _, err := storage.ReadFile(name); return err }, map[string]int{
		"stat": 1,
		"read": 1,
	})
	costs("a copy", func() error { return p.Storage.Copy(name, p.at("b")) }, map[string]int{"stat": 1, "copy": 1})
	costs("a removal", func() error { return p.Storage.Remove(p.at("b")) }, map[string]int{"remove": 1})
	costs("a list", func() error {
		for _, err := range p.Storage.List(p.Folder) {
			if err != nil {
				return err
			}
		}
		return nil
	}, map[string]int{"list": 1})
	costs("ranges", func() error { return readRanges(name, content) }, map[string]int{"stat": 1, "read": 1})
}

// readRanges reads 100 of each 1000 bytes of a file.
func readRanges(name string, content []byte) error {
	file, err := storage.Open(name)
	if err != nil {
		return err
	}
	var ranges []storage.Range
	for offset := int64(0); offset < 190_000; offset += 1000 {
		ranges = append(ranges, storage.Range{Offset: offset, Bytes: make([]byte, 100)})
	}
	for i, err := range file.ReadRanges(ranges) {
		if r := ranges[i]; err != nil || !bytes.Equal(r.Bytes, content[r.Offset:][:100]) {
			return fmt.Errorf("range %d: %w", i, err)
		}
	}
	return file.Close()
}

// take returns what the operations of a place have spent, whether they went through its storage or the one of its
// scheme.
func take(p Place) storage.Spent {
	spent := storage.TakeSpent()
	if spender, is := p.Storage.(storage.Spender); is {
		spent.Add(spender.TakeSpent())
	}
	return spent
}

// tryFolders: a bucket has no folders, only names.
func tryFolders(t *testing.T, p Place, _ *Proxy) {
	bucket := strings.Join(strings.Split(p.Folder, "/")[:3], "/")
	p.put(t, "a", "x")
	for _, folder := range []string{bucket, bucket + "/", p.Folder + "/"} {
		for _, err := range []error{
			func() error { _, err := p.Storage.Stat(folder); return err }(),
			func() error { _, err := p.Storage.Open(folder); return err }(),
			func() error { _, err := p.Storage.Create(folder, storage.Options{}); return err }(),
		} {
			if !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s as a file: %v", folder, err)
			}
		}
		found := 0
		for range p.Storage.List(folder) {
			found++
		}
		if found != 1 {
			t.Errorf("%s lists %d files", folder, found)
		}
	}
	scheme := storage.Scheme(bucket)
	for _, name := range []string{
		scheme + "://", scheme + ":///a", "other://bucket/a",
		bucket[:strings.LastIndex(bucket, "/")+1],
	} {
		if _, err := p.Storage.Stat(name); err == nil {
			t.Errorf("%s is described", name)
		}
		for _, err := range p.Storage.List(name) {
			if err == nil {
				t.Errorf("%s is listed", name)
			}
		}
	}
	for _, err := range p.Storage.List(scheme + "://there-is-no-such-bucket/a") {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a bucket that is not there: %v", err)
		}
	}
}

func tryHardNames(t *testing.T, p Place, _ *Proxy) {
	want := map[string]string{}
	names := []string{"%2F", "a%20b", "<&>\"'", "~(x)!*"}
	if p.lacks&PlainNames == 0 {
		names = append(names, "a//b", "a//b/../c")
	}
	for _, name := range names {
		want[name] = name
		p.put(t, name, name)
	}
	p.holds(t, want)
	for name := range want {
		if err := p.Storage.Copy(p.at(name), p.at("copy of "+name)); err != nil {
			t.Error(err)
		}
		if got := p.read(t, "copy of "+name); got != name {
			t.Errorf("the copy of %q holds %q", name, got)
		}
		if err := p.Storage.Remove(p.at(name)); err != nil {
			t.Error(err)
		}
	}
}
