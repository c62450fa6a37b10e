package records

import (
	"bytes"
	"encoding/binary"
	"strings"

	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/input/sources"
	"mirrorbeam.dev/internal/records/digest"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/util/quoting"
)

// The sizes of records, in bytes.
const (
	PositionSize     = 8
	NodePositionSize = 4 + PositionSize
	MemberSize       = RefSize + 2*PositionSize
)

// Number is the number of a document in its output shard, from 0. These are ordered by cluster, then by ref.
type Number uint32

// OutputShard is the number of an output shard, from 0.
type OutputShard uint32

// Nowhere is the shard of a document that is not in the output.
const Nowhere = ^OutputShard(0)

// Position is where a document is in the output.
type Position struct {
	Shard  OutputShard
	Number Number
}

// Put packs a position.
func (p Position) Put(b []byte) {
	binary.LittleEndian.PutUint32(b, uint32(p.Shard))
	binary.LittleEndian.PutUint32(b[4:], uint32(p.Number))
}

// GetPosition reads a position.
func GetPosition(b []byte) Position {
	return Position{OutputShard(binary.LittleEndian.Uint32(b)), Number(binary.LittleEndian.Uint32(b[4:]))}
}

// PutNodePosition packs the position of a node.
func PutNodePosition(b []byte, node graphs.Node, p Position) {
	binary.LittleEndian.PutUint32(b, uint32(node))
	p.Put(b[4:])
}

// GetNodePosition reads the position of a node.
func GetNodePosition(b []byte) Position { return GetPosition(b[4:]) }

// MemberHeader is the size of a member's record without its id: number, number of the first document of its cluster,
// ref, priority, size, flags, length of the id.
const MemberHeader = 36

// The flags of a member; see [Member].
const (
	repeatedFlag = 1 << iota
	uncheckedFlag
	sidedFlag
	// DigestFlag says that the digest of the document follows.
	DigestFlag
	// PartlyListedFlag says that the document has pairs which are not listed.
	PartlyListedFlag
	// capturedFlag says that a capture follows the id, with its length in front.
	capturedFlag

	// sourceShift is the place of the member's source in its flags.
	sourceShift = 8
)

// FlagsOf returns the flags of a member, and its source.
func FlagsOf(repeated, unchecked bool, source sources.Number) (flags uint32) {
	flags = uint32(source) << sourceShift
	if repeated {
		flags |= repeatedFlag
	}
	if unchecked {
		flags |= uncheckedFlag
	}
	return flags
}

// WriteMember writes the record of document i of the block for its output shard. Equal is its digest, for DigestFlag.
func WriteMember(
	run *runfile.Writer, member []byte, block *sketchblock.Block, i int, flags uint32, equal digest.Digest,
) error {
	at, first := GetPosition(member[RefSize:]), GetPosition(member[RefSize+PositionSize:])
	id, capture, side := block.ID(i), block.Capture(i), block.Side(i)
	size := MemberHeader + len(id)
	if len(capture) > 0 {
		size += captureHeader + len(capture)
		flags |= capturedFlag
	}
	if side != 0 {
		size += sideSize
		flags |= sidedFlag
	}
	if flags&DigestFlag != 0 {
		size += digest.Size
	}
	b, err := run.Record(ShardMembers, int(at.Shard), size)
	if err != nil {
		return err
	}
	binary.LittleEndian.PutUint32(b, uint32(at.Number))
	binary.LittleEndian.PutUint32(b[4:], uint32(first.Number))
	PutRef(b[8:], block.Ref(i))
	binary.LittleEndian.PutUint64(b[16:], uint64(block.Priority(i)))
	binary.LittleEndian.PutUint32(b[24:], uint32(block.Size(i)))
	binary.LittleEndian.PutUint32(b[28:], flags)
	binary.LittleEndian.PutUint32(b[32:], uint32(len(id)))
	rest := b[MemberHeader+copy(b[MemberHeader:], id):]
	if len(capture) > 0 {
		binary.LittleEndian.PutUint16(rest, uint16(len(capture)))
		rest = rest[captureHeader+copy(rest[captureHeader:], capture):]
	}
	if side != 0 {
		binary.LittleEndian.PutUint64(rest, side)
	}
	if flags&DigestFlag != 0 {
		equal.Put(b[size-digest.Size:])
	}
	return nil
}

// Capture is what is known of a web page in addition to its text: from where and when a web archive has fetched it, and
// its title without numbers. Each may be empty.
type Capture struct{ URL, Date, Title string }

const (
	// MostURLBytes bounds what is kept of a URL: servers and browsers are sure to take one of that length.
	MostURLBytes  = 2048
	mostDateBytes = 64
	// mostTitleBytes bounds what is kept of a title. Longer ones that begin alike are taken for equal.
	mostTitleBytes = 256
	// captureHeader is the length in front of a capture in a record.
	captureHeader = 2
)

