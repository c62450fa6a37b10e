package bucket

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"mirrorbeam.dev/internal/storage"
)

var key = Key{"bucket", "a"}

const name = "test://bucket/a"

// TestErrors: an error names the operation and the file, has the words of the service, and is the one that callers
// know.
func TestErrors(t *testing.T) {
	for status, want := range map[answer]error{
		404: fs.ErrNotExist,
		403: fs.ErrPermission,
		401: fs.ErrPermission,
		412: errUnmet,
		400: answer(400),
		503: answer(503),
	} {
		m := newMemory()
		m.ask = func(string) error { return status }
		_, err := New("test", m, quick()).Stat(name)
		failed, is := errors.AsType[*fs.PathError](err)
		if !is || failed.Op != "stat" || failed.Path != name || !errors.Is(err, want) || !errors.Is(err, status) ||
			!strings.Contains(err.Error(), fmt.Sprint(int(status))) {
			t.Errorf("%d becomes %v", status, err)
		}
		if status == 403 && !strings.Contains(err.Error(), "ask for rights") {
			t.Errorf("no advice: %v", err)
		}
		if again := m.calls > 1; again != (status == 503) {
			t.Errorf("%d took %d requests", status, m.calls)
		}
	}
	// A file of credentials is missing, the object is not.
	m := newMemory()
	m.ask = func(string) error { return &fs.PathError{Op: "open", Path: "key.json", Err: fs.ErrNotExist} }
	if _, err := New("test", m, quick()).Stat(name); errors.Is(err, fs.ErrNotExist) ||
		!strings.Contains(err.Error(), "key.json") {
		t.Errorf("credentials that are missing: %v", err)
	}
}

// TestPatience: an operation ends when patience does, and one that makes progress goes on.
func TestPatience(t *testing.T) {
	m := newMemory()
	store := New("test", m, quick())
	m.ask = func(string) error { return answer(503) }
	begun := time.Now()
	if _, err := store.Open(name); !errors.Is(err, answer(503)) {
		t.Error(err)
	}
	if took := time.Since(begun); took > 30*time.Second {
		t.Errorf("gave up after %v", took)
	}
}

// TestParts: however a file is written, its parts have the lengths that the upload wants.
func TestParts(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, room := range []int{1, 500, 1000, 1500, 20_000} {
		for _, length := range []int{0, 1, 999, 1000, 1001, 3000, 3001, 10_000} {
			m, limits := newMemory(), quick()
			limits.Put = room
			var content []byte
			w, err := New("test", m, limits).Create(name, storage.Options{})
			if err != nil {
				t.Fatal(err)
			}
			inner := w.(*writer)
			var sent *parts
			for len(content) < length {
				piece := bytes.Repeat([]byte{byte(len(content))}, min(1+random.IntN(700), length-len(content)))
				if _, err := w.Write(piece); err != nil {
					t.Fatal(err)
				}
				content = append(content, piece...)
				if inner.upload != nil {
					sent = inner.upload.(*parts)
				}
				if cap(inner.buffer) > max(room, 5000) {
					t.Errorf("after %d bytes the buffer has %d", len(content), cap(inner.buffer))
				}
			}
			m.ask = times(1, "p", answer(503)) // put or part
			if err := w.Commit(); err != nil {
				t.Fatal(err)
			}
			m.holds(t, key, string(content))
			if sent == nil {
				continue
			}
			for i, n := range sent.sent[:len(sent.sent)-1] {
				if n != 1000*(i+1) {
					t.Errorf("room %d, length %d: parts %v", room, length, sent.sent)
				}
			}
			if sent.aborted {
				t.Error("aborted after it was committed")
			}
		}
	}
}

// TestBuffer: a short file has a short buffer.
func TestBuffer(t *testing.T) {
	w, err := New("test", newMemory(), Usual()).Create(name, storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if _, err := w.Write(make([]byte, 1000)); err != nil {
			t.Fatal(err)
		}
	}
	if got := cap(w.(*writer).buffer); got > 32<<10 {
		t.Errorf("10,000 bytes take a buffer of %d", got)
	}
	w.Abort()
}

// TestLostAnswers: the object was made, and the next try is refused because of it.
func TestLostAnswers(t *testing.T) {
	for _, length := range []int{10, 5000} {
		m := newMemory()
		store := New("test", answersLost{m}, quick())
		w, err := store.Create(name, storage.Options{IfAbsent: true})
		if err != nil {
			t.Fatal(err)
		}
		content := strings.Repeat("x", length)
		if _, err := io.WriteString(w, content); err != nil {
			t.Fatal(err)
		}
		if err := w.Commit(); err != nil {
			t.Errorf("%d bytes: %v", length, err)
		}
		m.holds(t, key, content)
		// Somebody else's object is not taken for one's own.
		if w, err = store.Create(name, storage.Options{IfAbsent: true}); err != nil {
			t.Fatal(err)
		}
		if err := w.Commit(); !errors.Is(err, fs.ErrExist) {
			t.Errorf("a second file: %v", err)
		}
	}
}

