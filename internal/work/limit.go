package work

import "runtime/debug"

// programMemory is the part of a process's memory that is not on the heap, in bytes.
const programMemory = 48 << 20

// LimitMemory makes the garbage collector work harder as this process nears the size, 0 for none. The function that it
// returns ends this.
func LimitMemory(memory int64) (restore func()) {
	if memory == 0 {
		return func() {}
	}
	// The size is what the system sees. The collector does not see the program itself, nor files mapped for it.
	before := debug.SetMemoryLimit(memory - programMemory)
	return func() { debug.SetMemoryLimit(before) }
}
