package state

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/digest"
	"mirrorbeam.dev/internal/records/packed"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/util/checksum"
)

// The first lines of files of groups, of alerts and of changes. The number in each is the version of the layout.
const (
	groupsMagic        = "mirrorbeam groups 1\n"
	alertsMagic        = "mirrorbeam alerts 5\n"
	notificationsMagic = "mirrorbeam notifications 1\n"
)

const (
	memberSize  = 16
	groupHeader = 9 // a packed group without its members and its texts
)

// AppendGroup packs a group.
func AppendGroup(b []byte, g *Group) []byte {
	b = AppendGroupHead(b, g.Lineage, g.Name, len(g.Members))
	for _, member := range g.Members {
		b = member.Append(b)
	}
	return b
}

// AppendGroupHead packs what comes before the members of a group: the length of the lineage, the lineage, the length of
// the name, the number of members, the name.
func AppendGroupHead(b []byte, lineage, name string, members int) []byte {
	b = append(append(b, byte(len(lineage))), lineage...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(name)))
	b = binary.LittleEndian.AppendUint32(b, uint32(members))
	return append(b, name...)
}

// Append packs a member.
func (m Member) Append(b []byte) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(b, m[0]), m[1])
}

// GroupSize is the size of a packed group in bytes.
func GroupSize(lineage, name string, members int) int {
	return groupHeader + len(lineage) + len(name) + memberSize*members
}

// UnpackGroups reads packed groups, one behind the other. It goes through all twice, so that nothing has to grow.
func UnpackGroups(b []byte) ([]Group, error) {
	n := 0
	for rest := b; len(rest) > 0; n++ {
		lineage := int(rest[0])
		if len(rest) < groupHeader+lineage {
			return nil, errDamaged
		}
		lengths := rest[1+lineage:]
		name, members := binary.LittleEndian.Uint32(lengths), binary.LittleEndian.Uint32(lengths[4:])
		size := GroupSize("", "", int(members)) + lineage + int(name)
		if size > len(rest) {
			return nil, errDamaged
		}
		rest = rest[size:]
	}
	var reader groupReader
	groups := make([]Group, n)
	for i := range groups {
		groups[i], b = reader.next(b)
	}
	return groups, nil
}

// groupReader reads packed groups. Most are small, and share pieces of memory. The zero reader is ready for use.
type groupReader struct {
	texts   strings.Builder
	members []Member
}

const (
	textsTogether   = 64 << 10 // bytes
	membersTogether = 4 << 10
)

// next reads the first of the packed groups, which is whole, and returns the bytes of the others.
func (r *groupReader) next(b []byte) (g Group, rest []byte) {
	lineage := 1 + int(b[0])
	g.Lineage, b = r.text(b[1:lineage]), b[lineage:]
	name, members := int(binary.LittleEndian.Uint32(b)), int(binary.LittleEndian.Uint32(b[4:]))
	b = b[8:]
	g.Name, b = r.text(b[:name]), b[name:]
	first := len(r.members)
	if cap(r.members)-first < members {
		r.members, first = make([]Member, 0, max(members, membersTogether)), 0
	}
	for range members {
		r.members = append(r.members, Member{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])})
		b = b[memberSize:]
	}
	g.Members = r.members[first:len(r.members):len(r.members)]
	return g, b
}

// text returns a text that shares its memory with others.
func (r *groupReader) text(b []byte) string {
	if r.texts.Cap()-r.texts.Len() < len(b) {
		r.texts = strings.Builder{}
		r.texts.Grow(max(len(b), textsTogether))
	}
	r.texts.Write(b)
	return r.texts.String()[r.texts.Len()-len(b):]
}

var errDamaged = errors.New("groups are damaged")

// WriteGroups writes groups to a file that survives a loss of power.
func WriteGroups(path string, groups []Group) error {
	size := len(groupsMagic) + checksum.Size
	for i := range groups {
		size += GroupSize(groups[i].Lineage, groups[i].Name, len(groups[i].Members))
	}
	b := append(make([]byte, 0, size), groupsMagic...)
	for i := range groups {
		b = AppendGroup(b, &groups[i])
	}
	return writeChecked(path, b)
}

