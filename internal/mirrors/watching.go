package mirrors

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/zeebo/xxh3"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/input/site"
	"mirrorbeam.dev/internal/input/webtext"
	"mirrorbeam.dev/internal/mirrors/guard"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/work"
)

// The watch compares all pages with the pages of protected sites, from the side of these: see package guard. It knows
// no groups of near-duplicates, and no threshold of these. The texts of pages are in the run files of the stage
// fingerprint, so an incremental run compares what a full run does.

// Guarding is the first step of the stage guard. A task finds the pages of protected sites in a split.
type Guarding struct {
	Judging
	Rule site.Rule
}

// Delivery returns the delivery of its tasks.
func (*Guarding) Delivery() work.Delivery {
	return work.Delivery{Needed: []runfile.Kind{records.PageTexts}, Extra: []runfile.Kind{records.Pages}}
}

// leastLetters is how many bytes a text has that is watched.
const leastLetters = 2 * guard.RunLetters

// Task writes the texts of the protected pages of a split: what is compared, and all that they contain.
func (g *Guarding) Task(ctx context.Context, _ work.Task, w *work.TaskContext) error {
	names := siteNames{rule: g.Rule, lists: g.lists, known: map[uint64]siteName{}}
	packed, err := w.Read(0, records.Pages)
	if err != nil {
		return err
	}
	isProtected := false
	for page := range records.All[records.SplitPage](packed) {
		isProtected = isProtected || names.of(&page.Page).isProtected
	}
	if !isProtected {
		return nil // the texts need not be read
	}
	pages, err := documents.OpenPages(w, 0)
	if err != nil {
		return err
	}
	visit := func(page *records.Page, text *records.PageText) error {
		of := names.of(page)
		if !of.isProtected {
			return nil
		}
		contents := webtext.ContentsOf(text.Contents)
		marks := contents.Marks
		for i, one := range [][]byte{text.Shown, contents.Text} {
			isMore := i == 0 || 4*len(one) >= 5*len(text.Shown)
			if len(one) < leastLetters || !isMore {
				if one = nil; len(marks) == 0 {
					continue
				}
			}
			err := records.Write(&w.Run, records.Guards, 0, &records.Guard{
				Name:  of.name,
				Page:  *page,
				Asks:  page.Login || contents.Asks,
				Text:  one,
				Marks: marks,
			})
			marks = nil
			if err != nil {
				return err
			}
		}
		return nil
	}
	for piece := range records.PageTexts.Of(w.Pieces) {
		if err := eachText(ctx, w, &pages, piece, visit); err != nil {
			return err
		}
	}
	return nil
}

// eachText visits the pages of a piece of texts. Pieces may be left out, but not asked for again, or in another order.
func eachText(ctx context.Context, w *work.TaskContext, pages *documents.Pages, piece runfile.Piece,
	visit func(*records.Page, *records.PageText) error,
) error {
	moved, err := docref.New(int(piece.Mark), 0)
	if err != nil {
		return err
	}
	packed, err := w.ReadPiece(1, piece)
	if err != nil {
		return err
	}
	w.Figures.Bytes += int64(len(packed))
	for text := range records.All[records.PageText](packed) {
		w.Figures.Records++
		page, is := pages.Of(text.Ref + moved)
		if !is {
			return fmt.Errorf("the page %v has a text and no address", text.Ref+moved)
		}
		if err := cmp.Or(visit(&page, &text), ctx.Err()); err != nil {
			return err
		}
	}
	return nil
}

// siteNames tells the names of sites. It looks at one address of each.
type siteNames struct {
	rule  site.Rule
	lists *lists
	known map[uint64]siteName
}

type siteName struct {
	name, domain string
	isProtected  bool
}

func (s *siteNames) of(p *records.Page) siteName {
	of, is := s.known[p.Site]
	if !is {
		if address, ok := site.Parse(string(p.Address)); ok {
			of.name, _ = s.rule.Of(address)
			of.domain, of.isProtected = site.Registered(address.Host), s.lists.isProtected(of.name)
		}
		s.known[p.Site] = of
	}
	return of
}

