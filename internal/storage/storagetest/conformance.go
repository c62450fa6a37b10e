package storagetest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"mirrorbeam.dev/internal/storage"
)

// Place is where a storage is tried.
type Place struct {
	Storage storage.Storage
	// Folder is empty. If the storage has folders, Folder/below is one.
	Folder string
	// Tick is how long to wait after a write so that the next one gets another generation.
	Tick time.Duration

	lacks Lack // of its server
}

// at returns a name in the folder.
func (p Place) at(name string) string { return storage.Join(p.Folder, name) }

// Conform tests everything that a storage must promise. Fresh makes a new place.
func Conform(t *testing.T, fresh func(t *testing.T) Place) {
	for _, test := range []struct {
		name string
		try  func(*testing.T, Place)
	}{
		{"a file is seen when it is committed", tryCommit},
		{"what is aborted leaves nothing", tryAbort},
		{"a name is replaced at once", tryReplace},
		{"of writers of an absent name one wins", tryIfAbsent},
		{"ranges", tryRanges},
		{"streams", tryStreams},
		{"what is absent", tryAbsent},
		{"list", tryList},
		{"copy", tryCopy},
		{"lease", tryLease},
		{"strange names", tryNames},
	} {
		t.Run(test.name, func(t *testing.T) { test.try(t, fresh(t)) })
	}
}

// ConformReading tests what a storage must promise whose names are no plain names of files. Fresh makes a new place.
func ConformReading(t *testing.T, fresh func(t *testing.T) Place) {
	t.Run("ranges", func(t *testing.T) { tryRanges(t, fresh(t)) })
	t.Run("streams", func(t *testing.T) { tryStreams(t, fresh(t)) })
}

// write makes a file.
func (p Place) write(t *testing.T, name, content string, options storage.Options) error {
	t.Helper()
	w, err := p.Storage.Create(p.at(name), options)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	if _, err := io.WriteString(w, content); err != nil {
		t.Fatal(err)
	}
	return w.Commit()
}

// put makes a file and fails the test if that fails.
func (p Place) put(t *testing.T, name, content string) {
	t.Helper()
	if err := p.write(t, name, content, storage.Options{}); err != nil {
		t.Fatal(err)
	}
}

// holds fails unless exactly the wanted files are below the folder, with the right sizes and contents.
func (p Place) holds(t *testing.T, want map[string]string) {
	t.Helper()
	var got, names []string
	for info, err := range p.Storage.List(p.Folder) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(info.Name, " ", info.Size))
	}
	for name, content := range want {
		names = append(names, fmt.Sprint(p.at(name), " ", len(content)))
		if read := p.read(t, name); read != content {
			t.Errorf("%s holds %q, want %q", name, read, content)
		}
	}
	slices.Sort(got)
	slices.Sort(names)
	if !slices.Equal(got, names) {
		t.Errorf("listed are %q, want %q", got, names)
	}
}

// open opens an existing file until the test ends.
func (p Place) open(t *testing.T, name string) storage.File {
	t.Helper()
	file, err := p.Storage.Open(p.at(name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	})
	return file
}

