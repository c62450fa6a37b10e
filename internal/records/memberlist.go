package records

import (
	"encoding/binary"
	"errors"
	"math"

	"mirrorbeam.dev/internal/input/sources"
	"mirrorbeam.dev/internal/keep/preference"
	"mirrorbeam.dev/internal/records/digest"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/paged"
	"mirrorbeam.dev/internal/records/runfile"
)

// Member is a document of a cluster at its output shard.
type Member struct {
	First     Number // the first document of the cluster
	Size      uint32 // distinct shingles
	Ref       docref.Ref
	Digest    digest.Digest // of its set or its SimHash fingerprint, 0 if it was not asked for
	Priority  preference.Priority
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
	flags  uint8 // as in its record, and leadingFlag
}

// leadingFlag says that the priority of a document is the least one of the input.
const leadingFlag = 1 << 7

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
		for ; len(b) > 0; b = b[memberSize(b):] {
			n, lowest = n+1, min(lowest, Number(binary.LittleEndian.Uint32(b)))
		}
	})
	if err != nil {
		return nil, err
	}
	m := newMemberList(store, n, empty)
	m.lowest = lowest
	err = each(func(b []byte) {
		for ; len(b) > 0; b = b[memberSize(b):] {
			m.read(b)
		}
	})
	m.texts.finish()
	if err = errors.Join(err, m.Err()); err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

func (m *MemberList) read(b []byte) {
	flags, behind := binary.LittleEndian.Uint32(b[28:]), MemberHeader+int(binary.LittleEndian.Uint32(b[32:]))
	of := Member{
		First:        Number(binary.LittleEndian.Uint32(b[4:])) - m.lowest,
		Ref:          GetRef(b[8:]),
		Priority:     preference.Priority(binary.LittleEndian.Uint64(b[16:])),
		Size:         binary.LittleEndian.Uint32(b[24:]),
		Source:       sources.Number(flags >> sourceShift),
		Repeated:     flags&repeatedFlag != 0,
		Unchecked:    flags&uncheckedFlag != 0,
		PartlyListed: flags&PartlyListedFlag != 0,
	}
	id := b[MemberHeader:behind]
	if flags&capturedFlag != 0 {
		end := behind + captureSize(b)
		capture := CaptureOf(b[behind+captureHeader : end])
		of.Capture, behind = &capture, end
	}
	if flags&sidedFlag != 0 {
		of.Side = binary.LittleEndian.Uint64(b[behind:])
	}
	if flags&DigestFlag != 0 {
		of.Digest = digest.Get(b[memberSize(b)-digest.Size:])
	}
	m.set(Number(binary.LittleEndian.Uint32(b))-m.lowest, &of, id)
}

// set sets document i, given its id as the user wrote it.
func (m *MemberList) set(i Number, of *Member, id []byte) {
	flags := uint8(FlagsOf(of.Repeated, of.Unchecked, 0))
	if of.PartlyListed {
		flags |= PartlyListedFlag
	}
	if of.Priority == preference.Leading {
		flags |= leadingFlag
	}
	if of.Capture != nil {
		flags |= capturedFlag
	}
	if of.Digest != (digest.Digest{}) {
		flags |= DigestFlag
	}
	to := member{ref: of.Ref, first: of.First, size: of.Size, source: of.Source, flags: flags}
	if len(id) > 0 || flags&(capturedFlag|DigestFlag) != 0 {
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
	if m.priorities == nil {
		return preference.Ranked{Ref: m.list.At(i).ref, Priority: m.list.At(i).leastPriority()}
	}
	return preference.Ranked{Ref: m.list.At(i).ref, Priority: m.priorities.At(i)}
}

// Sides returns the side of each document, nil if none has one.
func (m *MemberList) Sides() *paged.List[Number, uint64] { return m.sides }

// Repeated reports whether another document has the id of document i.
func (m *MemberList) Repeated(i Number) bool { return m.list.At(i).flags&repeatedFlag != 0 }

// Unchecked reports whether document i leads documents of a hot group, and was not compared with all other pivots.
func (m *MemberList) Unchecked(i Number) bool { return m.list.At(i).flags&uncheckedFlag != 0 }

// PartlyListed reports whether document i is in a dense group, and has pairs which are not listed.
func (m *MemberList) PartlyListed(i Number) bool { return m.list.At(i).flags&PartlyListedFlag != 0 }

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
	if m.list.At(i).flags&DigestFlag == 0 {
		return digest.Digest{}
	}
	return m.texts.of(m.list.At(i).text).digest()
}

// Err returns the first fault of the file of texts. What a document was called after that is not to be relied on.
func (m *MemberList) Err() error { return m.texts.err }

func (m *MemberList) Close() { m.texts.close() }
