package sources

import (
	"cmp"
	"slices"
	"strings"
)

// Row says how much of a source is in the others, and how much of it is removed.
type Row struct {
	// Source is its path or its value.
	Source string `json:"source"`
	// Reference says that it is of the reference.
	Reference bool `json:"reference,omitempty"`
	// Files is the number of its files, unless it is a value of a field.
	Files int `json:"files,omitempty"`
	// Documents counts its documents.
	Documents int64 `json:"documents"`
	// Removed counts those that are removed.
	Removed int64 `json:"removed"`
	// Elsewhere counts the documents that have a near-duplicate in at least one other source.
	Elsewhere int64 `json:"elsewhere"`
	// In lists the sources that have near-duplicates of its documents, itself among them, the one with the most first. The table
	// has the 1,000 largest of these numbers.
	In []Share `json:"in"`
	// MoreIn is the number of further such sources, which the table leaves out.
	MoreIn int `json:"more_in,omitempty"`
}

// Share is the number of documents of a source that have a near-duplicate in another one.
type Share struct {
	// Source is the other source.
	Source string `json:"source"`
	// Reference says that the other source is of the reference. One of the input may have the same name.
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

// mostShares is the largest number of shares in a table.
const mostShares = 1000

// Table returns a row for each source that has documents, the one with the most documents first; of two with one name, that
// of the reference. It has the largest shares, a thousand in all.
func Table(all []Source, c Counts) []Row {
	var rows []Row
	var sizes []int64 // of all shares
	for number, source := range all {
		of := Number(number)
		row := Row{
			Source: source.Name, Reference: source.Reference, Files: source.Files,
			Documents: c.Documents.Of(of), Removed: c.Removed.Of(of), Elsewhere: c.Elsewhere.Of(of), In: []Share{},
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
