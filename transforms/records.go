package transforms

import (
	"encoding/binary"

	"mirrorbeam/internal/candidates"
	"mirrorbeam/internal/components"
	"mirrorbeam/internal/docref"
	"mirrorbeam/internal/runfile"
)

// The kinds of records that cross an exchange, and what their shard is.
const (
	documentsKind    runfile.Kind = iota + 1 // documents of a sketch block, by split
	setsKind                                 // sets of the same block, by split
	rejectsKind                              // rows of rejects, shard 0
	keysKind                                 // key records, by range of keys
	fingerprintsKind                         // SimHash fingerprints by their prefixes, by range of keys
	idsKind                                  // hashes of ids, by range of hashes
	repeatedKind                             // documents whose id is not theirs alone, by split
	counterKind                              // a counter of shingles, shard 0
	orderKind                                // the order of shingles, shard 0
	crowdsKind                               // key records of groups that wait, by range of keys
	limitKind                                // which of these are dense, by range of keys
	nodesKind                                // nodes of a part of the candidate graph, by range of keys
	numbersKind                              // candidate pairs of that part
	placesKind                               // the place of each of its nodes
	wantedKind                               // documents to be scored and their places, by split
	placeSetsKind                            // sets of documents, by place
	placePairsKind                           // pairs to be scored, by place
	sampleKind                               // sampled documents: with their sets by split, then with their classes
	auditKind                                // classes of equal documents that are partners of sampled ones
	edgeNodesKind                            // nodes of a part of the similarity graph, by part
	edgesKind                                // verified edges of that part
	edgeShardsKind                           // the output shard of each of its nodes
	membersKind                              // documents of clusters and their shards, by split
	shardMembersKind                         // documents of clusters, by output shard
	shardEdgesKind                           // edges, by output shard
	removedKind                              // documents that go, by unique task
	spansKind                                // passages that the pairs of a part have in common, by part
	shardSpansKind                           // the same, by output shard
	heapMembersKind                          // documents of dense groups, by range of keys
	heapsKind                                // how many documents of heaps a place has, by place
	starsKind                                // documents that are like one leader, by heap
	uncheckedKind                            // leaders that were not compared with all others, by split
	blocksKind                               // a mark of each block, by place
	probeKind                                // documents to look for partners in, with their sets, by split
	sumsKind                                 // check sums of the stretches of a split, by split
	digestsKind                              // key records that only bring equal documents together, by range of keys
	distinctKind                             // documents that are compared with all others, by range of keys
)

const (
	keySize    = 32 // and 4 for each previous key
	idSize     = 16
	refSize    = 8
	numberSize = 8
	nodeSize   = 16
	placeSize  = 12
	edgeSize   = 16
)

// firstKey says in a bit of a key record's position that it is of the document's first
// key.
const firstKey = 1 << 30

func putKey(b []byte, r candidates.Record) {
	binary.LittleEndian.PutUint64(b, r.Key)
	binary.LittleEndian.PutUint64(b[8:], uint64(r.Ref))
	binary.LittleEndian.PutUint64(b[16:], r.Digest)
	binary.LittleEndian.PutUint32(b[24:], r.Size)
	position := r.Position
	if r.First {
		position |= firstKey
	}
	binary.LittleEndian.PutUint32(b[28:], position)
	for i, key := range r.Previous[:r.Known()] {
		binary.LittleEndian.PutUint32(b[keySize+4*i:], key)
	}
}

