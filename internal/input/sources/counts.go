package sources

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
)

// Tally counts something by the number of a source. Counts behind its end are 0.
type Tally []int64

// Add adds n to the count of a source.
func (t *Tally) Add(of Number, n int64) {
	for int(of) >= len(*t) {
		*t = append(*t, 0)
	}
	(*t)[of] += n
}

// Of returns the count of a source.
func (t Tally) Of(n Number) int64 {
	if int(n) < len(t) {
		return t[n]
	}
	return 0
}

// Counts says how many documents each source has, how many of them are removed, and how many have a near-duplicate in
// which source. A document has a near-duplicate in a source if another document of that source is equal to it, or if a
// verified edge joins it, or a document that is equal to it, to a document of that source or to one that is equal to
// such a document.
type Counts struct {
	Documents Tally `json:",omitempty"`
	Removed   Tally `json:",omitempty"`
	Elsewhere Tally `json:",omitempty"`
	// Shared counts, by source, the documents that have a near-duplicate in each source.
	Shared []Tally `json:",omitempty"`
	// Lost counts the shingles that are lost with removed documents, and LostOf all shingles of these.
	Lost   Tally `json:",omitempty"`
	LostOf Tally `json:",omitempty"`
	// Words counts the words of documents, and Cut the words that are cut, if passages are looked for.
	Words Tally `json:",omitempty"`
	Cut   Tally `json:",omitempty"`
}

// Share counts a document of a source that has near-duplicates in others, and maybe in its own.
func (c *Counts) Share(of Number, in Set) {
	if in == (Set{}) {
		return
	}
	tally := c.shared(of)
	for source := range in.All {
		tally.Add(source, 1)
	}
	if in.Remove(of); in != (Set{}) {
		c.Elsewhere.Add(of, 1)
	}
}

func (c *Counts) shared(of Number) *Tally {
	for int(of) >= len(c.Shared) {
		c.Shared = append(c.Shared, nil)
	}
	return &c.Shared[of]
}

// Set is a set of sources.
type Set [(Most + 63) / 64]uint64

// Put adds a source.
func (s *Set) Put(n Number) { s[n/64] |= 1 << (n % 64) }

// Remove takes a source out.
func (s *Set) Remove(n Number) { s[n/64] &^= 1 << (n % 64) }

// Has reports whether a source is in the set.
func (s *Set) Has(n Number) bool { return s[n/64]>>(n%64)&1 != 0 }

// PutAll adds all sources of another set.
func (s *Set) PutAll(other Set) {
	for i := range s {
		s[i] |= other[i]
	}
}

// RemoveAll takes all sources of another set out.
func (s *Set) RemoveAll(other Set) {
	for i := range s {
		s[i] &^= other[i]
	}
}

// All yields the sources in ascending order.
func (s Set) All(yield func(Number) bool) {
	for i, word := range s {
		for ; word != 0; word &= word - 1 {
			if !yield(Number(64*i + bits.TrailingZeros64(word))) {
				return
			}
		}
	}
}

// Row says how much of a source is in the others, and how much of it is removed.
type Row struct {
	// Source is its path or its value.
	Source string `json:"source"`
	// Reference says that it belongs to the reference.
	Reference bool `json:"reference,omitempty"`
	// Files is the number of its files, unless it is a value of a field.
	Files int `json:"files,omitempty"`
	// Documents counts its documents.
	Documents int64 `json:"documents"`
	// Removed counts its removed documents.
	Removed int64 `json:"removed"`
	// Elsewhere counts the documents that have a near-duplicate in at least one other source.
	Elsewhere int64 `json:"elsewhere"`
	// Lost counts the shingles of its removed documents that the documents kept for these lack.
	Lost int64 `json:"lost,omitempty"`
	// LostOf counts all shingles of its removed documents, distinct per document, where Lost is counted.
	LostOf int64 `json:"lost_of,omitempty"`
	// Words counts the words of its documents, with trimmed or passages and without --source-field.
	Words int64 `json:"words,omitempty"`
	// WordsCut counts its words that are cut in trimmed.
	WordsCut int64 `json:"words_cut,omitempty"`
	// In lists the sources with near-duplicates of its documents, itself included, the one with the most first. The
	// whole table has the 1,000 largest numbers.
	In []Share `json:"in"`
	// MoreIn is the number of further such sources.
	MoreIn int `json:"more_in,omitempty"`
}

// Share is the number of documents of a source that have a near-duplicate in another one.
type Share struct {
	// Source is the other source.
	Source string `json:"source"`
	// Reference says that the other source belongs to the reference. A source of the input may have the same name.
	Reference bool `json:"reference,omitempty"`
	// Documents counts the documents that have a near-duplicate there.
	Documents int64 `json:"documents"`
}

// IsOf reports whether the share is of the row's source itself.
func (s Share) IsOf(row Row) bool { return s.Source == row.Source && s.Reference == row.Reference }

// Name returns the name of the other source for a reader.
func (s Share) Name() string {
	if s.Reference {
		return s.Source + " of the reference"
	}
	return s.Source
}

const mostShares = 1000

// Table returns a row for each source that has documents, the one with the most documents first; of two with one name,
// the source of the reference. It has the largest shares, a thousand in all.
func Table(all []Source, c Counts) []Row {
	var rows []Row
	var sizes []int64 // of all shares
	for number, source := range all {
		of := Number(number)
		row := Row{
			Source:    source.Name,
			Reference: source.Reference,
			Files:     source.Files,
			Documents: c.Documents.Of(of),
			Removed:   c.Removed.Of(of),
			Elsewhere: c.Elsewhere.Of(of),
			Lost:      c.Lost.Of(of),
			LostOf:    c.LostOf.Of(of),
			In:        []Share{},
			Words:     c.Words.Of(of),
			WordsCut:  c.Cut.Of(of),
		}
		if row.Documents == 0 {
			continue
		}
		if int(of) < len(c.Shared) {
			for in, documents := range c.Shared[of] {
				if documents > 0 {
					row.In = append(row.In, Share{all[in].Name, all[in].Reference, documents})
					sizes = append(sizes, documents)
				}
			}
		}
		slices.SortStableFunc(row.In, func(a, b Share) int {
			return cmp.Or(cmp.Compare(b.Documents, a.Documents), strings.Compare(a.Source, b.Source))
		})
		rows = append(rows, row)
	}
	slices.SortStableFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(b.Documents, a.Documents), strings.Compare(a.Source, b.Source))
	})
	bound(rows, sizes)
	return rows
}

// bound keeps the largest shares of all rows. Of equally large ones the first rows' stay.
func bound(rows []Row, sizes []int64) {
	if len(sizes) <= mostShares {
		return
	}
	slices.SortFunc(sizes, func(a, b int64) int { return cmp.Compare(b, a) })
	least := sizes[mostShares-1]
	ties := mostShares - slices.Index(sizes, least) // shares of the least size that stay
	for i := range rows {
		in := rows[i].In
		kept := 0
		for kept < len(in) && in[kept].Documents > least {
			kept++
		}
		for ; kept < len(in) && in[kept].Documents == least && ties > 0; ties-- {
			kept++
		}
		rows[i].In, rows[i].MoreIn = in[:kept], len(in)-kept
	}
}
