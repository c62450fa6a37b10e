// Package sketchblock lays out sketch blocks: what a job keeps of a run of
// documents after it has read them, so that no text is read twice.
//
// A block is two stretches of bytes. Its documents come column by column, so
// that a stage that wants keys or ids does not pass over the sets:
//
//	header   format, documents n, keys a document k, words of SimHash s, columns c, length of the ids: 4 bytes each;
//	         c has a bit for each of stored, priority, scopes, sides, sources, resolved and captures that there are
//	refs     docref, ascending; like sizes, stored and ends, a list of [numbers], which takes one to three bytes for most documents
//	sizes    distinct shingles of the document
//	stored   how many hashes the sets hold of it: the smallest, or the room of as many; missing if they hold all
//	id ends  where the document's id ends in ids; an empty id is none
//	capture ends    where the document's capture ends in captures; these two are missing if no document has one
//	digests  16 n   hash of the set, or of the bytes of a document without tokens
//	keys     8 n k  band keys
//	simhash  8 n s  SimHash fingerprints
//	priority 8 n    how preferred the document is, exclusive or [preference.Leading]
//	scopes   8 n    hash of what the document shares with those that it is compared with
//	sides    8 n    hash of that in which it differs from them
//	sources  8 n    hash of what makes it part of a source
//	resolved 8 n    1 if it gets no keys
//	ties     16 n   how preferred it is among documents of equal priority, in two columns
//	                of priority to ties, a column of zeros is missing
//	ids
//	captures
//
// The sets follow each other in the order of the documents: shingle hashes of 48 bits, 6 bytes each, ascending, or
// sequences of shingles with their places; see [AppendSequence]. All integers are little-endian.
package sketchblock

import (
	"encoding/binary"
	"errors"
	"iter"
	"math"
	"math/bits"
	"slices"

	"github.com/zeebo/xxh3"

	"mirrorbeam.dev/asmkernels"
	"mirrorbeam.dev/internal/keep/preference"
	"mirrorbeam.dev/internal/records/digest"
	"mirrorbeam.dev/internal/records/docref"
)

const (
	// Layout is the number of this layout. It changes with the layout.
	Layout = 7

	HeaderSize = 24
	// HashSize is the size of a stored shingle hash in bytes.
	HashSize = 6
)

// The columns that a block may lack.
const (
	withStored = 1 << iota
	// withColumn is for the first column of hashes, and the bits after it for the others.
	withColumn
	withCaptures = withColumn << firstTie
)

// withColumnOf returns the bit of a column of hashes. Ties came later than captures.
func withColumnOf(column int) uint32 {
	if column >= firstTie {
		column++
	}
	return withColumn << column
}

// The columns of hashes, in their order.
const (
	priorities = iota
	scopes
	sides
	sources
	resolved
	firstTie
	secondTie
	columnCount
)

// Document is one document as a block takes it in.
type Document struct {
	Ref    docref.Ref
	Digest digest.Digest
	// Set holds the distinct shingle hashes, ascending, below 2^48; where not
	// all are to be stored, the smallest of them.
	Set []uint64
	// Sequence is what is stored instead of Set, as [AppendSequence] wrote it; nil where Set is.
	Sequence []byte
	// Size is the number of distinct shingles, at least len(Set).
	Size     int
	Priority preference.Priority
	Ties     preference.Ties
	// Scope is the hash of the value of --within, in which compared documents must agree, 0 if all are compared.
	Scope uint64
	// Side is the hash of the value in which compared documents must differ, 0 if all are compared.
	Side uint64
	// Source is the hash of the value that makes the document part of a source, 0 if no value does.
	Source uint64
	// IsResolved says that all pairs of the document are known, so that it gets no keys.
	IsResolved bool
	// Keys are the band keys, as many as the builder was made for.
	Keys []uint64
	// SimHash is the SimHash fingerprint, of as many words as the builder was made for.
	SimHash []uint64
	// ID is the user's id; empty if there is none.
	ID []byte
	// Capture is what else is known of a web page, as package records packs it; empty if nothing is.
	Capture []byte
}

