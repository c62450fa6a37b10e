package job

import (
	"testing"

	"mirrorbeam.dev/internal/pairs/methods"
)

// TestMemoryPlan: less memory never makes a larger task. A task's part of the memory is enough for the keys of a shard,
// until the number of shards reaches its limit.
func TestMemoryPlan(t *testing.T) {
	for _, text := range []int64{0, 1, 1 << 20, 1 << 30, 1 << 40, 1 << 50} {
		for _, tasks := range []int{1, 2, 64} {
			last := PlanMemory(AmpleMemory, text, tasks)
			ample := PlanMemory(0, text, tasks)
			// any limit lowers them, even an ample one
			ample.WindowBytes, ample.LargeBytes, ample.SampleBytes = last.WindowBytes, last.LargeBytes, last.SampleBytes
			if ample != last {
				t.Errorf("text %d, %d tasks: no limit is not ample", text, tasks)
			}
			for memory := int64(AmpleMemory); memory >= LeastMemory; memory = memory * 3 / 4 {
				p := PlanMemory(memory, text, tasks)
				if p.Shards < 1 || p.Shards > maxShards || p.Shards < last.Shards || p.PlaceBytes > last.PlaceBytes ||
					p.RunBytes > last.RunBytes || p.GraphBytes > last.GraphBytes || p.GraphBytes > memory/2 ||
					p.GraphBytes < 16<<20 || p.SampleBytes > last.SampleBytes || p.SampleBytes < 8<<20 {
					t.Errorf("memory %d, text %d, %d tasks: %+v, with more memory %+v", memory, text, tasks, p, last)
				}
				task := max((memory-baseMemory)/int64(2*tasks), 4<<20)
				if text/int64(p.Shards) > task && p.Shards < maxShards || p.PlaceBytes > task ||
					int64(p.RunBytes) > task || p.AheadBytes > task/4 || p.AheadBytes > last.AheadBytes ||
					p.AheadBytes < 256<<10 || p.LargeBytes > max(task, leastLargeBytes) {
					t.Errorf("memory %d, text %d, %d tasks: %+v is more than the %d of a task", memory, text, tasks, p,
						task)
				}
				last = p
			}
		}
	}
}

// TestLargestTask: however much memory there is, a task holds fewer than 2^32 items of 16 bytes.
func TestLargestTask(t *testing.T) {
	p := PlanMemory(1<<50, 1<<60, 1)
	for name, size := range map[string]int64{"graph": p.GraphBytes, "keys": p.KeyBytes, "counts": p.CountBytes} {
		if size < 1<<30 || size >= 1<<32*16 {
			t.Errorf("%s: %d bytes", name, size)
		}
	}
}

// TestWorkerMemory: on a cluster the memory of a worker counts, and nothing depends on the cores of this machine. The
// local runner refuses it.
func TestWorkerMemory(t *testing.T) {
	config := Default()
	config.Input, config.Output = []string{"in"}, "out"
	config.Runner, config.Memory, config.WorkerMemory, config.Lanes = "flink", 200<<20, 1<<30, 5
	if err := config.Validate(); err != nil {
		t.Fatal(err)
	}
	want := Sizing{Lanes: 1, MemoryPlan: PlanMemory(1<<30, 1<<40, workerTasks)}
	if got := config.Sizing(1 << 40); got != want || config.ProcessMemory() != 1<<30 {
		t.Errorf("%+v, want %+v", got, want)
	}
	config.WorkerMemory = 0
	if got := config.ProcessMemory(); got != 200<<20 {
		t.Errorf("without a size of its own, a worker has %d bytes", got)
	}
	config.WorkerMemory = 1
	if err := config.Validate(); err == nil {
		t.Error("a byte is enough")
	}
	config.Runner, config.WorkerMemory = LocalRunner, 1<<30
	if err := config.Validate(); err == nil || config.ProcessMemory() != 200<<20 {
		t.Errorf("the local runner: %v", err)
	}
}

// TestSizingOfBands: a shard has about as many bytes of keys, however many bands there are.
func TestSizingOfBands(t *testing.T) {
	const text = 100 * shardBytes
	for bands, times := range map[int]int{1: 1, bandsOfText: 1, bandsOfText + 1: 2, 4 * bandsOfText: 4} {
		config := Default()
		config.Keys, config.Bands, config.Rows = methods.MinHash, bands, 3
		if got := config.Sizing(text).Shards; got != 100*times+1 {
			t.Errorf("%d bands: %d shards", bands, got)
		}
	}
}

// TestKeyBytes: a task sorts all keys of a shard at a time, unless there are as many shards as there may be and the
// memory is less.
func TestKeyBytes(t *testing.T) {
	for _, text := range []int64{1, 1 << 30, 1 << 40, 1 << 50} {
		p := PlanMemory(32<<30, text, workerTasks)
		task := 2 * p.CountBytes
		if p.KeyBytes > task+1 || p.KeyBytes < min(text/int64(p.Shards), task) {
			t.Errorf("%d bytes of text: %+v", text, p)
		}
	}
}