// GuardListing lists the protected pages that tasks of [Guarding] have found, for the tasks of [Watching].
type GuardListing struct{}

// mostGuards is how many texts of protected pages a task compares others with at once: some 100 MB.
const mostGuards = 1 << 12

// Plan writes the list in parts, next to the catalog of the tasks. Equal texts of a site are one.
func (GuardListing) Plan(_ context.Context, p *work.Planning) error {
	var all []records.Guard
	err := work.EachRecordOf(p.Outcomes, work.Guard, records.Guards, p.Memory, func(packed []byte) error {
		for one := range records.All[records.Guard](slices.Clone(packed)) {
			all = append(all, one)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("list protected pages: %w", err)
	}
	slices.SortFunc(all, func(a, b records.Guard) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), slices.Compare(a.Text, b.Text),
			slices.Compare(a.Page.Address, b.Page.Address))
	})
	all = slices.CompactFunc(all, func(a, b records.Guard) bool {
		return a.Name == b.Name && slices.Equal(a.Text, b.Text)
	})
	slices.SortStableFunc(all, func(a, b records.Guard) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), slices.Compare(a.Page.Address, b.Page.Address))
	})
	if len(all) == 0 {
		return nil
	}
	written := ""
	delivery := work.Delivery{Needed: []runfile.Kind{records.PageTexts}, Extra: []runfile.Kind{records.Pages}}
	var failed error
	err = delivery.Deliver(string(p.Runs.Folder), work.RunsIn(p.Outcomes, work.Fingerprint), p.Counts,
		func(t work.Task) {
			if written != t.Catalog {
				written, failed = t.Catalog, writeGuards(t.Catalog, all)
			}
			if failed == nil {
				p.Emit(t)
			}
		})
	if err = cmp.Or(err, failed); err != nil {
		return fmt.Errorf("make tasks that compare pages with protected ones: %w", err)
	}
	return nil
}

func guardsPath(catalog string, part int) string { return fmt.Sprintf("%s-guards-%d", catalog, part) }

func writeGuards(catalog string, all []records.Guard) error {
	part := 0
	for some := range slices.Chunk(all, mostGuards) {
		var packed []byte
		for i := range some {
			packed = records.Append(packed, &some[i])
		}
		if err := storage.WriteFile(guardsPath(catalog, part), packed); err != nil {
			return err
		}
		part++
	}
	return nil
}

// guards are the texts of protected pages that tasks of this process share. Only who compares pages prepares the rest.
type guards struct {
	packed []byte
	digest xxh3.Uint128
	once   sync.Once

	all   []records.Guard
	table *guard.Table
	// markups holds the markup of each guard that has one, by its index in all.
	markups map[int]guard.Markup
}

func (g *guards) page(i int) guard.Page {
	return guard.Page{Site: g.all[i].Page.Site, Text: g.all[i].Text, Asks: g.all[i].Asks}
}

var allGuards work.Shared[guards]

func readGuards(catalog string, part int) (*guards, error) {
	return allGuards.Get(guardsPath(catalog, part), func(path string) (*guards, error) {
		packed, err := storage.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("read protected pages: %w", err)
		}
		return &guards{packed: packed, digest: xxh3.Hash128(packed)}, nil
	})
}

func (g *guards) prepare() {
	g.once.Do(func() {
		g.all, g.markups = slices.Collect(records.All[records.Guard](g.packed)), map[int]guard.Markup{}
		pages := make([]guard.Page, len(g.all))
		for i := range g.all {
			pages[i] = g.page(i)
			if marks := g.all[i].Marks; len(marks) > 0 {
				g.markups[i] = guard.NewMarkup(marks)
			}
		}
		g.table = guard.NewTable(pages)
	})
}

