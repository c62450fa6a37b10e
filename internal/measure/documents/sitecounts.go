package documents

import (
	"slices"

	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/ground/runfile"
)

// siteCounts counts the pages of sites, by the hashes of their names, and the redirects from sites to others.
type siteCounts struct {
	pages     map[uint64]*records.SiteCount
	redirects map[[2]uint64]int64
}

func newSiteCounts() siteCounts {
	return siteCounts{map[uint64]*records.SiteCount{}, map[[2]uint64]int64{}}
}

// mostSites is the number of sites and of redirects between different sites that a task counts before it writes the counts.
const mostSites = 1 << 14

// isFull reports whether it is time to write the counts.
func (c siteCounts) isFull() bool { return len(c.pages)+len(c.redirects) >= mostSites }

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
