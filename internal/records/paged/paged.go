// Package paged has lists that may be larger than memory. A list for which its [Store] has no room is in a file on the
// local disk, and a bounded number of its pages is held. What goes through a list from its front to its end costs a
// read of each page.
package paged

import (
	"os"
	"slices"
	"unsafe"
)

const (
	// pageBits is the binary logarithm of the number of elements of a page.
	pageBits = 10
	pageLen  = 1 << pageBits
	// leastPages is how many pages of a list are held at least.
	leastPages = 4
	// A list that is in a file holds pages of one in heldShare bytes of its store. While it is sorted it holds a run of
	// one in runShare.
	heldShare, runShare = 16, 8
)

// Fault is an error of the local disk. Lists panic with it, as the elements that are asked for are lost. Package work
// makes it the error of the task.
type Fault struct{ err error }

func (f *Fault) Error() string { return "hold a list on the local disk: " + f.err.Error() }

func (f *Fault) Unwrap() error { return f.err }

// Store says how much of its lists is held in memory. The zero Store holds all.
type Store struct {
	// Folder is for the files of lists; "" is the folder of temporary files.
	Folder string
	// Bytes is about how much memory all lists may take together; 0 for any amount.
	Bytes int64

	used  int64 // by lists that are held as a whole
	files []*os.File
}

// Beside returns a store with the room that s has left, for lists that go soon.
func (s *Store) Beside() *Store { return &Store{Folder: s.Folder, Bytes: s.Bytes, used: s.used} }

// Close gives back the files of all lists of the store. None of them is to be used after that.
func (s *Store) Close() {
	for _, file := range s.files {
		file.Close() // nobody reads it any more
	}
	s.files = nil
}

// open returns a new file. It has no name, so the disk gets the room back however the process ends.
func (s *Store) open() *os.File {
	file, err := os.CreateTemp(s.Folder, "list-")
	if err == nil {
		s.files = append(s.files, file)
		err = os.Remove(file.Name())
	}
	if err != nil {
		panic(&Fault{err})
	}
	return file
}

// Index is the type of the numbers that elements of a list have, from 0.
type Index interface{ ~int | ~uint32 }

// List is a list of elements of type T, without pointers in it, at first zero. Not for concurrent use.
type List[N Index, T any] struct {
	store *Store
	size  int
	whole []T   // the elements, if all are held
	pages [][]T // nil for a page that is not held

	states []state // of the pages
	// the numbers of the pages that are held, the oldest one at next; only of a list that is not held as a whole
	loaded []int32
	next   int
	file   *os.File // nil while no page had to go
}

type state struct{ isChanged, isWritten bool }

// New returns a list of n elements.
func New[N Index, T any](s *Store, n int) *List[N, T] {
	bytes := int64(n) * sizeOf[T]()
	if s.Bytes == 0 || s.used+bytes <= s.Bytes {
		s.used += bytes
		return Of[N](s, make([]T, n))
	}
	count := (n + pageLen - 1) >> pageBits
	held := max(int(s.Bytes/heldShare/sizeOf[T]()>>pageBits), leastPages)
	return &List[N, T]{
		store:  s,
		size:   n,
		pages:  make([][]T, count),
		states: make([]state, count),
		loaded: make([]int32, 0, held),
	}
}

func sizeOf[T any]() int64 {
	var element T
	return int64(unsafe.Sizeof(element))
}

// Of returns a list of elements that are at hand. It is held as a whole, and takes their memory.
func Of[N Index, T any](s *Store, elements []T) *List[N, T] {
	return &List[N, T]{store: s, size: len(elements), whole: elements}
}

func (l *List[N, T]) Len() int { return l.size }

// Cut leaves the first n elements only.
func (l *List[N, T]) Cut(n int) {
	if l.size = n; l.whole != nil {
		l.whole = l.whole[:n]
	}
}

// Whole returns the elements if all are held, and whether they are.
func (l *List[N, T]) Whole() ([]T, bool) { return l.whole, l.loaded == nil }

// At returns element i.
func (l *List[N, T]) At(i N) T {
	if l.whole != nil {
		return l.whole[i]
	}
	return l.page(i)[i&(pageLen-1)]
}

// Set sets element i.
func (l *List[N, T]) Set(i N, to T) {
	if l.whole != nil {
		l.whole[i] = to
		return
	}
	l.change(i, to)
}

func (l *List[N, T]) page(i N) []T {
	if page := l.pages[i>>pageBits]; page != nil {
		return page
	}
	return l.load(int(i >> pageBits))
}

// change is apart from Set, so that the compiler puts Set in line.
func (l *List[N, T]) change(i N, to T) { *l.Edit(i) = to }

