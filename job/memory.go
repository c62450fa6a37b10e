package job

import (
	"cmp"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/input/corpus"
)

// MemoryPlan says how a job is cut so that its tasks stay within a size. It changes no result but an audit's estimate.
type MemoryPlan struct {
	// Shards is the number of shards of keys and pairs. LeastShards is what it must be at least if a task is to hold
	// the keys of one.
	Shards, LeastShards int
	// PlaceBytes bounds the sets that a scoring task holds, at 8 bytes a shingle, and PairBytes its pairs at a time.
	PlaceBytes, PairBytes int64
	// LargeBytes is how many bytes of documents a task holds at most that does not wait for other large ones. Places of
	// ordinary documents hold no more.
	LargeBytes int64
	// CountBytes is how many bytes of shingles a task that counts them holds at most, and how many bytes of clusters a
	// task that writes them holds. It matters for very large corpora and clusters.
	CountBytes int64
	// KeyBytes is how many bytes of key records a task sorts at a time. It matters for very large corpora, whose shards
	// are as large as memory allows.
	KeyBytes int64
	// GraphBytes is about how much memory a step takes to find the connected components of a graph. No other task runs
	// next to it.
	GraphBytes int64
	// AheadBytes is how many bytes of small input files a task reads before it wants them, and how many of small files
	// of results it finishes while it writes others.
	AheadBytes int64
	// RunBytes is how many bytes of its run file a task buffers.
	RunBytes int
	// SampleBytes is how much memory the sample of an audit may take; 0 for no limit. A smaller sample is a rougher
	// estimate, so it depends on the size alone.
	SampleBytes int64
	// WindowBytes is the largest zstd window that is read. It depends on size alone: files with a larger one are
	// rejects.
	WindowBytes int64
}

// LeastMemory is the smallest limit worth trying, in bytes.
const LeastMemory = 100 << 20

// AmpleMemory is the size, in bytes, that a job is cut for unless the user sets a limit.
const AmpleMemory = 2 << 30

const (
	// shardBytes is the bytes of input for each shard of keys where memory does not matter. A shard reads a piece of
	// what each task has written, and a shorter piece costs more than a core's cache saves.
	shardBytes = 8 << 20
	// Up to fewShards, shards cost next to nothing. Beyond maxShards, their pieces become too small to be worth a read.
	fewShards = 512
	maxShards = 4096

	// A place reads a piece of what each task has sent. So places grow with the text, where there is memory.
	leastPlaceBytes, mostPlaceBytes = 1 << 20, 16 << 20
	manyPlaces                      = 4096
	leastRunBytes, mostRunBytes     = 1 << 20, 8 << 20

	// More than mostAheadBytes, in files of up to a quarter of it, would arrive no sooner.
	mostAheadBytes = 16 << 20

	// mostTaskBytes keeps a task from 2^32 items of 16 bytes or more, which package graphs could not number.
	mostTaskBytes = 16 << 30

	// pairsOfPlace is how many times the size of a place its pairs may take, if there is memory. Pairs that take more
	// are read several times.
	pairsOfPlace = 8
	// blocksOfPlace is how many times the size of a place the two blocks there hold, if their component is very large.
	blocksOfPlace = 4
	// Below leastLargeBytes, tasks are not large, however little memory there is.
	leastLargeBytes = 16 << 20

	// leastWindow is the window that RFC 8878 requires every decoder to support.
	leastWindow = 8 << 20

	// usualMemory is what the largest document that is accepted may bring the process to unless the user sets a limit.
	usualMemory = 600 << 20

	// baseMemory is the memory of a process without any task.
	baseMemory = 64 << 20
)

// DocumentBytes is how much memory a document may take, in bytes, while it becomes a fingerprint. It follows from
// [Config.Memory] alone, so it is the same on every machine.
func (c *Config) DocumentBytes() int64 {
	return documents.DocumentBytes(cmp.Or(c.ProcessMemory(), usualMemory))
}

// PlanMemory cuts a job over text bytes of text for a process that works on several tasks at a time. Memory is the size
// of the process in bytes, at least [LeastMemory]; 0 for ample.
func PlanMemory(memory, text int64, tasks int) MemoryPlan {
	isLimited := memory > 0
	window, sample := int64(corpus.DefaultWindow), int64(0)
	if isLimited {
		sample = (memory - baseMemory) / 4
		window = min(max(memory/8, leastWindow), corpus.MaxWindow)
	} else {
		memory = AmpleMemory
	}
	// The other half is for the garbage of a task, and for memory that belongs to no task.
	task := min(max((memory-baseMemory)/int64(2*tasks), 4<<20), mostTaskBytes)
	place := min(max(task/2, leastPlaceBytes), max(mostPlaceBytes, text/manyPlaces))
	large := blocksOfPlace * place
	if isLimited {
		large = min(large, task)
	}
	shards := max(min(text/shardBytes+1, fewShards), min(text/task+1, maxShards))
	return MemoryPlan{
		// While they are sorted, the keys of a text take up to its own size.
		Shards:      int(shards),
		KeyBytes:    min(text/shards, task),
		LeastShards: int(min(text/task+1, maxShards)),
		GraphBytes:  min((memory-baseMemory)/2, 2*mostTaskBytes),
		PlaceBytes:  place,
		PairBytes:   max(place, min(task/2, pairsOfPlace*place)),
		CountBytes:  task / 2, // in addition to the frequencies of one range, and the garbage of an earlier task
		LargeBytes:  max(large, leastLargeBytes),
		AheadBytes:  min(task/8, mostAheadBytes),
		RunBytes:    int(min(max(task/4, leastRunBytes), mostRunBytes)),
		SampleBytes: sample,
		WindowBytes: window,
	}
}