// Builder collects the documents of one block. Not for concurrent use.
type Builder struct {
	keys    int
	simhash int
	needed  uint32 // the columns that a document needs
	digests []byte
	keyed   []byte
	simmed  []byte
	columns [columnCount][]byte
	ids     []byte
	sets    []byte
	n       int

	refs, sizes, stored, idEnds, captureEnds []uint64

	captures, numbers []byte
}

// NewBuilder returns a builder of blocks with that many keys and words of SimHash a document.
func NewBuilder(keys, simhash int) *Builder { return &Builder{keys: keys, simhash: simhash} }

func (b *Builder) Len() int { return b.n }

// Add takes in a document; refs must ascend.
func (b *Builder) Add(d Document) {
	b.n++
	b.refs = append(b.refs, uint64(d.Ref))
	b.digests = d.Digest.Append(b.digests)
	for _, key := range d.Keys {
		b.keyed = binary.LittleEndian.AppendUint64(b.keyed, key)
	}
	for _, word := range d.SimHash {
		b.simmed = binary.LittleEndian.AppendUint64(b.simmed, word)
	}
	b.sizes = append(b.sizes, uint64(d.Size))
	before := len(b.sets)
	if d.Sequence != nil {
		b.sets = append(b.sets, d.Sequence...)
	} else {
		b.sets = AppendPacked(b.sets, d.Set)
	}
	stored := (len(b.sets) - before) / HashSize
	if stored != d.Size {
		b.needed |= withStored
	}
	b.stored = append(b.stored, uint64(stored))
	hashes := [columnCount]uint64{uint64(d.Priority ^ preference.Leading), d.Scope, d.Side, d.Source}
	hashes[firstTie], hashes[secondTie] = uint64(d.Ties[0]), uint64(d.Ties[1])
	if d.IsResolved {
		hashes[resolved] = 1
	}
	for column, hash := range hashes {
		if hash != 0 {
			b.needed |= withColumnOf(column)
		}
		b.columns[column] = binary.LittleEndian.AppendUint64(b.columns[column], hash)
	}
	b.ids = append(b.ids, d.ID...)
	b.idEnds = append(b.idEnds, uint64(len(b.ids)))
	if len(d.Capture) > 0 {
		b.needed |= withCaptures
		b.captures = append(b.captures, d.Capture...)
	}
	b.captureEnds = append(b.captureEnds, uint64(len(b.captures)))
}

// Documents returns the documents' bytes in parts; valid until the next Reset.
func (b *Builder) Documents() [][]byte {
	header := make([]byte, 0, HeaderSize)
	header = binary.LittleEndian.AppendUint32(header, Layout)
	header = binary.LittleEndian.AppendUint32(header, uint32(b.n))
	header = binary.LittleEndian.AppendUint32(header, uint32(b.keys))
	header = binary.LittleEndian.AppendUint32(header, uint32(b.simhash))
	header = binary.LittleEndian.AppendUint32(header, b.needed)
	header = binary.LittleEndian.AppendUint32(header, uint32(len(b.ids)))
	b.numbers = appendNumbers(appendNumbers(b.numbers[:0], b.refs), b.sizes)
	if b.needed&withStored != 0 {
		b.numbers = appendNumbers(b.numbers, b.stored)
	}
	b.numbers = appendNumbers(b.numbers, b.idEnds)
	if b.needed&withCaptures != 0 {
		b.numbers = appendNumbers(b.numbers, b.captureEnds)
	}
	parts := [][]byte{header, b.numbers, b.digests, b.keyed, b.simmed}
	for column, hashes := range b.columns {
		if b.needed&withColumnOf(column) != 0 {
			parts = append(parts, hashes)
		}
	}
	return append(parts, b.ids, b.captures)
}

// Sets returns the bytes of the sets; valid until the next Reset.
func (b *Builder) Sets() []byte { return b.sets }

// Each visits the documents that were collected: the scope and the bytes of the set or sequence of each.
func (b *Builder) Each(visit func(scope uint64, set []byte) bool) {
	sets := b.sets
	for i := range b.n {
		size := HashSize * int(b.stored[i])
		if !visit(hashAt(b.columns[scopes], i), sets[:size:size]) {
			return
		}
		sets = sets[size:]
	}
}

// keepBytes is the size of the largest sets whose memory is reused: one huge document must not burden the job.
const keepBytes = 8 << 20

