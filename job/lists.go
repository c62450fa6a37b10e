package job

import (
	"errors"
	"slices"
	"strings"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/input/site"
	"mirrorbeam.dev/internal/keep/preference"
	"mirrorbeam.dev/internal/mirrors"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/util/setting"
	"mirrorbeam.dev/sketch"
)

// ReadStopWords returns the list of stop words as it is in its file, and an empty list if no file is named. A list
// without a word is an error.
func (c *Config) ReadStopWords() (string, error) {
	if c.StopWords == "" {
		return "", nil
	}
	list, err := corpus.ReadList(c.StopWords)
	if err != nil {
		return "", setting.Errorf("{stopwords}: %w", err)
	}
	normalizer, err := sketch.NewNormalizer(c.Normalize)
	if err != nil {
		return "", setting.Errorf("{normalize}: %w", err)
	}
	words, err := sketch.ReadStopWords(strings.NewReader(list), normalizer)
	if err == nil && words.Len() == 0 {
		err = errors.New("it contains no word")
	}
	if err != nil {
		return "", setting.Errorf("{stopwords} %s: %w", c.StopWords, err)
	}
	return list, nil
}

// ReadRanking returns the list of preferred sources as it is in its file, and an empty list if no file is named. A
// list without a source is an error.
func (c *Config) ReadRanking() (string, error) {
	return readList("keep", string(c.Keep), c.Keep.Ranking(), preference.CheckRanks)
}

func readList(name, value, path string, check func(list string) error) (string, error) {
	if path == "" {
		return "", nil
	}
	list, err := corpus.ReadList(path)
	if err == nil {
		err = check(list)
	}
	if err != nil {
		return "", setting.Errorf("{"+name+"} %s: %w", value, err)
	}
	return list, nil
}

// Mirroring says what sites are, and what makes them mirrors. It matters to the outputs mirrors, sites and suspects.
type Mirroring struct {
	// URLField is the field of a record that holds the address of a page, and DateField the one that holds its date.
	URLField  string `json:"url_field,omitempty" affects:"outputs"`
	DateField string `json:"date_field,omitempty" affects:"outputs"`
	// Site says which site a page belongs to.
	Site site.Rule `json:"site,omitempty" affects:"outputs"`
	// MirrorThreshold is the least score of two mirrors, above 0 and at most 1.
	MirrorThreshold float64 `json:"mirror_threshold,omitempty" affects:"outputs"`
	// MirrorPages is the least number of pages that two mirrors have in common, at least 1.
	MirrorPages int64 `json:"mirror_pages,omitempty" affects:"outputs"`
	// MirrorSites is the largest number of sites that have a page which says something.
	MirrorSites int `json:"mirror_sites,omitempty" affects:"outputs"`
	// Rank, Protected and Allow are paths of lists of sites: those with a rank, those whose copies are suspects, and
	// mirrors that are none. Empty for none.
	Rank      string `json:"rank,omitempty" affects:"outputs"`
	Protected string `json:"protected,omitempty" affects:"outputs"`
	Allow     string `json:"allow,omitempty" affects:"outputs"`
}

var siteOutputs = []string{output.Mirrors, output.Sites, output.Suspects}

// IsAboutSites reports whether an output, by its name, is about sites.
func IsAboutSites(name string) bool { return slices.Contains(siteOutputs, name) }

// HasSites reports whether an output is about sites.
func (c *Config) HasSites() bool { return slices.ContainsFunc(c.Emit, IsAboutSites) }

// Limits returns what makes two sites mirrors.
func (m *Mirroring) Limits() mirrors.Limits {
	return mirrors.Limits{Score: m.MirrorThreshold, Pages: m.MirrorPages, Sites: m.MirrorSites}
}

// shardsPerRange is how many shards of keys there are for each range of sites: there are fewer sites than keys.
const shardsPerRange = 8

// Paging returns how documents are pages of sites in a job of the given number of shards. They are not if no output is
// about sites.
func (c *Config) Paging(shards int) documents.Paging {
	if !c.HasSites() {
		return documents.Paging{}
	}
	return documents.Paging{
		Rule:    c.Site,
		URL:     c.URLField,
		Date:    c.DateField,
		Ranges:  max(shards/shardsPerRange, 1),
		Traces:  c.State != "",
		Watched: c.Protected != "",
	}
}

// ReadSiteLists returns the lists of sites as they stand in their files.
func (c *Config) ReadSiteLists() (lists documents.SiteLists, err error) {
	if !c.HasSites() {
		return lists, nil
	}
	for _, one := range []struct {
		setting, path string
		to            *string
		check         func(string) error
	}{
		{"rank", c.Rank, &lists.Rank, mirrors.CheckRanks},
		{"protected", c.Protected, &lists.Protected, func(list string) error {
			return mirrors.CheckProtected(list, c.Site)
		}},
		{"allow", c.Allow, &lists.Allowed, func(list string) error {
			return mirrors.CheckAllowed(list, lists.Protected)
		}},
	} {
		if *one.to, err = readList(one.setting, one.path, one.path, one.check); err != nil {
			return lists, err
		}
	}
	return lists, nil
}

func (c *Config) checkMirroring(check checker) {
	if !c.HasSites() {
		c.refuse(check, &c.Mirroring, "is for {emit} mirrors, sites and suspects")
		return
	}
	check(c.URLField != "", "{url_field}: must not be empty")
	check(c.DateField != "", "{date_field}: must not be empty")
	check.err(c.Site.Check(), "{site} %s", c.Site)
	check.err(c.Limits().CheckScore(), "{mirror_threshold} %g", c.MirrorThreshold)
	check(c.MirrorPages >= 1, "{mirror_pages} %d: must be 1 or more", c.MirrorPages)
	check.err(c.Limits().CheckSites(), "{mirror_sites} %d", c.MirrorSites)
	check(c.Scorer().HasClusters,
		"{emit} mirrors, sites and suspects are about pages that are near-duplicates, "+
			"not about {similarity} containment")
	check(c.Across == "", "{across} %s: pages on one site may be copies of pages with the same value; leave it out",
		c.Across)
	check(c.Protected != "" || !slices.Contains(c.Given, "emit") || !slices.Contains(c.Emit, output.Suspects),
		"{emit} suspects: are copies of {protected} sites; give a list of these")
	check(len(c.Reference) == 0,
		"{reference}: its documents are not compared with each other, so little is known of their sites; "+
			"give its files to {input}")
}