// read returns the content of a file.
func (p Place) read(t *testing.T, name string) string {
	t.Helper()
	stream := p.open(t, name).From(0)
	b, err := io.ReadAll(stream)
	if err = errors.Join(err, stream.Close()); err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func tryCommit(t *testing.T, p Place) {
	for _, options := range []storage.Options{{}, {Durable: true}, {IfAbsent: true}, {IfAbsent: true, Durable: true}} {
		name := fmt.Sprintf("a%v%v", options.IfAbsent, options.Durable)
		w, err := p.Storage.Create(p.at(name), options)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(bytes.Repeat([]byte("x"), 1<<20)); err != nil {
			t.Fatal(err)
		}
		p.holds(t, nil)
		if _, err := p.Storage.Open(p.at(name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("opened before it is whole: %v", err)
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
		w.Abort() // does nothing
		info, err := p.Storage.Stat(p.at(name))
		if err != nil || info.Size != 1<<20 || info.Name != p.at(name) {
			t.Errorf("Stat = %+v, %v", info, err)
		}
		if err := p.Storage.Remove(p.at(name)); err != nil {
			t.Error(err)
		}
	}
	p.put(t, "empty", "")
	p.holds(t, map[string]string{"empty": ""})
}

func tryAbort(t *testing.T, p Place) {
	p.put(t, "a", "old")
	for _, written := range []int{0, 1, 1 << 20} {
		w, err := p.Storage.Create(p.at("a"), storage.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(make([]byte, written)); err != nil {
			t.Fatal(err)
		}
		w.Abort()
		w.Abort()
	}
	p.holds(t, map[string]string{"a": "old"})
}

func tryReplace(t *testing.T, p Place) {
	p.put(t, "a", "old")
	before := p.open(t, "a")
	first, err := before.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := p.Storage.Stat(p.at("a")); err != nil || again != first {
		t.Errorf("Stat = %+v, %v; the open file is %+v", again, err, first)
	}
	time.Sleep(p.Tick)
	p.put(t, "a", "new")
	p.holds(t, map[string]string{"a": "new"})
	second, err := p.Storage.Stat(p.at("a"))
	if err != nil || second.Generation == first.Generation && first.Generation != "" {
		t.Errorf("generation %q after %q, %v", second.Generation, first.Generation, err)
	}
	// The open file stays what it was, or its reads fail.
	b := make([]byte, 3)
	if _, err := before.ReadAt(b, 0); err == nil && string(b) != "old" {
		t.Errorf("an open file became %q", b)
	}
	if now, err := before.Stat(); err == nil && now.Generation != first.Generation {
		t.Errorf("an open file became generation %q after %q", now.Generation, first.Generation)
	}
}

func tryIfAbsent(t *testing.T, p Place) {
	const writers = 8
	var won atomic.Int64
	var group sync.WaitGroup
	for i := range writers {
		group.Go(func() {
			switch err := p.write(t, "a", fmt.Sprint("by ", i), storage.Options{IfAbsent: true}); {
			case err == nil:
				won.Add(1)
			case !errors.Is(err, fs.ErrExist):
				t.Errorf("a writer who lost: %v", err)
			}
		})
	}
	group.Wait()
	if won.Load() != 1 {
		t.Errorf("%d writers won", won.Load())
	}
	p.holds(t, map[string]string{"a": p.read(t, "a")})
}

func tryRanges(t *testing.T, p Place) {
	content := bytes.Repeat([]byte("0123456789"), 1000)
	p.put(t, "a", string(content))
	file := p.open(t, "a")
	for _, r := range [][2]int{{0, 1}, {0, len(content)}, {len(content) - 1, len(content)}, {17, 4711}, {5, 5}} {
		b := make([]byte, r[1]-r[0])
		if n, err := file.ReadAt(b, int64(r[0])); n != len(b) || err != nil || !bytes.Equal(b, content[r[0]:r[1]]) {
			t.Errorf("range %v: %d bytes, %v", r, n, err)
		}
	}
	b := make([]byte, 10)
	if n, err := file.ReadAt(b, int64(len(content)-4)); n != 4 || !errors.Is(err, io.EOF) || string(b[:4]) != "6789" {
		t.Errorf("across the end: %d bytes, %v", n, err)
	}
	if n, err := file.ReadAt(b, int64(len(content)+1)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("beyond the end: %d bytes, %v", n, err)
	}
	ranges := make([]storage.Range, 100)
	for i := range ranges {
		ranges[i] = storage.Range{Offset: int64((i * 7919) % 9000), Bytes: make([]byte, i)}
	}
	given := make([]int, len(ranges))
	for i, err := range file.ReadRanges(ranges) {
		if err != nil {
			t.Fatal(err)
		}
		given[i]++
		if r := ranges[i]; given[i] != 1 || !bytes.Equal(r.Bytes, content[r.Offset:][:len(r.Bytes)]) {
			t.Errorf("range %d, of %d bytes, is wrong or was given before", i, len(r.Bytes))
		}
	}
	if slices.Contains(given, 0) {
		t.Errorf("given were %v", given)
	}
	for range file.ReadRanges(ranges) {
		break
	}
	var last error
	for _, err := range file.ReadRanges([]storage.Range{{Offset: 0, Bytes: b}, {
		Offset: int64(len(content) - 4),
		Bytes:  b,
	}}) {
		last = err
	}
	if !errors.Is(last, io.ErrUnexpectedEOF) {
		t.Errorf("ranges across the end: %v", last)
	}
	for i, err := range file.ReadRanges(nil) {
		t.Errorf("of no ranges: %d, %v", i, err)
	}
}

func tryStreams(t *testing.T, p Place) {
	content := bytes.Repeat([]byte("0123456789"), 100_000)
	p.put(t, "a", string(content))
	file := p.open(t, "a")
	var streams sync.WaitGroup
	for _, offset := range []int{0, 1, 500_000, len(content), len(content) + 1} {
		streams.Go(func() {
			stream := file.From(int64(offset))
			b, err := io.ReadAll(stream)
			if err = errors.Join(err, stream.Close()); err != nil ||
				!bytes.Equal(b, content[min(offset, len(content)):]) {
				t.Errorf("from %d: %d bytes, %v", offset, len(b), err)
			}
		})
	}
	streams.Wait()
}

func tryAbsent(t *testing.T, p Place) {
	absent := p.at("absent")
	if _, err := p.Storage.Open(absent); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open: %v", err)
	}
	if _, err := p.Storage.Stat(absent); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Stat: %v", err)
	}
	if err := p.Storage.Copy(absent, p.at("copy")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Copy: %v", err)
	}
	if err := p.Storage.Remove(absent); err != nil {
		t.Errorf("Remove: %v", err)
	}
	for info, err := range p.Storage.List(p.at("absent")) {
		t.Errorf("List: %+v, %v", info, err)
	}
	p.put(t, "below/a", "x")
	if _, err := p.Storage.Open(p.at("below")); err == nil {
		t.Error("a folder was opened as a file")
	}
	if _, err := p.Storage.Stat(p.at("below")); err == nil {
		t.Error("a folder is described as a file")
	}
	p.holds(t, map[string]string{"below/a": "x"})
}

func tryList(t *testing.T, p Place) {
	want := map[string]string{}
	for i := range 50 {
		want[fmt.Sprint("f", i)] = fmt.Sprint(i)
		want[fmt.Sprint("below/f", i)] = fmt.Sprint(i * i)
	}
	for name, content := range want {
		p.put(t, name, content)
	}
	p.holds(t, want)
	for info, err := range p.Storage.List(p.at("bel")) {
		t.Errorf("the start of a folder's name lists %v, %v", info, err)
	}
	for info, err := range p.Storage.List(p.at("f1")) {
		t.Errorf("a file lists %v, %v", info, err)
	}
	given := 0
	for range p.Storage.List(p.at("below")) {
		if given++; given == 3 {
			break
		}
	}
	for info, err := range p.Storage.List(p.Folder) {
		if stated, err2 := p.Storage.Stat(info.Name); err != nil || err2 != nil || stated != info {
			t.Errorf("listed is %+v (%v), described is %+v (%v)", info, err, stated, err2)
		}
	}
}

func tryCopy(t *testing.T, p Place) {
	p.put(t, "a", "one")
	p.put(t, "below/b", "two")
	if err := p.Storage.Copy(p.at("a"), p.at("below/b")); err != nil {
		t.Fatal(err)
	}
	p.put(t, "a", "three")
	p.holds(t, map[string]string{"a": "three", "below/b": "one"})
}

func tryNames(t *testing.T, p Place) {
	want := map[string]string{}
	for _, name := range []string{"a b", "ä-日本", "100%", "a+b&c=d?#", "x.partial", "-", ".hidden", "a:b"} {
		want[name] = name
		p.put(t, name, name)
	}
	p.holds(t, want)
}
