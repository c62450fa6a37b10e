// Package work holds what the tasks of all stages work with. A task is a shard or a split, and the pieces of run files
// for it. It gets a [Desk], turns the pieces into one run file, and emits a small [Outcome]. A step between two stages
// gets a [Planning], and turns the outcomes of the first stage into the tasks of the second.
//
// Files have random names and are never changed, so a task may run twice.
package work

import (
	"encoding/binary"
	"math"
	"slices"

	"mirrorbeam/internal/carry/findings"
	"mirrorbeam/internal/ground/runfile"
)

// Task is the work of one element: a shard or a split, and the catalog of its pieces.
type Task struct {
	Number int
	// Step is the Step of its delivery.
	Step int
	// Shards is the number of output shards, or the Shards of the delivery.
	Shards int
	// Documents is the number of documents in the input.
	Documents int64
	// Shingles is the number of shingles in their sets together.
	Shingles int64
	Catalog  string
}

const taskHeader = 28

// Encode encodes the task as an element.
func (t Task) Encode() []byte {
	b := make([]byte, 0, taskHeader+len(t.Catalog))
	for _, number := range []int{t.Number, t.Step, t.Shards} {
		b = binary.LittleEndian.AppendUint32(b, uint32(number))
	}
	b = binary.LittleEndian.AppendUint64(b, uint64(t.Documents))
	b = binary.LittleEndian.AppendUint64(b, uint64(t.Shingles))
	return append(b, t.Catalog...)
}

// DecodeTask reads an element that Encode made.
func DecodeTask(element []byte) Task {
	number := func(i int) int { return int(binary.LittleEndian.Uint32(element[4*i:])) }
	return Task{
		Number: number(0), Step: number(1), Shards: number(2),
		Documents: int64(binary.LittleEndian.Uint64(element[12:])), Shingles: int64(binary.LittleEndian.Uint64(element[20:])),
		Catalog: string(element[taskHeader:]),
	}
}

// Delivery says which tasks an exchange makes and which pieces they get.
type Delivery struct {
	// Step distinguishes the tasks that different deliveries make for one stage.
	Step int
	// Needed holds kinds of records. Every shard with a record of one of them gets a task.
	Needed []runfile.Kind
	// Extra holds further kinds that the tasks get.
	Extra []runfile.Kind
	// Shards, if above 0, makes a task for every shard below it.
	Shards int
	// Output makes a task for every output shard.
	Output bool
}

// The number of shards of an output depends only on the documents, so the same corpus gives the same files. Each shard
// reads a piece of nearly every part of the input. So beyond manyDocuments it grows with their square root.
const (
	documentsPerShard = 100_000
	manyDocuments     = 100_000_000
)

// OutputShards returns the number of shards of an output.
func OutputShards(counts findings.Counts) int {
	documents := float64(counts.Documents)
	if documents > manyDocuments {
		documents = math.Sqrt(documents * manyDocuments)
	}
	return max(int(math.Ceil(documents/documentsPerShard)), 1)
}

// Deliver writes a catalog of the runs and emits the tasks.
func (d Delivery) Deliver(temp string, runs []string, counts findings.Counts, emit func(Task)) error {
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

// Planning is what a step gets that sees the outcomes of all earlier tasks and makes the next tasks.
type Planning struct {
	*Memory
	Runs Runs
	// Outcomes are in the order of stages and tasks. Counts is the sum of their counts.
	Outcomes []Outcome
	Counts   findings.Counts
	// Outcome is the step's own outcome, for steps that emit one.
	Outcome Outcome
	// Emit emits a task.
	Emit func(Task)
}

// Deliver makes the tasks of a delivery over the runs.
func (p *Planning) Deliver(d Delivery, runs []string) error {
	return d.Deliver(string(p.Runs.Folder), runs, p.Counts, p.Emit)
}
