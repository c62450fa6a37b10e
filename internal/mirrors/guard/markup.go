package guard

import (
	"slices"

	"mirrorbeam.dev/internal/input/webtext"
)

// Markup is what copies of a protected page that asks for a password keep if reworded: marks by kind, ascending.
type Markup [webtext.MarkKinds][]uint32

// leastTags and leastAssets are how many marks of a kind a page must have to be found by them.
const leastTags, leastAssets = 12, 4

// The least shares of the marks of a page that a copy has. All copies have the fields.
const leastFields, leastClassed, leastPlain, leastFiles = 0.5, 0.6, 0.8, 0.6

// NewMarkup returns the markup of a page by its marks: some of each kind, the ones with the smallest hashes.
func NewMarkup(marks webtext.Marks) (m Markup) {
	for _, mark := range marks {
		if of := &m[webtext.KindOf(mark)]; len(*of) < mostFeatures {
			*of = append(*of, mark)
		}
	}
	return m
}

// Match returns whether a page with these marks may be a copy, and by which share of the tags or of the assets. Pages
// of the same program or theme may be as similar, so it takes the name of the protected site to make one a suspect.
func (m *Markup) Match(marks webtext.Marks) (tags, assets float64) {
	if m.share(webtext.FieldMark, marks, 1) < leastFields {
		return 0, 0
	}
	if share := m.share(webtext.ClassMark, marks, leastTags); share >= leastClassed {
		tags = share
	}
	if share := m.share(webtext.TagMark, marks, leastTags); share >= leastPlain {
		tags = max(tags, share)
	}
	if share := m.share(webtext.AssetMark, marks, leastAssets); share >= leastFiles {
		assets = share
	}
	return tags, assets
}

// share returns the share of the marks of a kind that are among others, 0 if the page has less than some.
func (m *Markup) share(kind webtext.MarkKind, among webtext.Marks, least int) float64 {
	n := 0
	for _, mark := range m[kind] {
		_, found := slices.BinarySearch(among, mark)
		n += number(found)
	}
	if len(m[kind]) < least {
		return 0
	}
	return float64(n) / float64(len(m[kind]))
}
