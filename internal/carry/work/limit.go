package work

import "runtime/debug"

// programMemory is the part of a process's memory that the garbage collector does not see, in bytes. The code and the tables of
// the program take 41 MiB, and 51 MiB with its tests. The rest is for what the collector is late to free, some ten megabytes
// where other processes have the cores.
const programMemory = 64 << 20

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
