package corpus

import (
	"bytes"
	"io"
	"iter"
	"math"
	"runtime"
	"slices"
	"sync"

	"mirrorbeam.dev/internal/storage"
)

const (
	aheadFiles = 32
	// aheadShare is the part of its budget that one file may take. A larger file takes longer to arrive than an answer
	// does.
	aheadShare = 4
)

// Ahead reads small files before they are wanted, several at a time. A storage behind a network takes as long to answer
// for a small file as for a large one. Files of the local disk and large files are opened when they are wanted. A nil
// Ahead reads nothing ahead. It is not for concurrent use.
type Ahead struct {
	budget int64      // most bytes that are held
	held   int64      // bytes of the files in the queue, and of those that are open
	queue  []*fetched // files that are asked for, and not open yet
	rest   []*File    // files that come behind those of the queue
	asking sync.WaitGroup
}

// fetched is the content of a file, or why there is none. It is known when done is closed.
type fetched struct {
	file    *File
	done    chan struct{}
	content []byte
	err     error
}

// NewAhead returns an Ahead for the files that are wanted of a split, in their order. It holds no more than the given
// number of bytes at a time. It must be closed.
func NewAhead(files []File, split Split, budget int64) *Ahead {
	a := &Ahead{budget: budget}
	for _, stretch := range split {
		file := &files[stretch.File]
		wanted := files[stretch.File : stretch.File+1]
		if file.Members != nil {
			wanted = file.Members[stretch.Start:stretch.End]
		} else if stretch != file.Whole(stretch.File) {
			continue
		}
		for i := range wanted {
			one := &wanted[i]
			if isSmall := 0 < one.Size && one.Size <= budget/aheadShare; isSmall && one.Member == nil &&
				storage.Scheme(one.Path) != "" {
				a.rest = append(a.rest, one)
			}
		}
	}
	return a
}

// Open opens a file of the split. It is an error if the file has changed since it was listed, perhaps one of the first
// read.
func (a *Ahead) Open(file *File) (storage.File, error) {
	if a == nil {
		return OpenUnchanged(file)
	}
	a.fill()
	at := slices.IndexFunc(a.queue, func(f *fetched) bool { return f.file.Path == file.Path })
	if at < 0 {
		return OpenUnchanged(file)
	}
	for _, passed := range a.queue[:at] { // a caller that gave up a file does not come back to it
		a.held -= passed.file.Size
	}
	one := a.queue[at]
	a.queue = a.queue[at+1:]
	a.fill()
	<-one.done
	return &heldFile{one, a}, nil
}

func (a *Ahead) fill() {
	for len(a.queue) < aheadFiles && len(a.rest) > 0 && a.held+a.rest[0].Size <= a.budget {
		one := &fetched{file: a.rest[0], done: make(chan struct{})}
		a.rest = a.rest[1:]
		a.held += one.file.Size
		a.queue = append(a.queue, one)
		a.asking.Go(one.fetch)
	}
}

func (f *fetched) fetch() {
	defer close(f.done)
	var handle storage.File
	if handle, f.err = f.file.reopen(); f.err != nil {
		return
	}
	defer handle.Close() // a file that was only read
	f.content = make([]byte, f.file.Size)
	_, f.err = handle.ReadAt(f.content, 0)
}

func (a *Ahead) Close() {
	if a != nil {
		a.asking.Wait()
		a.queue, a.rest = nil, nil
	}
}

// heldFile is an open file whose content was read ahead. If that has failed, each read of it fails.
type heldFile struct {
	*fetched
	ahead *Ahead // nil when it is closed
}

func (h *heldFile) ReadAt(b []byte, offset int64) (int, error) {
	if h.err != nil {
		return 0, h.err
	}
	return bytes.NewReader(h.content).ReadAt(b, offset)
}

func (h *heldFile) ReadRanges(ranges []storage.Range) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		for i, r := range ranges {
			_, err := h.ReadAt(r.Bytes, r.Offset)
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			if !yield(i, err) || err != nil {
				return
			}
		}
	}
}

func (h *heldFile) From(offset int64) io.ReadCloser {
	return io.NopCloser(io.NewSectionReader(h, offset, math.MaxInt64-offset))
}

// Stat describes the file that was listed. No other one was read.
func (h *heldFile) Stat() (storage.Info, error) {
	return storage.Info{Name: h.file.Path, Size: h.file.Size, Generation: h.file.Generation, Identity: h.file.Identity}, nil
}

func (h *heldFile) Close() error {
	if h.ahead != nil {
		h.ahead.held -= h.file.Size
		h.ahead, h.content = nil, nil
	}
	return nil
}

// sideBySide returns how many files are opened at a time. The local disk keeps cores busy, and a storage behind a
// network lets them wait.
func sideBySide(files []*candidate) int {
	const remote = 64
	if slices.ContainsFunc(files, func(c *candidate) bool { return storage.Scheme(c.Path) != "" }) {
		return remote
	}
	return 4 * runtime.GOMAXPROCS(0)
}
