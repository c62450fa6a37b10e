package records_test

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/work/worktest"
)

// drawn is a set of records about sites.
type drawn struct {
	count   records.SiteCount
	lead    records.Redirect
	sum     records.SiteSum
	link    records.Link
	site    records.Site
	half    records.Half
	grouped records.GroupedSite
	page    records.ShardPage
}

func draw(random *rand.Rand) (d drawn) {
	number := func() int64 { return random.Int64() >> random.IntN(60) }
	text := func() string {
		b := make([]byte, random.IntN(30))
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		return string(b)
	}
	trace := func() *records.Trace {
		t := records.TraceOf([]uint64{random.Uint64()})
		return &t
	}
	d.count = records.SiteCount{
		Site:   random.Uint64(),
		Pages:  number(),
		Text:   number(),
		Logins: number(),
		First:  -number(),
		Name:   text(),
	}
	d.lead = records.Redirect{Site: random.Uint64(), Other: random.Uint64(), Pages: number()}
	d.sum = records.SiteSum{
		Site:         random.Uint64(),
		Repeats:      number(),
		RepeatedText: number(),
		Common:       number(),
		CommonText:   number(),
		Alike:        number(),
	}
	d.link = records.Link{
		Site:          random.Uint64(),
		Other:         random.Uint64(),
		Pages:         number(),
		Text:          number(),
		Rarity:        number(),
		Weight:        number(),
		SamePath:      number(),
		Similarity:    number(),
		Spread:        number(),
		Originals:     number(),
		Markup:        number(),
		MarkupPages:   number(),
		SameLanguage:  number(),
		LanguagePages: number(),
	}
	for range random.IntN(5) {
		d.link.Examples.Add(records.Example{Weight: number(), Similarity: number(), Page: text(), Copy: text()})
	}
	d.site = records.Site{
		SiteCount:    d.count,
		Repeats:      number(),
		RepeatedText: number(),
		Rarity:       number(),
		Weight:       number(),
		Alike:        number(),
	}
	d.half = records.Half{Link: d.link, Of: d.site}
	d.grouped = records.GroupedSite{Site: random.Uint64(), Sites: number(), Cohesion: number(), Primary: text()}
	d.page = records.ShardPage{Number: records.Number(random.Uint32()), Size: random.Uint32()}
	d.page.Page = records.Page{
		Site:     random.Uint64(),
		Path:     random.Uint64(),
		Login:    random.IntN(2) == 0,
		Start:    random.IntN(2) == 0,
		Original: random.Uint64N(2) * random.Uint64(),
	}
	if address := text(); address != "" {
		d.page.Address = []byte(address)
	}
	copy(d.page.Language[:], []string{"", "en", "gsw"}[random.IntN(3)])
	if random.IntN(2) == 0 {
		d.page.Markup = make([]byte, records.MarkupSize)
		for i := range d.page.Markup {
			d.page.Markup[i] = byte(random.Uint32())
		}
	}
	if random.IntN(2) == 0 {
		d.page.Trace = trace()[:]
	}
	d.half.Link = d.link
	return d
}

// TestSiteRecords: what is written about sites and pages is read back, one record behind the other.
func TestSiteRecords(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	all := make([]drawn, 200)
	runs := worktest.Runs(t)
	var pages []byte
	path := worktest.Write(t, runs, func(run *runfile.Writer) error {
		for i := range all {
			all[i] = draw(random)
			d := &all[i]
			pages = records.Append(pages, &records.SplitPage{Ref: docref.Ref(i), Page: d.page.Page})
			for _, err := range []error{
				records.Write(run, records.SiteCounts, 3, &d.count), records.Write(run, records.SiteSums, 3, &d.sum),
				records.Write(run, records.SitePairs, 3, &records.SitePair{First: d.half, Second: d.link}),
				records.Write(run, records.Sites, 3, &d.site),
				records.Write(run, records.Mirrored, 3, &records.MirroredSites{One: &d.half, Other: &d.half}),
				records.Write(run, records.Grouped, 3, &d.grouped), records.Write(run, records.ShardPages, 3, &d.page),
				records.Write(run, records.Redirects, 3, &d.lead),
			} {
				if err != nil {
					return err
				}
			}
		}
		return nil
	})
	packed := map[runfile.Kind][]byte{}
	for _, kind := range []runfile.Kind{
		records.SiteCounts, records.SiteSums, records.SitePairs, records.Sites,
		records.Mirrored, records.Grouped, records.Redirects,
	} {
		packed[kind] = worktest.Read(t, kind, path)[3]
	}
	pieces, err := runfile.Pieces(path)
	if err != nil {
		t.Fatal(err)
	}
	var reader runfile.Reader
	defer reader.Close()
	shardPages, err := records.ReadShardPages(&reader, pieces)
	if err != nil || len(shardPages) != len(all) {
		t.Fatalf("%d pages (%v)", len(shardPages), err)
	}
	for i, want := range all {
		var got drawn
		var page records.SplitPage
		var sites records.SitePair
		var both records.MirroredSites
		got.count, packed[records.SiteCounts] = records.Next[records.SiteCount](packed[records.SiteCounts])
		got.sum, packed[records.SiteSums] = records.Next[records.SiteSum](packed[records.SiteSums])
		got.lead, packed[records.Redirects] = records.Next[records.Redirect](packed[records.Redirects])
		sites, packed[records.SitePairs] = records.Next[records.SitePair](packed[records.SitePairs])
		got.site, packed[records.Sites] = records.Next[records.Site](packed[records.Sites])
		both, packed[records.Mirrored] = records.Next[records.MirroredSites](packed[records.Mirrored])
		got.grouped, packed[records.Grouped] = records.Next[records.GroupedSite](packed[records.Grouped])
		page, pages = records.Next[records.SplitPage](pages)
		got.link, got.half, got.page = sites.Second, *both.One, shardPages[i]
		if !reflect.DeepEqual(got, want) || page.Ref != docref.Ref(i) || !reflect.DeepEqual(page.Page, want.page.Page) {
			t.Fatalf("record %d:\n%+v and %+v\nwant\n%+v", i, got, page, want)
		}
	}
	for kind, rest := range packed {
		if len(rest) > 0 {
			t.Errorf("%d bytes of kind %d are left", len(rest), kind)
		}
	}
}

// TestExamples: of many examples the best stay, in whatever order they come, each once.
func TestExamples(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	var all []records.Example
	for i := range 12 {
		all = append(all, records.Example{
			Weight:     int64(i / 4),
			Similarity: int64(i % 2),
			Page:       string(rune('a' + i%3)),
			Copy:       "x",
		})
	}
	var want records.Examples
	for round := range 20 {
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		var got records.Examples
		for _, e := range all {
			if got.Wants(e.Weight) {
				got.Add(e)
				got.Add(e)
			}
		}
		if round == 0 {
			want = got
		}
		if !reflect.DeepEqual(got, want) || len(got) != 3 || got[0].Weight != 2 {
			t.Fatalf("examples %+v, want %+v", got, want)
		}
	}
}
