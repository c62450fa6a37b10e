package finished

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strconv"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/read/parquetfile"
)

// The columns of Parquet that rows about sites and changes are read from.
var (
	mirrorColumns  = []string{"a", "b", "kind", "score", "group", "pages_a", "pages_b", "common_a", "common_b", "same_path", "similarity"}
	siteColumns    = []string{"site", "pages", "rank", "protected", "group", "primary", "group_sites", "cohesion"}
	suspectColumns = []string{
		"id", "severity", "reasons", "site", "protected", "score", "pages", "common", "login_pages", "lookalike", "lookalike_reason",
		"first_seen", "examples.page", "examples.original", "examples.similarity", "campaign", "sites",
	}
	changeColumns = []string{"of", "change", "name", "size", "before", "added", "removed", "generation", "since"}
)

// Mirrors gives the rows of mirrors in their order, an error last. Of the fields of Parquet only those of the two sites, the
// score, the pages in common and their paths are there.
func (f *Folder) Mirrors(ctx context.Context) iter.Seq2[output.Mirror, error] {
	return rows(ctx, f, output.Mirrors, reading[output.Mirror]{parseRow[output.Mirror], mirrorColumns, takeMirror})
}

// GroupedSites gives the rows of sites that are in a group of mirrors, an error last. Dates and duplicates are not there.
func (f *Folder) GroupedSites(ctx context.Context) iter.Seq2[output.Site, error] {
	return func(yield func(output.Site, error) bool) {
		for site, err := range rows(ctx, f, output.Sites, reading[output.Site]{parseGroupedSite, siteColumns, takeSite}) {
			if err == nil && site.Group == "" {
				continue
			}
			if !yield(site, err) || err != nil {
				return
			}
		}
	}
}

// Suspects gives the rows of suspects in their order, an error last. Of the fields of Parquet only those are there that say
// which site copies what, and why that is suspicious.
func (f *Folder) Suspects(ctx context.Context) iter.Seq2[output.Suspect, error] {
	return rows(ctx, f, output.Suspects, reading[output.Suspect]{parseRow[output.Suspect], suspectColumns, takeSuspect})
}

// Changes gives the rows of changes in their order, an error last. Lineages are not there if the rows are those of Parquet.
func (f *Folder) Changes(ctx context.Context) iter.Seq2[output.Change, error] {
	return rows(ctx, f, output.Changes, reading[output.Change]{parseRow[output.Change], changeColumns, takeChange})
}

// parseRow reads a line of JSON.
func parseRow[T any](line []byte) (row T, err error) {
	err = json.Unmarshal(line, &row)
	return row, err
}

// groupField is in each row of a site in a group, and in no other: in a string, the quotation marks would be escaped.
var groupField = []byte(`"group":`)

// parseGroupedSite reads a row of sites. That of a site without a group is not parsed.
func parseGroupedSite(line []byte) (output.Site, error) {
	if !bytes.Contains(line, groupField) {
		return output.Site{}, nil
	}
	return parseRow[output.Site](line)
}

// numbers reads numbers from cells, and keeps what goes wrong.
type numbers struct{ err error }

// whole reads a whole number.
func (n *numbers) whole(cell parquetfile.Cell) int64 {
	x, err := strconv.ParseInt(value(cell), 10, 64)
	n.err = errors.Join(n.err, err)
	return x
}

// real reads any number.
func (n *numbers) real(cell parquetfile.Cell) (x float64) {
	n.err = errors.Join(n.err, takeNumber(cell, &x))
	return x
}

// takeMirror reads a row of mirrors from mirrorColumns.
func takeMirror(cells []parquetfile.Cell) (output.Mirror, error) {
	var n numbers
	return output.Mirror{
		A: value(cells[0]), B: value(cells[1]), Kind: value(cells[2]), Score: n.real(cells[3]), Group: value(cells[4]),
		PagesA: n.whole(cells[5]), PagesB: n.whole(cells[6]), CommonA: n.whole(cells[7]), CommonB: n.whole(cells[8]),
		SamePath: n.real(cells[9]), Similarity: n.real(cells[10]),
	}, n.err
}

// takeSite reads a row of sites from siteColumns.
func takeSite(cells []parquetfile.Cell) (output.Site, error) {
	var n numbers
	return output.Site{
		Site: value(cells[0]), Pages: n.whole(cells[1]), Rank: n.whole(cells[2]), Protected: isTrue(cells[3]),
		Group: value(cells[4]), Primary: isTrue(cells[5]), GroupSites: n.whole(cells[6]), Cohesion: n.real(cells[7]),
	}, n.err
}

// takeSuspect reads a row of suspects from suspectColumns.
func takeSuspect(cells []parquetfile.Cell) (output.Suspect, error) {
	var n numbers
	s := output.Suspect{
		ID: value(cells[0]), Severity: value(cells[1]), Reasons: texts(cells[2]), Site: value(cells[3]), Protected: value(cells[4]), Score: n.real(cells[5]),
		Pages: n.whole(cells[6]), Common: n.whole(cells[7]), LoginPages: n.whole(cells[8]),
		Lookalike: n.real(cells[9]), LookalikeReason: value(cells[10]), FirstSeen: value(cells[11]),
		Campaign: value(cells[15]), Sites: n.whole(cells[16]),
	}
	pages, originals, similarities := texts(cells[12]), texts(cells[13]), texts(cells[14])
	if len(pages) != len(originals) || len(pages) != len(similarities) {
		return s, errors.Join(n.err, errors.New("its examples have columns of different lengths"))
	}
	for i, page := range pages {
		similarity, err := strconv.ParseFloat(similarities[i], 64)
		n.err = errors.Join(n.err, err)
		s.Examples = append(s.Examples, output.CopiedPage{Page: page, Original: originals[i], Similarity: similarity})
	}
	return s, n.err
}

// takeChange reads a row of changes from changeColumns.
func takeChange(cells []parquetfile.Cell) (output.Change, error) {
	var n numbers
	return output.Change{
		Of: value(cells[0]), Change: value(cells[1]), Name: value(cells[2]),
		Size: n.whole(cells[3]), Before: n.whole(cells[4]), Added: n.whole(cells[5]), Removed: n.whole(cells[6]),
		Generation: n.whole(cells[7]), Since: n.whole(cells[8]),
	}, n.err
}

// texts returns the values of a cell of a list.
func texts(cell parquetfile.Cell) (all []string) {
	for text := range cell.All() {
		all = append(all, string(text))
	}
	return all
}
