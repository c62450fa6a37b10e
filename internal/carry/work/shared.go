package work

import (
	"maps"
	"sync"
	"weak"
)

// Shared holds a value that tasks of this process read from the same file, while one of them uses it: a list of inputs,
// an order of shingles. The zero value is ready for use.
type Shared[T any] struct {
	mutex  sync.Mutex
	values map[string]weak.Pointer[T]
}

// Get returns the value that was read from path. It reads the file if nobody holds the value. The caller must not
// change it.
func (s *Shared[T]) Get(path string, read func(path string) (*T, error)) (*T, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if value := s.values[path].Value(); value != nil {
		return value, nil
	}
	maps.DeleteFunc(s.values, func(_ string, held weak.Pointer[T]) bool { return held.Value() == nil })
	value, err := read(path)
	if err != nil {
		return nil, err
	}
	if s.values == nil {
		s.values = map[string]weak.Pointer[T]{}
	}
	s.values[path] = weak.Make(value)
	return value, nil
}
