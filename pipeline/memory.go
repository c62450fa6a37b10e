package pipeline

import (
	"runtime/debug"

	"mirrorbeam/internal/corpus"
)

// memoryPlan is how a job is cut so that its tasks stay within a size. It
// changes no result.
type memoryPlan struct {
	// shards is the number of shards of keys and pairs.
	shards int
	// placeBytes bounds the sets that a scoring task holds, at 8 bytes a shingle,
	// and the pairs that it holds at a time.
	placeBytes int64
	// runBytes is how much of its run file a task holds back.
	runBytes int
	// windowBytes is the largest zstd window that is held. Files with a larger
	// one are rejects, so it depends on the size alone.
	windowBytes int64
}

const (
	// shardBytes is how much input there is for each shard of keys where memory
	// does not matter: the pairs of a shard should fit into a core's cache.
	shardBytes = 4 << 20
	// fewShards is the number up to which shards cost next to nothing, maxShards
	// the one beyond which their pieces become too small to be worth a read.
	fewShards = 512
	maxShards = 4096

	leastPlaceBytes, mostPlaceBytes = 1 << 20, 16 << 20
	leastRunBytes, mostRunBytes     = 1 << 20, 8 << 20

	// leastWindow is the window that every decoder must take, by RFC 8878.
	leastWindow = 8 << 20

	// leastMemory is less than which a job is not worth a try with.
	leastMemory = 100 << 20
	// baseMemory is what a process takes without any task, programMemory the
	// part of it that is not on the heap.
	baseMemory    = 64 << 20
	programMemory = 48 << 20
	// ampleMemory is what a job is cut for unless told otherwise.
	ampleMemory = 2 << 30
)

// planMemory cuts a job over so many bytes of text for a process of that size in
// bytes, 0 for ample, that works on tasks tasks at a time.
func planMemory(memory, text int64, tasks int) memoryPlan {
	window := int64(corpus.DefaultWindow)
	if memory == 0 {
		memory = ampleMemory
	} else {
		window = min(max(memory/8, leastWindow), corpus.MaxWindow)
	}
	// Half is left to the garbage of a task, and to what is not a task's.
	task := max((memory-baseMemory)/int64(2*tasks), 4<<20)
	return memoryPlan{
		// The keys of a text take up to its own size while they are sorted.
		shards:      int(max(min(text/shardBytes+1, fewShards), min(text/task+1, maxShards))),
		placeBytes:  min(max(task/2, leastPlaceBytes), mostPlaceBytes),
		runBytes:    int(min(max(task/4, leastRunBytes), mostRunBytes)),
		windowBytes: window,
	}
}

// limitMemory makes the garbage collector work harder as this process nears
// the size, 0 for none, and returns what ends that.
func limitMemory(memory int64) (restore func()) {
	if memory == 0 {
		return func() {}
	}
	// The size is the system's view; the collector does not see the program
	// itself and what is mapped for it.
	before := debug.SetMemoryLimit(memory - programMemory)
	return func() { debug.SetMemoryLimit(before) }
}