// Watching is the second step of the stage guard. A task compares the pages of a split with the guards.
type Watching struct {
	Judging
	Rule site.Rule
	// Ranges is the number of ranges of hashes of sites that the copies are written for.
	Ranges int
	State  StateFiles
	// ForNext keeps the copies for the next run of a scheduled job.
	ForNext bool
}

// mostOriginals is how many protected sites a page is compared with: those that it has the most of.
const mostOriginals = 16

// Task compares the pages of a split.
func (v *Watching) Task(ctx context.Context, t work.Task, w *work.TaskContext) error {
	before, err := v.State.read(w)
	if err != nil {
		return err
	}
	names := siteNames{rule: v.Rule, lists: v.lists, known: map[uint64]siteName{}}
	if err := before.seePages(w, &names); err != nil {
		return err
	}
	for part := 0; ; part++ {
		all, err := readGuards(t.Catalog, part)
		if part > 0 && errors.Is(err, fs.ErrNotExist) {
			return nil
		} else if err != nil {
			return err
		}
		w.Hold(all)
		if err := v.compare(ctx, all, &names, before, w); err != nil {
			return err
		}
	}
}

// compare compares the pages of a split with guards, but for the pieces that the last run has compared with them.
func (v *Watching) compare(ctx context.Context, all *guards, names *siteNames, before *earlier,
	w *work.TaskContext,
) error {
	pages, err := documents.OpenPages(w, 0)
	if err != nil {
		return err
	}
	var found *copies
	for piece := range records.PageTexts.Of(w.Pieces) {
		kept := records.PieceCopies{Of: v.keyOf(piece, all)}
		packed, isKnown := before.copies[kept.Of]
		if kept.Packed = packed; !isKnown {
			if found == nil {
				found = newCopies(v, all)
			}
			if kept.Packed, err = found.of(ctx, w, &pages, piece, names); err != nil {
				return err
			}
		}
		if err := v.write(w, &kept); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// write sends the copies of a piece on, and keeps them for the next run.
func (v *Watching) write(w *work.TaskContext, kept *records.PieceCopies) error {
	for one := range records.All[records.CopiedGuard](kept.Packed) {
		if err := records.Write(&w.Run, records.Copies, records.ShardOf(one.Original, v.Ranges), &one); err != nil {
			return err
		}
	}
	if !v.ForNext {
		return nil
	}
	return records.Write(&w.Run, records.KeptCopies, 0, kept)
}

// copies collects the copies that a task finds.
type copies struct {
	*Watching
	*guards
	folder    *guard.Folder
	matcher   *guard.Matcher
	brands    map[string][]rune // by the name of a protected site
	domains   map[string]string // the registered domain, by the same
	bySite    map[copiesKey]*records.CopiedGuard
	originals map[int]*guard.Original // by guard
}

type copiesKey struct {
	original, site uint64
	guard          string
}

func newCopies(v *Watching, all *guards) *copies {
	all.prepare()
	c := &copies{Watching: v, guards: all, folder: new(guard.Folder), brands: map[string][]rune{}}
	c.matcher = guard.NewMatcher(all.table, c.folder)
	c.bySite, c.originals = map[copiesKey]*records.CopiedGuard{}, map[int]*guard.Original{}
	c.domains = map[string]string{}
	for i := range all.all {
		name := all.all[i].Name
		if _, is := c.domains[name]; !is {
			c.domains[name] = site.Registered(site.HostOf(name))
			c.brands[name] = guard.Brand(c.domains[name])
		}
	}
	return c
}

// of returns the copies in a piece, packed.
func (c *copies) of(ctx context.Context, w *work.TaskContext, pages *documents.Pages, piece runfile.Piece,
	names *siteNames,
) (packed []byte, err error) {
	clear(c.bySite)
	err = eachText(ctx, w, pages, piece, func(page *records.Page, text *records.PageText) error {
		of := names.of(page)
		if of.isProtected {
			return nil
		}
		return c.page(page, of, text)
	})
	for _, one := range c.bySite {
		packed = records.Append(packed, one)
	}
	return packed, err
}

// copied is a protected page that a reading of a page has something of.
type copied struct {
	guard           int
	features        guard.Features
	evidence        guard.Evidence
	strength        float64
	isExact         bool // the strength is no estimate
	isNear          bool // by its text, though the markup is stronger
	reading         int
	passage, source string
}

func (c *copied) share() float64 { return max(c.evidence.Runs, c.evidence.Pairs) }

// readings are the names of the readings of a page: first of its text.
var readings = [...]string{"shown", "contents", "values", byMarkup, byAssets}

const (
	texts    = 3
	byMarkup = "markup"
	byAssets = "assets"
)

// page compares a page with all protected ones.
func (c *copies) page(page *records.Page, of siteName, text *records.PageText) error {
	contents := webtext.ContentsOf(text.Contents)
	texts := [texts][]byte{text.Shown, contents.Text, contents.Values}
	if n := len(contents.Text); n >= len(text.Shown) && n < 2*len(text.Shown) && !contents.IsCut {
		texts[0] = nil // the contents have the same in one piece
	}
	asks := page.Login || contents.Asks
	best, named := map[int]copied{}, map[string]bool{}
	for reading, one := range texts {
		if len(one) < leastLetters {
			continue
		}
		c.folder.Fold(one)
		for _, found := range c.strongest(c.matcher.Match(asks), of) {
			if name := c.all[found.Page].Name; !named[name] {
				named[name] = c.folder.Says(c.brands[name])
			}
			now := c.compare(found, one, asks)
			now.reading = reading
			if was, is := best[found.Page]; !is || now.compare(&was) < 0 {
				best[found.Page] = now
			}
		}
	}
	for i, one := range c.alike(contents.Marks, of) {
		was := best[i]
		if was.strength >= 1 {
			continue
		}
		one.isNear = was.isNearly()
		name := c.all[i].Name
		for _, text := range texts {
			if !named[name] {
				c.folder.Fold(text)
				named[name] = c.folder.Says(c.brands[name])
			}
		}
		best[i] = one
	}
	bySite := map[string][]copied{}
	for _, one := range best {
		name := c.all[one.guard].Name
		bySite[name] = append(bySite[name], one)
	}
	for name, ones := range bySite {
		slices.SortFunc(ones, func(a, b copied) int { return a.compare(&b) })
		c.add(page, of, ones, named[name], asks)
	}
	return nil
}

// alike returns the protected pages whose markup or whose assets a page with these marks has.
func (c *copies) alike(marks webtext.Marks, of siteName) map[int]copied {
	all := map[int]copied{}
	if len(marks) == 0 {
		return all
	}
	for i, markup := range c.markups {
		tags, assets := markup.Match(marks)
		if max(tags, assets) == 0 || c.domains[c.all[i].Name] == of.domain {
			continue
		}
		one := copied{guard: i, strength: 1, isExact: true, reading: slices.Index(readings[:], byMarkup)}
		one.evidence = guard.Evidence{Runs: tags, Of: c.table.Guarded[i].Words}
		if tags == 0 {
			one.evidence.Runs, one.reading = assets, slices.Index(readings[:], byAssets)
		}
		all[i] = one
	}
	return all
}

func (c *copied) isText() bool { return c.reading < texts }

func (c *copied) isNearly() bool { return c.isNear || c.isText() && c.strength >= guard.LeastStrength }

// compare orders protected pages, the one that the page has most of first.
func (c *copied) compare(other *copied) int {
	return cmp.Or(cmp.Compare(number(other.isExact), number(c.isExact)), cmp.Compare(other.strength, c.strength),
		cmp.Compare(c.guard, other.guard))
}

// compare compares a folded reading with a protected page: exactly, if it is most likely a copy of that one.
func (c *copies) compare(found candidate, text []byte, asks bool) copied {
	now := copied{guard: found.Page, features: found.Features, strength: found.strength}
	if now.evidence.Runs = found.runs; !found.isFirst || found.strength < guard.LeastStrength {
		return now
	}
	original := c.originals[found.Page]
	if original == nil {
		original = guard.NewOriginal(c.guards.page(found.Page))
		c.originals[found.Page] = original
	}
	now.evidence = original.Compare(text, c.folder, asks)
	now.strength = c.table.Guarded[found.Page].Strength(now.evidence.Runs, now.evidence.Pairs)
	now.passage, now.source = original.Passages()
	now.isExact = true
	return now
}

// candidate is a protected page that a reading may be a copy of.
type candidate struct {
	guard.Found
	strength, runs float64 // estimates
	isFirst        bool    // of its site, or nearly
}

// mostAlike is how many pages of a protected site a reading may be a copy of; mostExact, how many are compared exactly.
const mostAlike, mostExact = 8, 1

// strongest returns the pages that have the most in common with a reading: some of each protected site, of some sites.
func (c *copies) strongest(found []guard.Found, of siteName) (all []candidate) {
	for i := range found {
		of := &c.table.Guarded[found[i].Page]
		runs, pairs := of.Share(&found[i].Features)
		all = append(all, candidate{found[i], of.Strength(runs, pairs), runs, false})
	}
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.strength, a.strength), cmp.Compare(a.Page, b.Page))
	})
	ofSite := map[string]int{}
	kept := all[:0]
	for _, one := range all {
		name := c.all[one.Page].Name
		if n, is := ofSite[name]; n < mostAlike && c.domains[name] != of.domain && (is || len(ofSite) < mostOriginals) {
			one.isFirst = n < mostExact
			ofSite[name]++
			kept = append(kept, one)
		}
	}
	return kept
}