// Reset empties the builder and keeps its memory.
func (b *Builder) Reset() {
	if cap(b.sets) > keepBytes {
		b.sets = nil
	}
	for column := range b.columns {
		b.columns[column] = b.columns[column][:0]
	}
	*b = Builder{
		keys:        b.keys,
		simhash:     b.simhash,
		columns:     b.columns,
		refs:        b.refs[:0],
		sizes:       b.sizes[:0],
		stored:      b.stored[:0],
		idEnds:      b.idEnds[:0],
		captureEnds: b.captureEnds[:0],
		digests:     b.digests[:0],
		keyed:       b.keyed[:0],
		simmed:      b.simmed[:0],
		ids:         b.ids[:0],
		captures:    b.captures[:0],
		sets:        b.sets[:0],
		numbers:     b.numbers[:0],
	}
}

// Block reads the documents of one block in place.
type Block struct {
	n, keys, simhash                         int
	refs, sizes, stored, idEnds, captureEnds numbers
	digests, keyed, simmed, id               []byte
	columns                                  [columnCount][]byte
	captures                                 []byte     // nil if no document has one
	moved                                    docref.Ref // what is added to each ref
}

// Parse reads the header of a block's documents. The block aliases them.
func Parse(documents []byte) (Block, error) {
	damaged := errors.New("sketch block is damaged")
	if len(documents) < HeaderSize {
		return Block{}, damaged
	}
	if f := binary.LittleEndian.Uint32(documents); f != Layout {
		return Block{}, errors.New("sketch block has another format: written by another version of this program")
	}
	n := int(binary.LittleEndian.Uint32(documents[4:]))
	keys := int(binary.LittleEndian.Uint32(documents[8:]))
	simhash := int(binary.LittleEndian.Uint32(documents[12:]))
	needed := binary.LittleEndian.Uint32(documents[16:])
	ids := int(binary.LittleEndian.Uint32(documents[20:]))
	b := Block{n: n, keys: keys, simhash: simhash}
	rest, err := b.takeNumbers(documents[HeaderSize:], needed)
	size := n*(digest.Size+8*keys+8*simhash+8*bits.OnesCount32(needed&^(withStored|withCaptures))) + ids
	if err != nil || needed >= 2*withColumnOf(secondTie) || len(rest) < size {
		return Block{}, damaged
	}
	take := func(size int) []byte {
		column := rest[:size:size]
		rest = rest[size:]
		return column
	}
	b.digests, b.keyed, b.simmed = take(digest.Size*n), take(8*n*keys), take(8*n*simhash)
	for column := range b.columns {
		if needed&withColumnOf(column) != 0 {
			b.columns[column] = take(8 * n)
		}
	}
	b.id = take(ids)
	if needed&withCaptures != 0 {
		b.captures, rest = rest, nil
	}
	if len(rest) > 0 || n > 0 && (b.idEnds.at(n-1) != uint64(ids) ||
		b.captures != nil && b.captureEnds.at(n-1) != uint64(len(b.captures))) {
		return Block{}, damaged
	}
	return b, nil
}

func (b *Block) takeNumbers(rest []byte, needed uint32) (_ []byte, err error) {
	lists := []*numbers{&b.refs, &b.sizes}
	if needed&withStored != 0 {
		lists = append(lists, &b.stored)
	}
	if lists = append(lists, &b.idEnds); needed&withCaptures != 0 {
		lists = append(lists, &b.captureEnds)
	}
	for _, list := range lists {
		if err == nil {
			*list, rest, err = takeNumbers(rest, b.n)
		}
	}
	if needed&withStored == 0 {
		b.stored = b.sizes
	}
	return rest, err
}

func (b *Block) Len() int { return b.n }

// Keys returns the number of keys a document has.
func (b *Block) Keys() int { return b.keys }

// Ref returns the ref of document i.
func (b *Block) Ref(i int) docref.Ref {
	return docref.Ref(b.refs.at(i)) + b.moved
}

// MoveTo gives all documents of the block the number of another file. They must have been written with the number 0.
func (b *Block) MoveTo(file int) error {
	first, err := docref.New(file, 0)
	b.moved = first
	return err
}

// Digest returns the digest of document i.
func (b *Block) Digest(i int) digest.Digest { return digest.Get(b.digests[digest.Size*i:]) }

