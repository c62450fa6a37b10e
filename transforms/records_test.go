package transforms

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	"mirrorbeam/internal/candidates"
	"mirrorbeam/internal/components"
	"mirrorbeam/internal/corpus"
	"mirrorbeam/internal/docref"
	"mirrorbeam/internal/output"
	"mirrorbeam/internal/runfile"
	"mirrorbeam/internal/unionfind"
)

// TestRecords: every field of a record comes back, and none reaches beyond it.
func TestRecords(t *testing.T) {
	check := func(name string, size int, put func([]byte), get func([]byte) any, want any) {
		t.Helper()
		b := slices.Repeat([]byte{0xaa}, size+8)
		put(b[:size:size])
		if got := get(b[:size]); !reflect.DeepEqual(got, want) {
			t.Errorf("%s %+v, want %+v", name, got, want)
		}
	}
	key := candidates.Record{Key: 1<<63 | 2, Ref: 1<<62 | 2, Digest: 1<<61 | 3, Size: 1<<31 | 4, Previous: [candidates.MaxPrevious]uint32{1<<31 | 5, 1<<30 | 6}}
	check("key", keySize+2*4, func(b []byte) { putKey(b, key) }, func(b []byte) any {
		var got candidates.Record
		if rest := getKey(b, &got); len(rest) > 0 {
			t.Errorf("%d bytes are left of a key", len(rest))
		}
		return got
	}, key)
	ref := docref.Ref(1<<63 | 7)
	check("ref", refSize, func(b []byte) { putRef(b, ref) }, func(b []byte) any { return getRef(b) }, ref)
	place := components.Place{First: 1<<31 | 1, Blocks: 1<<15 | 2, Block: 1<<14 | 3}
	check("place", placeSize, func(b []byte) { putPlace(b, place, 1<<31|4) }, func(b []byte) any { return getPlace(b) }, place)
	check("star", placeSize, func(b []byte) { putPlace(b, place, 1<<31|4) }, func(b []byte) any { return getStar(b) }, uint32(1<<31|4))
	for _, crowded := range []candidates.Record{
		{Key: 1<<63 | 2, Ref: 1<<62 | 2, Input: 1<<62 | 2, Size: 1<<31 | 4, Position: 1<<29 | 1, First: true, Previous: [candidates.MaxPrevious]uint32{1<<31 | 5, 1<<30 | 6}},
		{Key: 1<<63 | 6, Ref: 3, Input: 1<<61 | 3, Size: 5, Position: 7, Previous: [candidates.MaxPrevious]uint32{1, 2, 3, 4, 5, 1<<30 | 6}},
	} {
		size := crowdedSize + 4*crowded.Known()
		if crowded.Input != crowded.Ref {
			size += refSize
		}
		check("document of a crowd", size, func(b []byte) { putCrowded(b, &crowded) }, func(b []byte) any {
			got := candidates.Record{Key: crowded.Key}
			if rest := getCrowded(b, &got); len(rest) > 0 {
				t.Errorf("%d bytes are left of a document of a crowd", len(rest))
			}
			return got
		}, crowded)
	}
	for _, estimate := range []bool{false, true} {
		e := newEdge(1<<30|3, 1<<30|4, estimate)
		e.A, e.B = 1<<31|1, 1<<30|2
		check("edge", edgeSize, func(b []byte) { putEdge(b, e) }, func(b []byte) any { return getEdge(b) }, e)
	}
	at := position{1<<31 | 1, 1<<30 | 2}
	check("position", positionSize, func(b []byte) { at.put(b) }, func(b []byte) any { return getPosition(b) }, at)
}

// TestEdgeIdentical: an estimate of 1 does not make documents identical.
func TestEdgeIdentical(t *testing.T) {
	for _, c := range []struct {
		edge
		want bool
	}{
		{newEdge(5, 5, false), true},
		{newEdge(0, 0, false), true}, // two documents without tokens
		{newEdge(4, 5, false), false},
		{newEdge(128, 128, true), false},
		{edge{Shared: 5, total: 5 | heapMark}, true},
		{edge{Shared: 5, total: 5 | heapMark | estimateMark}, false},
	} {
		if got := c.identical(); got != c.want {
			t.Errorf("%+v: %v", c.edge, got)
		}
	}
}