// TestDamage: a whole file whose bytes have another sum is an error, however it is read.
func TestDamage(t *testing.T) {
	m := newMemory()
	store := New("test", m, quick())
	w, _ := store.Create(name, storage.Options{})
	_, _ = io.WriteString(w, "content")
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	m.content[key][3] ^= 1
	file, err := store.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 7)
	if _, err := file.ReadAt(b, 0); !errors.Is(err, storage.ErrDamaged) {
		t.Errorf("ReadAt: %v", err)
	}
	if _, err := io.ReadAll(file.From(0)); !errors.Is(err, storage.ErrDamaged) {
		t.Errorf("From: %v", err)
	}
	if _, err := file.ReadAt(b[:3], 0); err != nil {
		t.Errorf("a part: %v", err)
	}
}

// TestCombine: requests are few, do not overlap inside, and hold every range once.
func TestCombine(t *testing.T) {
	limits := Limits{Gap: 10, Request: 100}
	for _, test := range []struct {
		ranges [][2]int // from, to
		want   [][]int
	}{
		{nil, nil},
		{[][2]int{{5, 10}}, [][]int{{0}}},
		{[][2]int{{20, 30}, {5, 10}}, [][]int{{1, 0}}},
		{[][2]int{{21, 30}, {5, 10}}, [][]int{{1}, {0}}},
		{[][2]int{{0, 50}, {50, 100}, {100, 150}}, [][]int{{0, 1}, {2}}},
		{[][2]int{{0, 500}, {500, 501}}, [][]int{{0}, {1}}},
		{[][2]int{{0, 20}, {10, 30}}, [][]int{{0}, {1}}},
		{[][2]int{{5, 5}, {5, 5}, {5, 8}}, [][]int{{0, 1, 2}}},
	} {
		var ranges []storage.Range
		for _, r := range test.ranges {
			ranges = append(ranges, storage.Range{Offset: int64(r[0]), Bytes: make([]byte, r[1]-r[0])})
		}
		if got := limits.combine(ranges); fmt.Sprint(got) != fmt.Sprint(test.want) {
			t.Errorf("%v become %v, want %v", test.ranges, got, test.want)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		ranges := make([]storage.Range, random.IntN(20))
		for i := range ranges {
			ranges[i] = storage.Range{Offset: random.Int64N(500), Bytes: make([]byte, random.IntN(50))}
		}
		var all []int
		for _, request := range limits.combine(ranges) {
			all = append(all, request...)
			for i := 1; i < len(request); i++ {
				before, r := ranges[request[i-1]], ranges[request[i]]
				if gap := r.Offset - before.Offset - int64(len(before.Bytes)); gap < 0 || gap > limits.Gap {
					t.Fatalf("a gap of %d", gap)
				}
			}
		}
		slices.Sort(all)
		if len(all) != len(ranges) || len(slices.Compact(all)) != len(ranges) {
			t.Fatalf("%d ranges become %v", len(ranges), all)
		}
	}
}

// TestMarks: marks of folders are no files.
func TestMarks(t *testing.T) {
	found := 0
	for info, err := range New("test", newMemory(), quick()).List("test://bucket") {
		if found++; err != nil || info.Name != "test://bucket/folder/a" {
			t.Errorf("%+v, %v", info, err)
		}
	}
	if found != 1 {
		t.Errorf("%d files", found)
	}
}

// TestEndlessLists: a list of a service that breaks its word ends with an error: it repeats marks, gives empty pages
// for ever, or names what is not in the folder.
func TestEndlessLists(t *testing.T) {
	const most = 10_000 // pages that a service of these tests gives
	list := func(page func(n int) ([]Object, string)) (files, pages int, err error) {
		m := newMemory()
		m.page = func(string) ([]Object, string, error) {
			if pages++; pages > most {
				return nil, "", nil
			}
			objects, next := page(pages)
			return objects, next, nil
		}
		for _, err := range New("test", m, quick()).List("test://bucket/folder") {
			if err != nil {
				return files, pages, err
			}
			files++
		}
		return files, pages, nil
	}
	one := []Object{{Name: "folder/a", Size: 1}}
	for what, test := range map[string]struct {
		page func(n int) ([]Object, string)
		want string
	}{
		"one mark":        {func(int) ([]Object, string) { return one, "again" }, "again"},
		"a circle":        {func(n int) ([]Object, string) { return one, fmt.Sprint(n % 7) }, "never ends"},
		"a late circle":   {func(n int) ([]Object, string) { return one, fmt.Sprint(min(n, 100+n%50)) }, "never ends"},
		"empty pages":     {func(n int) ([]Object, string) { return nil, fmt.Sprint(n) }, "pages in a row are empty"},
		"another folder":  {func(int) ([]Object, string) { return []Object{{Name: "other/a"}}, "" }, `"other/a"`},
		"honest":          {func(n int) ([]Object, string) { return one, strings.Repeat("m", (300 - n)) }, ""},
		"some are empty":  {func(n int) ([]Object, string) { return one[:1-n%2], strings.Repeat("m", (300 - n)) }, ""},
		"only one at all": {func(int) ([]Object, string) { return one, "" }, ""},
	} {
		files, pages, err := list(test.page)
		if test.want == "" && (err != nil || files == 0) ||
			test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %d files in %d pages, %v", what, files, pages, err)
		}
		if pages > 2*mostEmpty {
			t.Errorf("%s: it asked for %d pages", what, pages)
		}
	}
}