// DigestLead returns the first word of the digest of document i.
func (b *Block) DigestLead(i int) uint64 {
	return binary.LittleEndian.Uint64(b.digests[digest.Size*i:])
}

// Key returns key k of document i.
func (b *Block) Key(i, k int) uint64 {
	return binary.LittleEndian.Uint64(b.keyed[8*(i*b.keys+k):])
}

// PackedKeys returns the keys of document i, 8 bytes each.
func (b *Block) PackedKeys(i int) []byte { return b.keyed[8*i*b.keys : 8*(i+1)*b.keys] }

// SimHash appends the SimHash fingerprint of document i to words.
func (b *Block) SimHash(words []uint64, i int) []uint64 {
	for w := range b.simhash {
		words = append(words, binary.LittleEndian.Uint64(b.simmed[8*(i*b.simhash+w):]))
	}
	return words
}

// Size returns the number of distinct shingles of document i.
func (b *Block) Size(i int) int { return int(b.sizes.at(i)) }

// Stored returns how many shingle hashes of document i the block holds, or the size of its sequence in hashes.
func (b *Block) Stored(i int) int { return int(b.stored.at(i)) }

// Priority says how preferred document i is.
func (b *Block) Priority(i int) preference.Priority {
	return (preference.Priority(hashAt(b.columns[priorities], i)) ^ preference.Leading).At(b.Ref(i))
}

// Ties says how preferred document i is among documents of its priority.
func (b *Block) Ties(i int) preference.Ties {
	first, second := hashAt(b.columns[firstTie], i), hashAt(b.columns[secondTie], i)
	return preference.Ties{preference.Priority(first), preference.Priority(second)}.At(b.Ref(i))
}

// Scope returns the hash of what document i shares with those that it is compared with, 0 if it is compared with all.
func (b *Block) Scope(i int) uint64 { return hashAt(b.columns[scopes], i) }

// Side returns the hash of the value in which others must differ to be compared with document i, 0 if all are.
func (b *Block) Side(i int) uint64 { return hashAt(b.columns[sides], i) }

// Source returns the hash of the value that makes document i part of a source, 0 if no value does.
func (b *Block) Source(i int) uint64 { return hashAt(b.columns[sources], i) }

// IsResolved reports whether all pairs of document i are known.
func (b *Block) IsResolved(i int) bool { return hashAt(b.columns[resolved], i) != 0 }

// SimHashDigest returns a digest of the SimHash fingerprint of document i; a document without shingles has
// none, and gets the digest of its bytes.
func (b *Block) SimHashDigest(i int) digest.Digest {
	if b.Size(i) == 0 {
		return b.Digest(i)
	}
	hash := xxh3.Hash128(b.simmed[8*i*b.simhash : 8*(i+1)*b.simhash])
	return digest.Digest{hash.Hi, hash.Lo}
}

// InScope returns the digest of a document in a scope: documents of different scopes are never equal.
func InScope(d digest.Digest, scope uint64) digest.Digest {
	if scope == 0 {
		return d
	}
	return digest.Digest{asmkernels.SplitMix(d[0] ^ scope), asmkernels.SplitMix(d[1] ^ scope)}
}

// hashAt returns what a column has of a document, 0 if the column is missing.
func hashAt(column []byte, i int) uint64 {
	if len(column) == 0 {
		return 0
	}
	return binary.LittleEndian.Uint64(column[8*i:])
}

// ID returns the id of document i, empty if it has none.
func (b *Block) ID(i int) []byte { return part(b.id, &b.idEnds, i) }

// Capture is what is known of document i as a web page in addition to its text; it is empty if that is nothing.
func (b *Block) Capture(i int) []byte {
	if b.captures == nil {
		return nil
	}
	return part(b.captures, &b.captureEnds, i)
}

func part(of []byte, ends *numbers, i int) []byte {
	start := uint64(0)
	if i > 0 {
		start = ends.at(i - 1)
	}
	return of[start:ends.at(i)]
}

// Sets goes through the sets that belong to the block, all in sets one behind the other. It
// gives the number of each document and the bytes of its set or sequence.
func (b *Block) Sets(sets []byte) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		for i := range b.n {
			size := HashSize * b.Stored(i)
			if !yield(i, sets[:size:size]) {
				return
			}
			sets = sets[size:]
		}
	}
}

