package work

import (
	"encoding/binary"
	"slices"

	"mirrorbeam/internal/runfile"
)

// Task is the work of one element: a shard, or a split, and the catalog with
// the pieces for it.
type Task struct {
	Number int
	// Step is that of the delivery.
	Step int
	// Shards is the number of output shards, or that of the delivery.
	Shards int
	// Documents is how many there are in the input.
	Documents int64
	// Shingles is how many their sets hold in sum.
	Shingles int64
	Catalog  string
}

const taskHeader = 28

func (t Task) Encode() []byte {
	b := make([]byte, 0, taskHeader+len(t.Catalog))
	for _, number := range []int{t.Number, t.Step, t.Shards} {
		b = binary.LittleEndian.AppendUint32(b, uint32(number))
	}
	b = binary.LittleEndian.AppendUint64(b, uint64(t.Documents))
	b = binary.LittleEndian.AppendUint64(b, uint64(t.Shingles))
	return append(b, t.Catalog...)
}

func DecodeTask(element []byte) Task {
	number := func(i int) int { return int(binary.LittleEndian.Uint32(element[4*i:])) }
	return Task{
		Number: number(0), Step: number(1), Shards: number(2),
		Documents: int64(binary.LittleEndian.Uint64(element[12:])), Shingles: int64(binary.LittleEndian.Uint64(element[20:])),
		Catalog: string(element[taskHeader:]),
	}
}

// Delivery says which tasks an exchange makes and what it hands them.
type Delivery struct {
	// Step tells tasks of different deliveries to one DoFn apart.
	Step int
	// Needed kinds make a task for every shard that has records of one of them.
	Needed []runfile.Kind
	// Extra kinds are handed to the tasks as well.
	Extra []runfile.Kind
	// Shards, where above 0, makes a task for every shard below it.
	Shards int
	// Output makes a task for every output shard.
	Output bool
}

// documentsPerShard sets the number of shards of an output. It depends on the
// number of documents only, so that the same corpus gives the same files.
const documentsPerShard = 100_000

// OutputShards returns the number of shards of an output.
func OutputShards(counts Counts) int {
	return max(int((counts.Documents+documentsPerShard-1)/documentsPerShard), 1)
}

// Deliver writes a catalog of the runs and puts out the tasks.
func (d Delivery) Deliver(temp string, runs []string, counts Counts, emit func(Task)) error {
	all := d.Shards
	if d.Output {
		all = OutputShards(counts)
	}
	if len(runs) == 0 && all == 0 {
		return nil
	}
	catalog, shards, err := runfile.WriteCatalog(temp, runs, d.Needed, d.Extra)
	if err != nil {
		return err
	}
	for shard := range all {
		if _, found := slices.BinarySearch(shards, shard); !found {
			shards = append(shards, shard)
		}
	}
	slices.Sort(shards)
	for _, shard := range slices.Compact(shards) {
		emit(Task{Number: shard, Step: d.Step, Shards: all, Documents: counts.Documents, Catalog: catalog})
	}
	return nil
}