// WriteAlerts does the same for alerts.
func WriteAlerts(path string, alerts []Alert) error {
	return writeChecked(path, packed.Append([]byte(alertsMagic), &alerts))
}

// WriteNotifications does the same for changes that nobody has acknowledged.
func WriteNotifications(path string, o Notifications) error {
	b := []byte(notificationsMagic)
	for _, change := range o {
		b = output.AppendRow(b, change)
	}
	return writeChecked(path, b)
}

// writeChecked writes a file that survives a loss of power, with a check sum at its end.
func writeChecked(path string, b []byte) error {
	if err := storage.WriteFileWith(path, Seal(b), storage.Options{Durable: true}); err != nil {
		return fmt.Errorf("write a file of the state: %w", err)
	}
	return nil
}

// ReadGroups reads what Write wrote.
func ReadGroups(path string) ([]Group, error) { return readChecked(path, decodeGroups) }

// ReadAlerts reads what WriteAlerts wrote.
func ReadAlerts(path string) ([]Alert, error) { return readChecked(path, decodeAlerts) }

// ReadNotifications reads what WriteNotifications wrote.
func ReadNotifications(path string) (Notifications, error) {
	return readChecked(path, decodeNotifications)
}

func readChecked[T any](path string, decode func([]byte) (T, error)) (all T, err error) {
	b, err := storage.ReadFile(path)
	if err != nil {
		return all, fmt.Errorf("read %s: %w", path, err)
	}
	if all, err = decode(b); err != nil {
		return all, &storage.DamagedError{Op: "read", Path: path, Err: err}
	}
	return all, nil
}

func decodeGroups(b []byte) ([]Group, error) {
	b, err := Unseal(b, groupsMagic)
	if err != nil {
		return nil, err
	}
	return UnpackGroups(b)
}

func decodeAlerts(b []byte) (alerts []Alert, err error) {
	body, err := Unseal(b, alertsMagic)
	if err == nil {
		_, err = packed.Next(body, &alerts)
	}
	return alerts, err
}

func decodeNotifications(b []byte) (o Notifications, err error) {
	b, err = Unseal(b, notificationsMagic)
	for line := range bytes.Lines(b) {
		var change output.Change
		if err := json.Unmarshal(line, &change); err != nil {
			return nil, errors.Join(errDamaged, err)
		}
		o = append(o, change)
	}
	return o, err
}

// What can be wrong with a file.
var (
	// ErrForeign says that it begins with another mark.
	ErrForeign = errors.New("it is a file of another kind")
	// ErrVersion says that its mark has another number.
	ErrVersion = errors.New("it has the layout of another version of this program")
	// ErrDamaged says that its bytes are not those that were sealed.
	ErrDamaged = errors.New("it is damaged (checksum)")
)

// Seal appends a check sum to content, which begins with its mark: the name of a kind of files and the number of their
// layout, such as "mirrorbeam groups 1\n".
func Seal(content []byte) []byte {
	return binary.LittleEndian.AppendUint32(content, checksum.Of(content))
}

// Unseal returns what is between the mark and the check sum of sealed content. The error is one of this package.
func Unseal(content []byte, mark string) ([]byte, error) {
	if !bytes.HasPrefix(content, []byte(mark)) {
		kind := mark[:strings.LastIndexByte(mark, ' ')+1]
		if bytes.HasPrefix(content, []byte(kind)) {
			return nil, ErrVersion
		}
		return nil, ErrForeign
	}
	end := len(content) - checksum.Size
	if end < len(mark) || checksum.Of(content[:end]) != binary.LittleEndian.Uint32(content[end:]) {
		return nil, ErrDamaged
	}
	return content[len(mark):end], nil
}