// TestPart writes the nodes of a part of a graph and reads them back.
func TestPart(t *testing.T) {
	want := components.Part{Refs: []docref.Ref{9, 2, 1 << 60}, Weights: []uint32{1, 1 << 31, 3}, Parents: unionfind.Forest{0, 0, 2}}
	w := runfile.NewWriter(t.TempDir(), 1<<20)
	defer w.Abort()
	if err := writePart(w, nodesKind, 4, want); err != nil {
		t.Fatal(err)
	}
	path, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	pieces, err := runfile.Pieces(path)
	if err != nil {
		t.Fatal(err)
	}
	var reader runfile.Reader
	defer reader.Close()
	packed, err := reader.ReadKind(nil, pieces, nodesKind)
	if err != nil {
		t.Fatal(err)
	}
	if got := decodePart(components.Part{}, packed); !reflect.DeepEqual(got, want) {
		t.Errorf("part %+v, want %+v", got, want)
	}
}

// TestShardOf cuts the range of hashes into shards of equal width, in order.
func TestShardOf(t *testing.T) {
	for _, shards := range []int{1, 2, 3, 50, 1024} {
		if shardOf(0, shards) != 0 || shardOf(1<<64-1, shards) != shards-1 {
			t.Errorf("%d shards: the ends are in %d and %d", shards, shardOf(0, shards), shardOf(1<<64-1, shards))
		}
		count := make([]int, shards)
		random := rand.New(rand.NewPCG(1, 2))
		last := uint64(0)
		for range 200 * shards {
			hash := random.Uint64()
			count[shardOf(hash, shards)]++
			if (hash < last) != (shardOf(hash, shards) < shardOf(last, shards)) && shardOf(hash, shards) != shardOf(last, shards) {
				t.Fatalf("%d shards: the order of %x and %x is lost", shards, hash, last)
			}
			last = hash
		}
		if slices.Min(count) < 100 || slices.Max(count) > 400 {
			t.Errorf("%d shards get from %d to %d of 200 each", shards, slices.Min(count), slices.Max(count))
		}
	}
}

// TestOrder cuts clusters into output shards: none is torn apart, they stand by
// their first documents, shards are as even as that allows, and what is not listed
// has no place.
func TestOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		n, shards := random.IntN(60), 1+random.IntN(6)
		roots := unionfind.New(n)
		largest := 1
		size := make([]int, n)
		for i := range roots {
			if j := random.IntN(i + 1); random.IntN(2) == 0 {
				roots[i] = roots[j]
			}
			size[roots[i]]++
			largest = max(largest, size[roots[i]])
		}
		listed := make([]bool, n)
		for i := range listed {
			listed[i] = random.IntN(4) > 0
		}
		var ranks []int
		for i, root := range roots {
			if listed[root] {
				ranks = append(ranks, i)
			}
		}
		slices.SortStableFunc(ranks, func(a, b int) int { return int(roots[a]) - int(roots[b]) })
		o := newOrder(roots, listed, shards)
		for i, root := range roots {
			if o.has(uint32(i)) != listed[root] || !listed[root] && o.of(uint32(i)).Shard != nowhere {
				t.Fatalf("roots %v: document %d is at %+v, listed: %v", roots, i, o.of(uint32(i)), listed[root])
			}
		}
		next, count := position{}, make([]int, shards)
		for i, rank := range ranks {
			got := o.of(uint32(rank))
			if got.Shard > next.Shard && got.Number == 0 && int(roots[rank]) == rank {
				next = got // a shard begins, with the first of a cluster
			}
			if got != next {
				t.Fatalf("roots %v in %d shards: document %d, number %d in the order, is at %+v, want %+v", roots, shards, rank, i, got, next)
			}
			next.Number++
			count[got.Shard]++
		}
		if n > 0 && slices.Max(count) > len(ranks)/shards+largest {
			t.Errorf("roots %v: shards of %v", roots, count)
		}
	}
}

