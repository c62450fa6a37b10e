package records

import (
	"bytes"
	"errors"
	"math"
	"strings"

	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/input/sources"
	"mirrorbeam.dev/internal/keep/preference"
	"mirrorbeam.dev/internal/records/digest"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/paged"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/util/quoting"
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

// OfNode is a record about a node of a part of a graph.
type OfNode[T any] struct {
	Node graphs.Node
	Is   T
}

// ListedDocument is a document of a cluster, and where it and the first document of the cluster are in the output.
type ListedDocument struct {
	Ref       docref.Ref
	At, First Position
}

// memberHead is the record of a member but for its id and its capture, which follow.
type memberHead struct {
	Number, First Number // of the document, and of the first document of its cluster
	Ref           docref.Ref
	Priority      preference.Priority
	Ties          preference.Ties
	Side          uint64
	Digest        digest.Digest
	Size, Flags   uint32
	ID, Capture   uint32 // bytes
}

// The flags of a member; see [Member].
const (
	repeatedFlag = 1 << iota
	uncheckedFlag
	partlyListedFlag

	// sourceShift is the place of the member's source in its flags.
	sourceShift = 8
)

// FlagsOf returns the flags of a member, and its source.
func FlagsOf(repeated, unchecked, partlyListed bool, source sources.Number) (flags uint32) {
	for i, is := range []bool{repeated, unchecked, partlyListed} {
		if is {
			flags |= 1 << i
		}
	}
	return flags | uint32(source)<<sourceShift
}

// WriteMember writes the record of document i of the block for its output shard, with its capture. Equal is its digest,
// or zero.
func WriteMember(
	run *runfile.Writer, of ListedDocument, block *sketchblock.Block, i int, flags uint32, equal digest.Digest,
	capture []byte,
) error {
	id, size := block.ID(i), Size[memberHead]()
	b, err := run.Record(ShardMembers, int(of.At.Shard), size+len(id)+len(capture))
	if err != nil {
		return err
	}
	Put(b, memberHead{
		Number:   of.At.Number,
		First:    of.First.Number,
		Ref:      block.Ref(i),
		Priority: block.Priority(i),
		Ties:     block.Ties(i),
		Side:     block.Side(i),
		Digest:   equal,
		Size:     uint32(block.Size(i)),
		Flags:    flags,
		ID:       uint32(len(id)),
		Capture:  uint32(len(capture)),
	})
	copy(b[size+copy(b[size:], id):], capture)
	return nil
}

// nextMember reads the first member, and returns the bytes of the others.
func nextMember(b []byte) (head memberHead, id, capture, rest []byte) {
	head = Get[memberHead](b)
	b = b[Size[memberHead]():]
	end := head.ID + head.Capture
	return head, b[:head.ID], b[head.ID:end], b[end:]
}

// Capture is what is known of a document in addition to its shingles: from where and when a web archive has fetched it,
// its title without numbers, and its words as package variants compares them. Each may be empty.
type Capture struct{ URL, Date, Title, Words string }

const (
	// MostURLBytes bounds what is kept of a URL: servers and browsers are sure to take one of that length.
	MostURLBytes  = 2048
	mostDateBytes = 64
	// mostTitleBytes bounds what is kept of a title. Longer ones that begin alike are taken for equal.
	mostTitleBytes = 256
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

// AppendText appends up to most bytes of texts to a capture, or later their words. A capture has no line end in a part.
func AppendText(capture []byte, most int, texts ...[]byte) []byte {
	if len(capture) == 0 {
		capture = append(capture, "\n\n"...)
	}
	for _, text := range texts {
		text = text[:min(len(text), most)]
		capture, most = append(append(capture, '\n'), text...), most-len(text)
	}
	return capture
}

// CutText takes what AppendText has added from a capture.
func CutText(packed []byte) (capture, text []byte, has bool) {
	end := 0
	for range 3 {
		at := bytes.IndexByte(packed[end:], '\n')
		if at < 0 {
			return packed, nil, false
		}
		end += at + 1
	}
	return packed[:end-1], packed[end:], true
}

// CaptureOf reads a capture that AppendCapture has packed, as texts of rows, and its words.
func CaptureOf(packed []byte) Capture {
	url, rest, _ := strings.Cut(string(packed), "\n")
	date, rest, _ := strings.Cut(rest, "\n")
	title, words, _ := strings.Cut(rest, "\n")
	return Capture{quoting.Text(url), quoting.Text(date), quoting.Text(title), words}
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
	Extent
}

// Extent is in how many sources and files the documents of the input in a cluster are.
type Extent struct{ Sources, Files uint32 }

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

// Removed returns the documents that are not kept.
func (a Annotations) Removed() map[docref.Ref]bool {
	removed := map[docref.Ref]bool{}
	for one := range All[Annotation](a.packed) {
		if !one.Kept {
			removed[one.Ref] = true
		}
	}
	return removed
}

// KnownDocument is a document that the last run of a scheduled job may have found in a pair.
type KnownDocument struct {
	Digest digest.Digest
	// Scope is the hash of the value of --within, in which compared documents must agree, 0 if all are compared.
	Scope uint64
	// Side is the hash of the value of --across, in which compared documents must differ, 0 if all are compared.
	Side uint64
	Ref  docref.Ref
	Size uint32
	// Keyed says that this run makes keys of it.
	Keyed bool

	_ [3]byte
}

// KnownSize is the size of the record of a known document, in bytes.
const KnownSize = digest.Size + 16 + RefSize + 8

// Member is a document of a cluster at its output shard.
type Member struct {
	First     Number // the first document of the cluster
	Size      uint32 // distinct shingles
	Ref       docref.Ref
	Digest    digest.Digest // of its set or its SimHash fingerprint, 0 if it was not asked for
	Priority  preference.Priority
	Ties      preference.Ties
	Side      uint64 // documents of one side, if not 0, are no pairs
	Source    sources.Number
	Repeated  bool // another document has the same id
	Unchecked bool // it leads documents of a hot group, and was not compared with all other pivots
	// PartlyListed says that it is in a dense group, and has pairs which are not listed.
	PartlyListed bool
	Id           string
	// Capture is nil if it is not known.
	Capture *Capture
}

// MemberList has the documents of an output shard, by number. One cluster may have nearly all documents of a corpus. So
// a document takes 24 bytes, and 8 more each for priorities and for sides where documents have some. What is more than
// a store holds is in files, and so does what rows say of documents if it is long.
type MemberList struct {
	store      *paged.Store
	list       *paged.List[Number, member]
	priorities *paged.List[Number, preference.Priority] // nil while each is Reference or Leading
	ties       *paged.List[Number, preference.Ties]     // nil while each is 0
	sides      *paged.List[Number, uint64]              // nil while each is 0
	texts      texts
	lowest     Number // of the records; it is 0 here
}

// member is what is always held of a document.
type member struct {
	ref    docref.Ref
	first  Number
	size   uint32
	text   textPlace
	source sources.Number
	flags  uint8 // as in its record, and those below
}

// The flags that only a list has: the priority of a document is the least one of the input, and its text has a capture
// and a digest.
const (
	leadingFlag = partlyListedFlag << (iota + 1)
	capturedFlag
	digestFlag
)

// NewMemberList returns documents that are at hand.
func NewMemberList(store *paged.Store, list []Member) *MemberList {
	m := newMemberList(store, len(list), texts{most: math.MaxInt})
	for i := range list {
		m.set(Number(i), &list[i], []byte(list[i].Id))
	}
	m.texts.finish()
	return m
}

func newMemberList(store *paged.Store, n int, empty texts) *MemberList {
	return &MemberList{store: store, list: paged.New[Number, member](store, n), texts: empty}
}

// ReadMembers returns the documents of an output shard. They are numbered from 0, wherever the numbers in the records
// begin. Long texts lie in a file of its own in the folder of the store, until Close.
func ReadMembers(reader *runfile.Reader, pieces []runfile.Piece, store *paged.Store) (*MemberList, error) {
	return readMembers(reader, pieces, store, texts{folder: store.Folder, most: heldTexts})
}

func readMembers(reader *runfile.Reader, pieces []runfile.Piece, store *paged.Store, empty texts) (*MemberList, error) {
	each, err := eachPacked(reader, pieces, ShardMembers)
	if err != nil {
		return nil, err
	}
	n, lowest := 0, ^Number(0)
	err = each(func(b []byte) {
		for len(b) > 0 {
			var head memberHead
			head, _, _, b = nextMember(b)
			n, lowest = n+1, min(lowest, head.Number)
		}
	})
	if err != nil {
		return nil, err
	}
	m := newMemberList(store, n, empty)
	m.lowest = lowest
	err = each(func(b []byte) {
		for len(b) > 0 {
			b = m.read(b)
		}
	})
	m.texts.finish()
	if err = errors.Join(err, m.Err()); err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

// read takes in the first member, and returns the bytes of the others.
func (m *MemberList) read(b []byte) []byte {
	head, id, packed, rest := nextMember(b)
	of := Member{
		First:        head.First - m.lowest,
		Ref:          head.Ref,
		Priority:     head.Priority,
		Ties:         head.Ties,
		Side:         head.Side,
		Digest:       head.Digest,
		Size:         head.Size,
		Source:       sources.Number(head.Flags >> sourceShift),
		Repeated:     head.Flags&repeatedFlag != 0,
		Unchecked:    head.Flags&uncheckedFlag != 0,
		PartlyListed: head.Flags&partlyListedFlag != 0,
	}
	if len(packed) > 0 {
		capture := CaptureOf(packed)
		of.Capture = &capture
	}
	m.set(head.Number-m.lowest, &of, id)
	return rest
}

// set sets document i, given its id as the user wrote it.
func (m *MemberList) set(i Number, of *Member, id []byte) {
	flags := uint8(FlagsOf(of.Repeated, of.Unchecked, of.PartlyListed, 0))
	if of.Priority == preference.Leading {
		flags |= leadingFlag
	}
	if of.Capture != nil {
		flags |= capturedFlag
	}
	if of.Digest != (digest.Digest{}) {
		flags |= digestFlag
	}
	to := member{ref: of.Ref, first: of.First, size: of.Size, source: of.Source, flags: flags}
	if len(id) > 0 || flags&(capturedFlag|digestFlag) != 0 {
		to.text = m.texts.add(id, of)
	}
	m.list.Set(i, to)
	if of.Priority > preference.Leading && m.priorities == nil {
		m.priorities = paged.New[Number, preference.Priority](m.store, m.Len())
		for k := range Number(m.Len()) {
			m.priorities.Set(k, m.list.At(k).leastPriority())
		}
	}
	if m.priorities != nil {
		m.priorities.Set(i, of.Priority)
	}
	if of.Ties != (preference.Ties{}) && m.ties == nil {
		m.ties = paged.New[Number, preference.Ties](m.store, m.Len())
	}
	if m.ties != nil {
		m.ties.Set(i, of.Ties)
	}
	if of.Side != 0 && m.sides == nil {
		m.sides = paged.New[Number, uint64](m.store, m.Len())
	}
	if m.sides != nil {
		m.sides.Set(i, of.Side)
	}
}

func (m member) leastPriority() preference.Priority {
	if m.flags&leadingFlag != 0 {
		return preference.Leading
	}
	return preference.Reference
}

// Lowest returns the number of the first document in the records of the shard.
func (m *MemberList) Lowest() Number { return m.lowest }

func (m *MemberList) Len() int { return m.list.Len() }

// Ref returns the name of document i inside the job.
func (m *MemberList) Ref(i Number) docref.Ref { return m.list.At(i).ref }

// First returns the first document of the cluster of document i, and SetFirst changes it.
func (m *MemberList) First(i Number) Number { return m.list.At(i).first }

// SetFirst puts document i into the cluster of another one.
func (m *MemberList) SetFirst(i, first Number) {
	of := m.list.At(i)
	of.first = first
	m.list.Set(i, of)
}

// Size returns the number of distinct shingles of document i.
func (m *MemberList) Size(i Number) uint32 { return m.list.At(i).size }

// Source returns the source of document i.
func (m *MemberList) Source(i Number) sources.Number { return m.list.At(i).source }

// Ranked returns document i with its priority.
func (m *MemberList) Ranked(i Number) preference.Ranked {
	ranked := preference.Ranked{Ref: m.list.At(i).ref}
	if m.priorities == nil {
		ranked.Priority = m.list.At(i).leastPriority()
	} else {
		ranked.Priority = m.priorities.At(i)
	}
	if m.ties != nil {
		ranked.Ties = m.ties.At(i)
	}
	return ranked
}

// Sides returns the side of each document, nil if none has one.
func (m *MemberList) Sides() *paged.List[Number, uint64] { return m.sides }

// Repeated reports whether another document has the id of document i.
func (m *MemberList) Repeated(i Number) bool { return m.list.At(i).flags&repeatedFlag != 0 }

// Unchecked reports whether document i leads documents of a hot group, and was not compared with all other pivots.
func (m *MemberList) Unchecked(i Number) bool { return m.list.At(i).flags&uncheckedFlag != 0 }

// PartlyListed reports whether document i is in a dense group, and has pairs which are not listed.
func (m *MemberList) PartlyListed(i Number) bool { return m.list.At(i).flags&partlyListedFlag != 0 }

// ID returns the id of document i as rows write it, empty if it has none.
func (m *MemberList) ID(i Number) string {
	text := m.texts.of(m.list.At(i).text)
	return text.id()
}

// Capture returns what is known of document i as a web page. It is empty if that is nothing.
func (m *MemberList) Capture(i Number) Capture {
	if m.list.At(i).flags&capturedFlag == 0 {
		return Capture{}
	}
	return m.texts.of(m.list.At(i).text).capture()
}

// Digest returns the digest of the set or the fingerprint of document i, 0 if it was not asked for.
func (m *MemberList) Digest(i Number) digest.Digest {
	if m.list.At(i).flags&digestFlag == 0 {
		return digest.Digest{}
	}
	return m.texts.of(m.list.At(i).text).digest()
}

// Err returns the first fault of the file of texts. What a document was called after that is not to be relied on.
func (m *MemberList) Err() error { return m.texts.err }

func (m *MemberList) Close() { m.texts.close() }