// CachedPair is the score of two classes of equal documents that are similar.
type CachedPair struct {
	// A and B are the digests of the classes, the smaller one first. They are equal for several documents of a class.
	A, B digest.Digest
	records.Score
}

// CachedPairOf returns the cached pair of two digests, in either order.
func CachedPairOf(a, b digest.Digest, score records.Score) CachedPair {
	if digest.Compare(a, b) > 0 {
		a, b = b, a
	}
	return CachedPair{a, b, score}
}

func (v CachedPair) compare(other CachedPair) int {
	return cmp.Or(digest.Compare(v.A, other.A), digest.Compare(v.B, other.B))
}

const CachedPairSize = 2*digest.Size + 8

// Append appends the packed cached pair to b.
func (v CachedPair) Append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(v.B.Append(v.A.Append(b)), v.Shared)
	return binary.LittleEndian.AppendUint32(b, v.Total)
}

// GetCachedPair reads a packed cached pair.
func GetCachedPair(b []byte) CachedPair {
	return CachedPair{digest.Get(b), digest.Get(b[digest.Size:]), records.Score{
		Shared: binary.LittleEndian.Uint32(b[2*digest.Size:]),
		Total:  binary.LittleEndian.Uint32(b[2*digest.Size+4:]),
	}}
}

// cachedPairsMagic begins a table. The number in it is the number of the layout, and changes with it.
const cachedPairsMagic = "mirrorbeam pairs 1\n"

// WriteCachedPairs writes a table of packed cached pairs, in any order and perhaps repeated, to a file that survives a
// loss of power. It asks stopped now and then, if it is not nil, and ends with its error.
func WriteCachedPairs(path string, packed []byte, stopped func() error) error {
	get := func(at uint32) CachedPair { return GetCachedPair(packed[CachedPairSize*int(at):]) }
	type place struct{ lead, at uint32 } // the leading bits of the first digest, and the number among the packed ones
	order := make([]place, len(packed)/CachedPairSize)
	for i := range order {
		at := graphs.Next[uint32](i)
		order[i] = place{uint32(get(at).A[0] >> 32), at}
	}
	order = graphs.RadixSort(order, make([]place, len(order)), func(p *place) uint64 { return uint64(p.lead) })
	err := graphs.SortFunc(order, func(x, y place) int { // little is left to sort
		if x.lead != y.lead {
			return cmp.Compare(x.lead, y.lead)
		}
		return get(x.at).compare(get(y.at))
	}, stopped)
	if err != nil {
		return err
	}
	b := append(make([]byte, 0, len(cachedPairsMagic)+len(packed)+checksum.Size), cachedPairsMagic...)
	for i, p := range order {
		if i == 0 || order[i-1].lead != p.lead || get(order[i-1].at).compare(get(p.at)) != 0 {
			b = append(b, packed[CachedPairSize*int(p.at):][:CachedPairSize]...)
		}
	}
	return writeChecked(path, b)
}

// CachedPairs is a table of cached pairs. It takes 40 bytes of memory for each. Any number of goroutines may use it.
type CachedPairs struct{ packed []byte }

// ReadCachedPairs reads a table that Write wrote.
func ReadCachedPairs(path string) (*CachedPairs, error) {
	return readChecked(path, func(b []byte) (*CachedPairs, error) {
		packed, err := checkCachedPairs(b)
		return &CachedPairs{packed}, err
	})
}

// checkCachedPairs returns the packed cached pairs in the content of a file.
func checkCachedPairs(b []byte) ([]byte, error) {
	packed, err := Unseal(b, cachedPairsMagic)
	if err == nil && len(packed)%CachedPairSize != 0 {
		err = ErrDamaged
	}
	return packed, err
}

func (t *CachedPairs) Len() int { return len(t.packed) / CachedPairSize }

// At returns a cached pair, in the order of the digests.
func (t *CachedPairs) At(i int) CachedPair { return GetCachedPair(t.packed[CachedPairSize*i:]) }