// getKey reads a record and returns what follows it.
func getKey(b []byte, r *candidates.Record) []byte {
	*r = candidates.Record{
		Key:    binary.LittleEndian.Uint64(b),
		Ref:    docref.Ref(binary.LittleEndian.Uint64(b[8:])),
		Digest: binary.LittleEndian.Uint64(b[16:]),
		Size:   binary.LittleEndian.Uint32(b[24:]),
	}
	position := binary.LittleEndian.Uint32(b[28:])
	r.Position, r.First = position&^firstKey, position&firstKey != 0
	b = b[keySize:]
	for i := range r.Known() {
		r.Previous[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return b[4*r.Known():]
}

// previousKey returns, of a packed record, the key that its document has had before it, as
// [candidates.Buckets.CountLink] asks for it.
func previousKey(b []byte, keys Keys) uint64 {
	known := candidates.KnownOf(binary.LittleEndian.Uint64(b))
	if known == 0 || binary.LittleEndian.Uint32(b[28:])&firstKey != 0 {
		return candidates.Unmet
	}
	latest := binary.LittleEndian.Uint32(b[keySize:])
	if keys == ExactKeys {
		return candidates.PreviousShingle(latest, binary.LittleEndian.Uint32(b[keySize+4:]))
	}
	return uint64(latest)
}

// crowdedSize is the size of a document of a crowd, and 4 for each previous key, and
// refSize where another document of its class is the first of the input.
const crowdedSize = 16

// hasInput says in a bit of the position that this is so.
const hasInput = 1 << 31

func putCrowded(b []byte, r *candidates.Record) {
	putRef(b, r.Ref)
	binary.LittleEndian.PutUint32(b[8:], r.Size)
	position := r.Position
	if r.First {
		position |= firstKey
	}
	if r.Input != r.Ref {
		position |= hasInput
		putRef(b[len(b)-refSize:], r.Input)
	}
	binary.LittleEndian.PutUint32(b[12:], position)
	for i, key := range r.Previous[:r.Known()] {
		binary.LittleEndian.PutUint32(b[crowdedSize+4*i:], key)
	}
}

// getCrowded reads a document of a crowd with that key, and returns what follows it.
func getCrowded(b []byte, r *candidates.Record) []byte {
	ref := getRef(b)
	*r = candidates.Record{Key: r.Key, Ref: ref, Input: ref, Size: binary.LittleEndian.Uint32(b[8:])}
	position := binary.LittleEndian.Uint32(b[12:])
	r.Position, r.First = position&^(firstKey|hasInput), position&firstKey != 0
	b = b[crowdedSize:]
	for i := range r.Known() {
		r.Previous[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	b = b[4*r.Known():]
	if position&hasInput != 0 {
		r.Input = getRef(b)
		b = b[refSize:]
	}
	return b
}

func putRef(b []byte, ref docref.Ref) { binary.LittleEndian.PutUint64(b, uint64(ref)) }

func getRef(b []byte) docref.Ref { return docref.Ref(binary.LittleEndian.Uint64(b)) }

// putPlace writes the place of a node and the star that it is in, 0 if it is in none.
func putPlace(b []byte, p components.Place, star uint32) {
	binary.LittleEndian.PutUint32(b, p.First)
	binary.LittleEndian.PutUint16(b[4:], p.Blocks)
	binary.LittleEndian.PutUint16(b[6:], p.Block)
	binary.LittleEndian.PutUint32(b[8:], star)
}

func getPlace(b []byte) components.Place {
	return components.Place{
		First:  binary.LittleEndian.Uint32(b),
		Blocks: binary.LittleEndian.Uint16(b[4:]),
		Block:  binary.LittleEndian.Uint16(b[6:]),
	}
}

func getStar(b []byte) uint32 { return binary.LittleEndian.Uint32(b[8:]) }

// writePart writes the nodes of a part of a graph.
func writePart(run *runfile.Writer, kind runfile.Kind, shard int, part components.Part) error {
	for i, ref := range part.Refs {
		if err := writeNode(run, kind, shard, ref, part.Weights[i], part.Parents[i]); err != nil {
			return err
		}
	}
	return nil
}

// writeNode writes a node: ref, weight, parent.
func writeNode(run *runfile.Writer, kind runfile.Kind, shard int, ref docref.Ref, weight, parent uint32) error {
	b, err := run.Record(kind, shard, nodeSize)
	if err == nil {
		putRef(b, ref)
		binary.LittleEndian.PutUint32(b[8:], weight)
		binary.LittleEndian.PutUint32(b[12:], parent)
	}
	return err
}

// decodePart reads what writePart wrote, into the memory of part.
func decodePart(part components.Part, nodes []byte) components.Part {
	part = components.Part{Refs: part.Refs[:0], Weights: part.Weights[:0], Parents: part.Parents[:0]}
	for ; len(nodes) > 0; nodes = nodes[nodeSize:] {
		part.Refs = append(part.Refs, getRef(nodes))
		part.Weights = append(part.Weights, binary.LittleEndian.Uint32(nodes[8:]))
		part.Parents = append(part.Parents, binary.LittleEndian.Uint32(nodes[12:]))
	}
	return part
}

// edge is a verified edge between two nodes of a part.
type edge struct {
	A, B uint32
	// Shared and total count shingles: their quotient is the similarity. Where it
	// is an estimate they count the smallest hashes of the union instead, and
	// total has a mark.
	Shared, total uint32
}

const (
	estimateMark = 1 << 31
	// hammingMark: what is counted are bits that agree, and all bits.
	hammingMark = 1 << 30
	// heapMark: it joins a document of a heap to a leader.
	heapMark = 1 << 29

	marks = estimateMark | hammingMark | heapMark
)

// hammingEdge returns an edge of fingerprints that differ in so many of their bits.
func hammingEdge(distance, bits int) edge {
	return edge{Shared: uint32(bits - distance), total: uint32(bits) | hammingMark}
}

// newEdge returns an edge of that similarity, whose nodes are still to be set.
func newEdge(shared, union int, estimate bool) edge {
	e := edge{Shared: uint32(shared), total: uint32(union)}
	if estimate {
		e.total |= estimateMark
	}
	return e
}

// union returns how many shingles are in either document, estimate whether the
// similarity is an estimate.
func (e edge) union() uint32  { return e.total &^ marks }
func (e edge) estimate() bool { return e.total&estimateMark != 0 }

// hamming returns the Hamming distance of the nodes' fingerprints, if that is what
// the edge rests on.
func (e edge) hamming() (distance uint32, is bool) {
	return e.union() - e.Shared, e.total&hammingMark != 0
}

// similarity returns the Jaccard similarity of the nodes, or the share of their bits
// that agree.
func (e edge) similarity() float64 { return float64(e.Shared) / float64(e.union()) }

// identical reports whether the edge joins documents that are the same under
// the measure.
func (e edge) identical() bool { return e.Shared == e.total&^(hammingMark|heapMark) }

// heap reports whether the edge joins a document of a heap to a leader.
func (e edge) heap() bool { return e.total&heapMark != 0 }

func putEdge(b []byte, e edge) {
	binary.LittleEndian.PutUint32(b, e.A)
	binary.LittleEndian.PutUint32(b[4:], e.B)
	binary.LittleEndian.PutUint32(b[8:], e.Shared)
	binary.LittleEndian.PutUint32(b[12:], e.total)
}

func getEdge(b []byte) edge {
	return edge{
		A: binary.LittleEndian.Uint32(b), B: binary.LittleEndian.Uint32(b[4:]),
		Shared: binary.LittleEndian.Uint32(b[8:]), total: binary.LittleEndian.Uint32(b[12:]),
	}
}
