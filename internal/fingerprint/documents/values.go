package documents

import (
	"errors"
	"slices"
	"unicode/utf8"

	"mirrorbeam.dev/internal/input/sources"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/util/quoting"
)

type valueCounts map[valueKey]*valueCount

type valueKey struct {
	hash   uint64
	corpus sources.Corpus
}

type valueCount struct {
	name      []byte
	documents int64
}

func (c valueCounts) add(key valueKey, value []byte) {
	count := c[key]
	if count == nil {
		count = &valueCount{name: valueName(value)}
		c[key] = count
	}
	count.documents++
}

func (c valueCounts) addAll(other valueCounts) {
	for key, more := range other {
		if count := c[key]; count != nil {
			count.documents += more.documents
		} else {
			c[key] = more
		}
	}
}

// write writes the counts to the shards of their hashes, and forgets them.
func (c valueCounts) write(run *runfile.Writer, shardOf func(hash uint64) int) error {
	for key, count := range c {
		err := records.Write(run, records.SourceCounts, shardOf(key.hash), &records.SourceCount{
			Hash:      key.hash,
			Documents: count.documents,
			Corpus:    key.corpus,
			Name:      count.name,
		})
		if err != nil {
			return err
		}
	}
	clear(c)
	return nil
}

// The names of documents without a value, and of those whose value is empty.
const (
	// NoValue is the source of documents without the field.
	NoValue    = "(none)"
	emptyValue = `""`
)

// mostNameBytes is the length of the longest value that is shown in full.
const mostNameBytes = 128

// valueName returns a value as tables show it, nil for none.
func valueName(value []byte) []byte {
	switch {
	case value == nil:
		return []byte(NoValue)
	case len(value) == 0:
		return []byte(emptyValue)
	}
	return []byte(shortText(value, mostNameBytes))
}

// shortText returns a text as rows have it. A longer one is cut where a character begins.
func shortText[S ~string | ~[]byte](text S, most int) string {
	if len(text) <= most {
		return quoting.Text(text)
	}
	end := most
	for end > most-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return quoting.Text(text[:end]) + "…"
}

type siteCounts struct {
	pages     map[uint64]*records.SiteCount
	redirects map[[2]uint64]int64
}

func newSiteCounts() siteCounts {
	return siteCounts{map[uint64]*records.SiteCount{}, map[[2]uint64]int64{}}
}

// add adds a count. It asks for the name of a new site.
func (c siteCounts) add(count records.SiteCount, name func() string) {
	known := c.pages[count.Site]
	if known == nil {
		count.Name = name()
		c.pages[count.Site] = &count
		return
	}
	known.Add(count)
}

func (c siteCounts) addAll(other siteCounts) {
	for _, count := range other.pages {
		c.add(*count, func() string { return count.Name })
	}
	for sites, pages := range other.redirects {
		c.redirects[sites] += pages
	}
}

// write writes each count to the shard of its site, and forgets them. A redirect goes to the shards of both sites.
func (c siteCounts) write(run *runfile.Writer, shardOf func(site uint64) int) error {
	for _, count := range c.pages {
		if err := records.Write(run, records.SiteCounts, shardOf(count.Site), count); err != nil {
			return err
		}
	}
	for sites, pages := range c.redirects {
		one := records.Redirect{Site: sites[0], Other: sites[1], Pages: pages}
		from, to := shardOf(one.Site), shardOf(one.Other)
		for _, shard := range slices.Compact([]int{from, to}) {
			if err := records.Write(run, records.Redirects, shard, &one); err != nil {
				return err
			}
		}
	}
	c.forget()
	return nil
}

func (c siteCounts) forget() {
	clear(c.pages)
	clear(c.redirects)
}

type tally struct {
	values          valueCounts
	sites           siteCounts
	run             *runfile.Writer
	ofValue, ofSite func(hash uint64) int // the shard of a value, and of a site
}

func newTally(run *runfile.Writer, ofValue, ofSite func(hash uint64) int) *tally {
	return &tally{valueCounts{}, newSiteCounts(), run, ofValue, ofSite}
}

func (t *tally) add(b *block) error {
	t.values.addAll(b.values)
	t.sites.addAll(b.sites)
	return t.writeMany()
}

func (t *tally) writeMany() error {
	const most = 1 << 14
	if max(len(t.values), len(t.sites.pages)+len(t.sites.redirects)) < most {
		return nil
	}
	return t.write()
}

func (t *tally) write() error {
	return errors.Join(t.values.write(t.run, t.ofValue), t.sites.write(t.run, t.ofSite))
}
