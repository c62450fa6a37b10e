//go:build unix

package asmkernels

import (
	"syscall"
	"testing"
	"unsafe"
)

// guarded returns a copy of list that ends where memory ends, or begins where
// it begins: whatever reads or writes beyond crashes the test.
func guarded[E any](t testing.TB, list []E, atEnd bool) []E {
	t.Helper()
	page := syscall.Getpagesize()
	size := len(list) * int(unsafe.Sizeof(*new(E)))
	inner := (size + page - 1) / page * page
	memory, err := syscall.Mmap(-1, 0, inner+2*page, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Munmap(memory); err != nil {
			t.Error(err)
		}
	})
	for _, guard := range [][]byte{memory[:page], memory[page+inner:]} {
		if err := syscall.Mprotect(guard, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	if size == 0 {
		return nil
	}
	start := page
	if atEnd {
		start += inner - size
	}
	guarded := unsafe.Slice((*E)(unsafe.Pointer(&memory[start])), len(list))
	copy(guarded, list)
	return guarded
}