// TestSplitOf finds the split of every document, also where splits hold many
// files and files many splits.
func TestSplitOf(t *testing.T) {
	in := Inputs{
		Files: []corpus.File{{Name: "a", Size: 10}, {Name: "b", Size: 10}, {Name: "empty"}, {Name: "d", Size: 100}, {Name: "e", Size: 5}},
		Splits: []corpus.Split{
			{{File: 0, End: 10}, {File: 1, End: 10}}, {{File: 3, End: 50}}, {{File: 3, Start: 50, End: 100}}, {{File: 4, End: 5}},
		},
	}
	path := filepath.Join(t.TempDir(), "inputs.gob")
	if err := WriteInputs(path, in); err != nil {
		t.Fatal(err)
	}
	read, err := readInputs(path)
	if err != nil || !reflect.DeepEqual(*read, in) {
		t.Fatalf("inputs %+v (%v)", read, err)
	}
	starts, err := read.splitStarts()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		file     int
		position int64
		want     int
	}{{0, 0, 0}, {0, 9, 0}, {1, 0, 0}, {1, 9, 0}, {3, 0, 1}, {3, 49, 1}, {3, 50, 2}, {3, 99, 2}, {4, 0, 3}, {4, docref.MaxPosition, 3}} {
		ref, err := docref.New(c.file, c.position)
		if err != nil {
			t.Fatal(err)
		}
		if got := splitOf(starts, ref); got != c.want {
			t.Errorf("%s is in split %d, want %d", read.refText(nil, ref), got, c.want)
		}
	}
	if _, err := readInputs(path + "x"); err == nil {
		t.Error("no list of inputs, yet no error")
	}
}

// TestFaults: an error comes back out of what a runner makes of it, whatever the
// names of files in it.
func TestFaults(t *testing.T) {
	hostile := faultMark + ` "input" "" "" "x" (end) ` + faultMark + "\xff\n no space left on device"
	_, missing := os.Open("/does/not/exist/" + hostile)
	full := &os.LinkError{Op: "rename", Old: "a", New: "b", Err: syscall.ENOSPC}
	for _, c := range []struct {
		err  error
		want Fault
	}{
		{errors.New("digest is wrong"), Fault{Kind: OtherFault}},
		{errors.New(hostile), Fault{Kind: OtherFault}},
		{fmt.Errorf("read (all): %w", missing), Fault{Kind: StorageFault, Errno: "ENOENT", Path: "/does/not/exist/" + hostile}},
		{inputError{missing}, Fault{Kind: InputFault, Errno: "ENOENT", Path: "/does/not/exist/" + hostile}},
		{fmt.Errorf("split 3: %w", inputError{errors.New("cut short: twice (here)")}), Fault{Kind: InputFault}},
		{fmt.Errorf("write: %w", full), Fault{Kind: StorageFault, Errno: "ENOSPC", Path: "b"}},
		{fs.ErrInvalid, Fault{Kind: OtherFault}},
	} {
		c.want.Text = c.err.Error()
		if got, found := FaultOf(fmt.Errorf("wrapped: %w", markFault(c.err))); !found || got != c.want {
			t.Errorf("%v: wrapped, it is %+v, found %v, want %+v", c.err, got, found, c.want)
		}
		text := fmt.Sprintf("job failed: "+faultMark+" bundle 7\n\tcaused by:\n%v\n\tcaused by:\nfull error:\n%v (in plan)\nmore", markFault(c.err), markFault(c.err))
		if got, found := FaultOf(errors.New(text)); !found || got != c.want {
			t.Errorf("%v: as text, it is %+v, found %v, want %+v", c.err, got, found, c.want)
		}
	}
	if _, found := FaultOf(errors.New("a runner's own fault")); found {
		t.Error("found a fault where there is none")
	}
	if text := markFault(errors.New("x\ny")).Error(); strings.Contains(text, "\n") {
		t.Errorf("a fault of several lines: %q", text)
	}
}

// TestPathsTravel: names that are not UTF-8 come through the encodings of Beam.
func TestPathsTravel(t *testing.T) {
	const path = "/tmp/caf\xe9/\xff"
	job := Job{Temp: path, Partial: path + "p", Inputs: path + "i", Lanes: 3, Emit: []string{output.Pairs}}
	checkTravels(t, &writeFn{Job: job}, &writeFn{})
	checkTravels(t, &exchangeFn{Temp: []byte(path), Delivery: delivery{Step: 1, Output: true}}, &exchangeFn{})
	checkTravels(t, &finishFn{Temp: []byte(path)}, &finishFn{})
	checkTravels(t, &readFn{Inputs: []byte(path)}, &readFn{})
	checkTravels(t, &outcome{Stage: "key", Run: path, Counts: Counts{Documents: 7}, Files: []output.File{{Name: "n", Temporary: "t"}}}, &outcome{})
}

// checkTravels encodes a value into another one.
func checkTravels(t *testing.T, from, to any) {
	t.Helper()
	b, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(b, to)
	}
	if err != nil || !reflect.DeepEqual(from, to) {
		t.Errorf("%s made %+v, want %+v (%v)", b, to, from, err)
	}
}