// Edit returns element i, to be changed before the list is used again.
func (l *List[N, T]) Edit(i N) *T {
	if l.whole != nil {
		return &l.whole[i]
	}
	page := l.page(i)
	l.states[i>>pageBits].isChanged = true
	return &page[i&(pageLen-1)]
}

func (l *List[N, T]) load(number int) []T {
	var page []T
	if len(l.loaded) < cap(l.loaded) {
		page = make([]T, pageLen)
		l.loaded = append(l.loaded, int32(number))
	} else {
		page = l.drop(int(l.loaded[l.next]))
		l.loaded[l.next] = int32(number)
		l.next = (l.next + 1) % len(l.loaded)
	}
	if l.states[number].isWritten {
		b := bytesOf(page)
		if _, err := l.file.ReadAt(b, int64(number)*int64(len(b))); err != nil {
			panic(&Fault{err})
		}
	}
	l.pages[number] = page
	return page
}

// drop writes a page to the file if it has changed. It returns its room, which is zero unless it was written before.
func (l *List[N, T]) drop(number int) []T {
	page := l.pages[number]
	l.pages[number] = nil
	if at := &l.states[number]; at.isChanged {
		if l.file == nil {
			l.file = l.store.open()
		}
		b := bytesOf(page)
		if _, err := l.file.WriteAt(b, int64(number)*int64(len(b))); err != nil {
			panic(&Fault{err})
		}
		*at = state{isWritten: true}
	}
	clear(page)
	return page
}

// bytesOf returns the memory of a page. Only this process reads the file, so the order of bytes does not matter.
func bytesOf[T any](page []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(page))), len(page)*int(sizeOf[T]()))
}

// Sort returns a sorted list of the elements of another one, which is not to be used after that. If not all are held,
// it sorts runs by sort, and merges these by compare. Elements that compare as equal stay in the order of their runs.
func Sort[N Index, T any](l *List[N, T], sort func([]T) error, compare func(a, b T) int) (*List[N, T], error) {
	if whole, is := l.Whole(); is {
		return l, sort(whole)
	}
	m := merging[N, T]{from: l, compare: compare}
	run := make([]T, min(max(int(l.store.Bytes/runShare/sizeOf[T]()), pageLen), l.size))
	for start := 0; start < l.size; start += len(run) {
		run = run[:min(len(run), l.size-start)]
		for i := range run {
			run[i] = l.At(N(start + i))
		}
		if err := sort(run); err != nil {
			return nil, err
		}
		for i, of := range run {
			l.Set(N(start+i), of)
		}
		m.runs = append(m.runs, head[T]{next: start, end: start + len(run)})
	}
	l.loaded = slices.Grow(l.loaded, len(m.runs)) // each run has a page
	to := New[N, T](l.store, l.size)
	m.start()
	for i := range l.size {
		to.Set(N(i), m.least())
	}
	l.release()
	return to, nil
}

func (l *List[N, T]) release() {
	if l.pages = nil; l.file != nil {
		l.file.Truncate(0) // it stays open until the store is closed, and takes no room
	}
}

type head[T any] struct {
	element   T
	next, end int // of the rest of the run in the list
}

// merging merges runs. The run with the least element is on top of a hot group.
type merging[N Index, T any] struct {
	from    *List[N, T]
	compare func(a, b T) int
	runs    []head[T]
}

func (m *merging[N, T]) start() {
	for i := range m.runs {
		m.advance(&m.runs[i])
	}
	for i := len(m.runs)/2 - 1; i >= 0; i-- {
		m.sink(i)
	}
}

func (m *merging[N, T]) advance(of *head[T]) {
	of.element = m.from.At(N(of.next))
	of.next++
}

func (m *merging[N, T]) least() T {
	first := &m.runs[0]
	element := first.element
	if first.next < first.end {
		m.advance(first)
	} else {
		last := len(m.runs) - 1
		*first, m.runs = m.runs[last], m.runs[:last]
	}
	m.sink(0)
	return element
}

// sink moves a run down to its place in the hot group.
func (m *merging[N, T]) sink(at int) {
	for {
		least := at
		for child := 2*at + 1; child <= 2*at+2 && child < len(m.runs); child++ {
			if m.isLess(&m.runs[child], &m.runs[least]) {
				least = child
			}
		}
		if least == at {
			return
		}
		m.runs[at], m.runs[least] = m.runs[least], m.runs[at]
		at = least
	}
}

// isLess compares the heads of two runs. Of equal ones the one of the earlier run comes first.
func (m *merging[N, T]) isLess(a, b *head[T]) bool {
	order := m.compare(a.element, b.element)
	return order < 0 || order == 0 && a.end < b.end
}