// add adds a copy: of the first protected page, and to the domains that have the others.
func (c *copies) add(page *records.Page, of siteName, ones []copied, isNamed, asks bool) {
	for i, one := range ones {
		isCopy, isNear := one.strength >= 1, one.isNearly()
		if !isCopy && !isNear && (i > 0 || one.evidence.Runs < guard.LeastPart) {
			continue
		}
		g := &c.all[one.guard]
		key := copiesKey{g.Page.Site, page.Site, string(g.Page.Address)}
		into := c.bySite[key]
		if into == nil {
			into = &records.CopiedGuard{Original: key.original, Site: key.site, Guard: key.guard}
			into.Domain = xxh3.HashString(of.domain)
			c.bySite[key] = into
		}
		is := records.CopiedGuard{IsCopy: isCopy && one.isText(), IsNear: isNear, IsAlike: !one.isText()}
		if i > 0 {
			into.Add(&is)
			continue
		}
		copied := c.describe(&one, g, page)
		copied.Named, copied.Asks = isNamed, asks
		is.Pages, is.Copies = int64(number(isCopy)), []records.PageCopy{copied}
		into.Add(&is)
	}
}

func (c *copies) describe(one *copied, g *records.Guard, page *records.Page) records.PageCopy {
	of, none := &c.table.Guarded[one.guard], [3]byte{}
	to := records.PageCopy{
		Page:     string(page.Address),
		Trace:    string(g.Page.Trace),
		Strength: one.strength,
		Share:    one.share(),
		Words:    int64(one.evidence.Words),
		Of:       int64(one.evidence.Of),
		Reading:  readings[one.reading],
		Passage:  one.passage,
		Original: one.source,
		Features: slices.Clone(one.features[:]),
		Guarded:  [4]int64{int64(of.Runs), int64(of.Pairs), int64(of.Words), int64(of.Letters)},

		Login:        page.Login,
		SamePath:     page.Path == g.Page.Path,
		AsksThere:    g.Asks,
		Start:        g.Page.Start,
		Markup:       -1,
		HasLanguages: page.Language != none && g.Page.Language != none,
		SameLanguage: page.Language == g.Page.Language,
	}
	if page.Markup != nil && g.Page.Markup != nil {
		to.Markup = webtext.MarkupSimilarity(page.Markup, g.Page.Markup)
	}
	return to
}
