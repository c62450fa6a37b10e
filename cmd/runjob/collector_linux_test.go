package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"testing"
)

// TestReserveTakesNoMemory: the reserve stays out of memory, also where the heap has used its pages before.
func TestReserveTakesNoMemory(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(usualPercent))
	used := make([]byte, 2*reserveSize)
	for i := 0; i < len(used); i += os.Getpagesize() {
		used[i] = 1
	}
	runtime.KeepAlive(used)
	used = nil
	debug.FreeOSMemory()
	before := resident(t)
	defer easeCollector()()
	if grown := resident(t) - before; grown > reserveSize/4 {
		t.Errorf("the reserve of %d bytes takes %d", reserveSize, grown)
	}
}

// resident returns how much memory the process takes, in bytes.
func resident(t *testing.T) int {
	t.Helper()
	content, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	var size, pages int
	if _, err := fmt.Sscan(string(content), &size, &pages); err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}