// AppendCapture packs a capture. It appends nothing if nothing is known. What is too long is cut.
func AppendCapture(b, url, date, title []byte) []byte {
	if len(url)+len(date)+len(title) == 0 {
		return b
	}
	if len(title) > mostTitleBytes {
		title = bytes.ToValidUTF8(title[:mostTitleBytes], nil)
	}
	// A line of a header has no line end in it.
	b = append(append(b, url[:min(len(url), MostURLBytes)]...), '\n')
	b = append(append(b, date[:min(len(date), mostDateBytes)]...), '\n')
	return append(b, title...)
}

// CaptureOf reads a capture that AppendCapture has packed, as texts of rows.
func CaptureOf(packed []byte) Capture {
	url, rest, _ := strings.Cut(string(packed), "\n")
	date, title, _ := strings.Cut(rest, "\n")
	return Capture{quoting.Text(url), quoting.Text(date), quoting.Text(title)}
}

// captureSize is the size of the capture in the record of a member, with its length, 0 for none.
func captureSize(b []byte) int {
	if b[28]&capturedFlag == 0 {
		return 0
	}
	return captureHeader + int(binary.LittleEndian.Uint16(b[MemberHeader+binary.LittleEndian.Uint32(b[32:]):]))
}

func memberSize(b []byte) int {
	size := MemberHeader + int(binary.LittleEndian.Uint32(b[32:])) + captureSize(b)
	if b[28]&sidedFlag != 0 {
		size += sideSize
	}
	if b[28]&DigestFlag != 0 {
		size += digest.Size
	}
	return size
}

// ReadRefs returns a set of documents.
func ReadRefs(reader *runfile.Reader, pieces []runfile.Piece, kind runfile.Kind) (map[docref.Ref]bool, error) {
	packed, err := reader.ReadKind(nil, pieces, kind)
	if err != nil {
		return nil, err
	}
	refs := make(map[docref.Ref]bool, len(packed)/RefSize)
	for ; len(packed) > 0; packed = packed[RefSize:] {
		refs[GetRef(packed)] = true
	}
	return refs, nil
}

// Annotation is what a job has found out about a document of a cluster.
type Annotation struct {
	Ref docref.Ref
	// Cluster and KeptID are names of documents, as rows write them: the first of its cluster, and the one that is kept
	// for it. KeptID is empty if the document itself is kept.
	Cluster, KeptID string
	// Size is the number of documents in the cluster.
	Size uint32
	Kept bool
}

// Annotations are the annotations of the documents of a split.
type Annotations struct {
	packed []byte
	at     map[docref.Ref]int // where in packed the annotation of a document is
}

// ReadAnnotations reads the annotations of a split.
func ReadAnnotations(reader *runfile.Reader, pieces []runfile.Piece) (a Annotations, err error) {
	if a.packed, err = reader.ReadKind(nil, pieces, AnnotatedDocuments); err != nil {
		return a, err
	}
	a.at = map[docref.Ref]int{}
	for rest := a.packed; len(rest) > 0; {
		at := len(a.packed) - len(rest)
		var one Annotation
		one, rest = Next[Annotation](rest)
		a.at[one.Ref] = at
	}
	return a, nil
}

// Of returns the annotation of a document. It is false for a document outside of clusters.
func (a Annotations) Of(ref docref.Ref) (Annotation, bool) {
	at, found := a.at[ref]
	if !found {
		return Annotation{}, false
	}
	one, _ := Next[Annotation](a.packed[at:])
	return one, true
}

// KnownDocument is a document that the last run of a scheduled job may have found in a pair.
type KnownDocument struct {
	Digest digest.Digest
	// Scope is the hash of what it shares with the documents that it is compared with, 0 if it is compared with all.
	Scope uint64
	// Side is the hash of that in which it differs from these, 0 if it is compared with all.
	Side uint64
	Ref  docref.Ref
	Size uint32
	// Keyed says that this run makes keys of it.
	Keyed bool
}

// KnownSize is the size of the record of a known document, in bytes.
const KnownSize = digest.Size + 16 + RefSize + 5

// WriteKnown writes a known document. There are very many: it is spelled here what package packed would write.
func WriteKnown(run *runfile.Writer, d *KnownDocument) error {
	b, err := run.Record(Known, 0, KnownSize)
	if err != nil {
		return err
	}
	putKnown(b, d)
	return nil
}

func putKnown(b []byte, d *KnownDocument) {
	d.Digest.Append(b[:0])
	binary.LittleEndian.PutUint64(b[digest.Size:], d.Scope)
	binary.LittleEndian.PutUint64(b[digest.Size+8:], d.Side)
	PutRef(b[digest.Size+16:], d.Ref)
	binary.LittleEndian.PutUint32(b[KnownSize-5:], d.Size)
	b[KnownSize-1] = 0
	if d.Keyed {
		b[KnownSize-1] = 1
	}
}

// GetKnown reads the known document that b begins with.
func GetKnown(b []byte) KnownDocument {
	return KnownDocument{
		Digest: digest.Get(b),
		Scope:  binary.LittleEndian.Uint64(b[digest.Size:]),
		Side:   binary.LittleEndian.Uint64(b[digest.Size+8:]),
		Ref:    GetRef(b[digest.Size+16:]),
		Size:   binary.LittleEndian.Uint32(b[KnownSize-5:]),
		Keyed:  b[KnownSize-1] == 1,
	}
}
