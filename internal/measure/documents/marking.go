package documents

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"mirrorbeam/asmkernels"
	"mirrorbeam/internal/carry/findings"
	"mirrorbeam/internal/carry/preference"
	"mirrorbeam/internal/ground/digest"
	"mirrorbeam/internal/read/corpus"
)

// Marking says what a job wants to know of a document besides its content: how preferred it is, and with which others it
// is compared.
type Marking struct {
	// Keep says which documents of a cluster are preferred; empty: the first ones.
	Keep preference.Preference
	// SourceField is the field that holds the source of a document; empty: for the preference, the source is the address of a
	// page, or the name of its file, and for the table of sources the name of a file or a folder.
	SourceField string
	// Within is the field whose value two documents must share to be compared; empty: all are compared.
	Within string
	// Across is the field in whose value two documents must differ to be compared; empty: all are compared.
	Across string
	// Pages says how documents are pages of sites.
	Pages Paging
}

// fields returns the fields that hold what is wanted.
func (m Marking) fields() []string {
	all := append([]string{m.Keep.Field(), m.SourceField, m.Within, m.Across}, m.Pages.fields()...)
	fields := slices.DeleteFunc(all, func(field string) bool { return field == "" })
	return slices.Compact(slices.Sorted(slices.Values(fields)))
}

// marker marks documents. It is not for concurrent use.
type marker struct {
	order preference.Order
	// isRanked says that the order depends on the source.
	isRanked bool
	// The numbers of the fields in [corpus.Record.Others], -1 for none.
	value, source, scope, side int
	pages                      pager
	hash                       valueHash
	// missing is the hash of the value of a document that has none.
	missing uint64
}

// newMarker returns a marker of records whose other fields are the fields of the marking. Ranks is the list of preferred
// sources. The seed is the key of all hashes.
func newMarker(m Marking, ranks *preference.Ranks, seed uint64) (*marker, error) {
	fields := m.fields()
	order, err := preference.NewOrder(m.Keep, ranks)
	return &marker{
		order: order, isRanked: m.Keep.Ranking() != "", hash: newValueHash(seed), missing: asmkernels.SplitMix(seed) | 1, pages: newPager(m.Pages, fields, seed),
		value: slices.Index(fields, m.Keep.Field()), source: slices.Index(fields, m.SourceField),
		scope: slices.Index(fields, m.Within), side: slices.Index(fields, m.Across),
	}, err
}

// standing returns the standing of a document and counts it if it has no place.
func (m *marker) standing(r *Record, file *corpus.File, counts *findings.Counts) preference.Standing {
	if file.Reference {
		return preference.Reference
	}
	d := preference.Document{Length: contentLength(r.Content)}
	if m.value >= 0 {
		d.Value = r.Content.Others[m.value]
	}
	if m.isRanked {
		d.Source = m.sourceName(r, file)
	}
	standing := m.order(&d)
	if standing == preference.Unranked {
		counts.Unranked++
	}
	return standing
}

// sourceName returns the source of a document for a list of preferred ones.
func (m *marker) sourceName(r *Record, file *corpus.File) string {
	if m.source >= 0 {
		return string(r.Content.Others[m.source])
	}
	if _, address, ok := m.pages.address(r, file); ok {
		return address.String()
	}
	name, _ := file.Place(r.Position)
	return name
}

// scopeOf returns the hash of the value that documents share with those that they are compared with, and the hash of the
// value in which they differ from these. A hash is 0 if there is no such field. It counts a document without a value.
func (m *marker) scopeOf(r *Record, counts *findings.Counts) (scope, side uint64) {
	scope, hasScope := m.hashOf(r, m.scope)
	side, hasSide := m.hashOf(r, m.side)
	if !hasScope || !hasSide {
		counts.Unscoped++
	}
	return scope, side
}

// sourceOf returns the hash of the value that is the source of a document, and the value. The hash is 0 if there is no
// such field. The value is nil if the document lacks it.
func (m *marker) sourceOf(r *Record) (hash uint64, value []byte) {
	if m.source < 0 {
		return 0, nil
	}
	hash, _ = m.hashOf(r, m.source)
	return hash, r.Content.Others[m.source]
}

// hashOf returns the hash of the value of a field, 0 for no field, and whether the document has the value. The lack of it
// is a value of its own, other than an empty one.
func (m *marker) hashOf(r *Record, field int) (hash uint64, has bool) {
	if field < 0 {
		return 0, true
	}
	value := r.Content.Others[field]
	if value == nil {
		return m.missing, false
	}
	return max(m.hash.of(value), 1), true // 0 would be no field
}

// valueHash hashes the values of fields, and the sites and paths of addresses: a part of a SHA-256 of the seed and the value. As
// strangers write them, and one hash makes them one, it must not be easy to find a value for a hash. It is not for concurrent use.
type valueHash struct{ seeded []byte }

const seedSize = 8

func newValueHash(seed uint64) valueHash {
	return valueHash{binary.LittleEndian.AppendUint64(nil, seed)}
}

func (h *valueHash) of(value []byte) uint64 {
	h.seeded = append(h.seeded[:seedSize], value...)
	sum := sha256.Sum256(h.seeded)
	return binary.LittleEndian.Uint64(sum[:])
}

// inScope returns the digest of a document in a scope: documents of different scopes are never equal.
func inScope(d digest.Digest, scope uint64) digest.Digest {
	if scope == 0 {
		return d
	}
	return digest.Digest{asmkernels.SplitMix(d[0] ^ scope), asmkernels.SplitMix(d[1] ^ scope)}
}