// AppendPacked appends hashes to b, 6 bytes each; see [AppendSet].
func AppendPacked(b []byte, set []uint64) []byte {
	n := len(b)
	need := n + HashSize*len(set)
	if need+2 > cap(b) {
		b = append(make([]byte, 0, 2*cap(b)+need+2), b...)
	}
	// Eight bytes are stored for every hash; the next one overwrites the two that are too many.
	room := b[:need+2]
	for _, hash := range set {
		binary.LittleEndian.PutUint64(room[n:], hash)
		n += HashSize
	}
	return b[:need]
}

// AppendSet appends the hashes stored in the bytes of a set to set.
func AppendSet(set []uint64, b []byte) []uint64 {
	const mask = 1<<(8*HashSize) - 1
	for len(b) >= 8 {
		set = append(set, binary.LittleEndian.Uint64(b)&mask)
		b = b[HashSize:]
	}
	if len(b) >= HashSize {
		set = append(set, uint64(binary.LittleEndian.Uint32(b))|uint64(binary.LittleEndian.Uint16(b[4:]))<<32)
	}
	return set
}

// Sequence is what a block holds of a document where passages are looked for, in place of its set: the shingles in the
// order of the text. Entry i of each field belongs to shingle i.
type Sequence struct {
	// Shingles are the hashes, below 2^48.
	Shingles []uint64
	// Tokens are the numbers of the first tokens, ascending.
	Tokens []uint32
	// Starts and Ends are offsets in the text in bytes. Starts do not descend, and none is behind its end.
	Starts, Ends []uint32
}

// AppendSequence appends s to b: the number of shingles, the hashes, then for each how many bytes it begins behind the
// one before, twice, plus 1 where its first token is not the next one, in which case the distance follows, and its
// length in bytes. All but the hashes are varints. Zeros follow to a whole number of hashes.
func AppendSequence(b []byte, s Sequence) []byte {
	// Most offsets and lengths take a byte each.
	const usual = HashSize + 3
	start := len(b)
	b = slices.Grow(b, usual*len(s.Shingles)+binary.MaxVarintLen64+HashSize)
	b = binary.AppendUvarint(b, uint64(len(s.Shingles)))
	b = AppendPacked(b, s.Shingles)
	at, token := uint32(0), uint32(math.MaxUint32) // of the one before
	for i := range s.Shingles {
		begins := uint64(s.Starts[i]-at) << 1
		if distance := s.Tokens[i] - token; distance == 1 {
			b = binary.AppendUvarint(b, begins)
		} else {
			b = binary.AppendUvarint(b, begins|1)
			b = binary.AppendUvarint(b, uint64(distance))
		}
		b = binary.AppendUvarint(b, uint64(s.Ends[i]-s.Starts[i]))
		at, token = s.Starts[i], s.Tokens[i]
	}
	for (len(b)-start)%HashSize > 0 {
		b = append(b, 0)
	}
	return b
}

// ParseSequence returns the sequence in b, in the memory of s.
func ParseSequence(s Sequence, b []byte) (Sequence, error) {
	damaged := errors.New("sequence of a document is damaged")
	failed := false
	next := func() uint64 {
		value, size := binary.Uvarint(b)
		failed = failed || size <= 0
		b = b[max(size, 0):]
		return value
	}
	count := next()
	if failed || count > uint64(len(b)/HashSize) {
		return Sequence{}, damaged
	}
	n := int(count)
	s.Shingles = AppendSet(slices.Grow(s.Shingles[:0], n), b[:n*HashSize])
	b = b[n*HashSize:]
	s.Tokens, s.Starts, s.Ends = slices.Grow(s.Tokens[:0], n), slices.Grow(s.Starts[:0], n), slices.Grow(s.Ends[:0], n)
	at, token := uint32(0), uint32(math.MaxUint32)
	for range n {
		begins := next()
		at += uint32(begins >> 1)
		if begins&1 == 0 {
			token++
		} else {
			token += uint32(next())
		}
		s.Tokens, s.Starts = append(s.Tokens, token), append(s.Starts, at)
		s.Ends = append(s.Ends, at+uint32(next()))
	}
	if failed || len(b) >= HashSize {
		return Sequence{}, damaged
	}
	return s, nil
}
