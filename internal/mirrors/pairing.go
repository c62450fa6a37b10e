package mirrors

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/input/site"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/work"
)

// Judging is what the steps know that see pairs of sites.
type Judging struct {
	// Inputs is the path of the list of inputs, which holds the lists of sites that the user has given.
	Inputs work.Path
	Limits Limits

	lists *lists // read in Setup
}

// allLists are the lists of the jobs at work in this process.
var allLists work.Shared[lists]

func (j *Judging) Setup() (err error) {
	j.lists, err = allLists.Get(string(j.Inputs), func(path string) (*lists, error) {
		inputs, err := documents.OpenInputs(path)
		if err != nil {
			return nil, err
		}
		l, err := newLists(inputs.Sites.Rank, inputs.Sites.Protected, inputs.Sites.Allowed)
		return &l, err
	})
	return err
}

// Pairing is the second step of the stage mirror. A task adds the second site to the pairs of an output shard, and
// passes on the pairs that are mirrors. It does the same for sites with copies of protected ones.
type Pairing struct{ Judging }

// Delivery returns the delivery of its tasks.
func (*Pairing) Delivery() work.Delivery {
	return work.Delivery{
		Needed: []runfile.Kind{records.SitePairs, records.Copiers},
		Extra:  []runfile.Kind{records.Sites},
	}
}

// Task judges the pairs of an output shard.
func (p *Pairing) Task(ctx context.Context, _ work.Task, w *work.TaskContext) error {
	packed, err := w.Read(0, records.Sites)
	if err != nil {
		return err
	}
	sites := map[uint64]records.Site{}
	for one := range records.All[records.Site](packed) {
		sites[one.Site] = one
	}
	err = eachRecord(ctx, w, records.SitePairs, func(found *records.SitePair) error {
		return p.judge(w, &found.First, &records.Half{Link: found.Second, Of: sites[found.Second.Site]})
	})
	if err != nil {
		return err
	}
	return eachRecord(ctx, w, records.Copiers, func(found *records.Copier) error {
		of := sites[found.Site]
		if found.Of = &of; p.lists.allows(found.Original.Name, of.Name) {
			return nil
		}
		return records.Write(&w.Run, records.Copiers, 0, found)
	})
}

// judge passes a pair on if it matters. A pair that comes twice counts where its first site has the smaller hash.
func (p *Pairing) judge(w *work.TaskContext, one, other *records.Half) error {
	pair := newPair(one, other)
	if one.Site > other.Site && p.Limits.wants(other) || !pair.isMirror(p.Limits) {
		return nil
	}
	return records.Write(&w.Run, records.Mirrored, 0, &records.MirroredSites{One: one, Other: other})
}

// eachRecord visits the records of a kind, one piece after the other, so that only one is held.
func eachRecord[T any](ctx context.Context, w *work.TaskContext, kind runfile.Kind, visit func(*T) error) error {
	for _, piece := range w.Pieces {
		if piece.Kind != kind {
			continue
		}
		packed, err := w.ReadPiece(1, piece)
		w.Figures.Bytes += int64(len(packed))
		if err != nil {
			return err
		}
		for record := range records.All[T](packed) {
			w.Figures.Records++
			if err := cmp.Or(visit(&record), ctx.Err()); err != nil {
				return err
			}
		}
	}
	return nil
}

// eachPair visits the pairs that [Pairing] has passed on, in no order.
func eachPair(ctx context.Context, w *work.TaskContext, visit func(pair) error) error {
	return eachRecord(ctx, w, records.Mirrored, func(both *records.MirroredSites) error {
		return visit(newPair(both.One, both.Other))
	})
}

// pairRows sorts the pairs of a task by name. It holds a part of them at a time.
type pairRows struct {
	pairs map[string]int // by the name of the first site
	most  int
}

func (r *pairRows) parts() (of map[string]int, parts int) {
	of, held := make(map[string]int, len(r.pairs)), 0
	for _, name := range slices.Sorted(maps.Keys(r.pairs)) {
		if held > 0 && held+r.pairs[name] > r.most {
			parts, held = parts+1, 0
		}
		held += r.pairs[name]
		of[name] = parts
	}
	return of, parts + 1
}

// each visits the mirrors that were counted, by name. If there are many, it writes them to a file by part first.
func (r *pairRows) each(ctx context.Context, w *work.TaskContext, l Limits, visit func(*pair) error) (err error) {
	partOf, parts := r.parts()
	if parts == 1 {
		var all []pair
		if err := eachPair(ctx, w, func(p pair) error {
			if p.isMirror(l) {
				all = append(all, p)
			}
			return nil
		}); err != nil {
			return err
		}
		return visitSorted(ctx, all, visit)
	}
	run := runfile.NewWriter(string(w.Runs.Folder), heldBytes)
	defer run.Abort()
	if err := eachPair(ctx, w, func(p pair) error {
		if !p.isMirror(l) {
			return nil
		}
		return records.Write(run, records.Mirrored, partOf[p.sides[0].Of.Name], &records.MirroredSites{
			One:   p.sides[0],
			Other: p.sides[1],
		})
	}); err != nil {
		return err
	}
	path, err := run.Close()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, storage.Remove(path)) }()
	pieces, err := runfile.Pieces(path)
	if err != nil {
		return err
	}
	byPart := make([][]runfile.Piece, parts)
	for _, piece := range pieces {
		byPart[piece.Shard] = append(byPart[piece.Shard], piece)
	}
	for _, part := range byPart {
		packed, err := w.Reader.ReadKind(w.Buffers[2][:0], part, records.Mirrored)
		w.Buffers[2] = packed
		if err != nil {
			return err
		}
		var all []pair
		for both := range records.All[records.MirroredSites](packed) {
			all = append(all, newPair(both.One, both.Other))
		}
		if err := visitSorted(ctx, all, visit); err != nil {
			return err
		}
	}
	return nil
}

// heldBytes is how much of the pairs is held until it is written to a file.
const heldBytes = 16 << 20

func visitSorted(ctx context.Context, all []pair, visit func(*pair) error) error {
	slices.SortFunc(all, func(a, b pair) int { return a.compare(&b) })
	for i := range all {
		if err := errors.Join(visit(&all[i]), ctx.Err()); err != nil {
			return err
		}
	}
	return nil
}

// Kind says what sort of mirrors two sites are.
type Kind string

// The kinds of mirrors.
const (
	// Exact: each site has nearly all of the other.
	Exact Kind = "exact"
	// Partial: one site has much of the other.
	Partial Kind = "partial"
	// Version: the names of the sites differ in numbers only, and one domain has both.
	Version Kind = "version"
	// Parked: the sites have few pages, and many sites have these.
	Parked Kind = "parked"
)

const (
	// exactShare is the least share of each of two exact mirrors that the other one has.
	exactShare = 0.9
	// A parked site has at most parkedPages pages that differ, and on average parkedSites sites or more have them.
	parkedPages, parkedSites = 5, 10
)

// pair is two sites, and what they have in common. The name of the first comes first.
type pair struct {
	sides [2]*records.Half
	// score is the larger share of the two.
	score float64
}

func newPair(one, other *records.Half) pair {
	if one.Of.Name > other.Of.Name {
		one, other = other, one
	}
	p := pair{sides: [2]*records.Half{one, other}}
	p.score = max(share(one), share(other))
	return p
}

func (p *pair) compare(other *pair) int {
	return cmp.Or(strings.Compare(p.sides[0].Of.Name, other.sides[0].Of.Name),
		strings.Compare(p.sides[1].Of.Name, other.sides[1].Of.Name))
}

// contained returns the share of the distinct pages of a site that the other one has.
func contained(h *records.Half) float64 { return quotient(h.Pages, h.Of.Distinct()) }

// weighted returns the same, where each page weighs its text times its rarity.
func weighted(h *records.Half) float64 { return quotient(h.Weight, h.Of.Weight) }

// share returns how much of a site the other one has: of its pages, of their rarity, and of what they weigh, the
// smallest of the three. So neither a few long pages nor many common ones make mirrors.
func share(h *records.Half) float64 {
	return min(contained(h), quotient(h.Rarity, h.Of.Rarity), weighted(h))
}

// quotient returns the quotient of two numbers, or 0 if there is nothing to divide by.
func quotient(a, b int64) float64 {
	if b <= 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// pages returns how many pages the sites have in common, on the one where these are fewer.
func (p *pair) pages() int64 { return min(p.sides[0].Pages, p.sides[1].Pages) }

// mean returns the mean of a sum over the pages in common of both sites.
func (p *pair) mean(sum func(*records.Half) int64) float64 {
	a, b := p.sides[0], p.sides[1]
	return quotient(sum(a)+sum(b), a.Pages+b.Pages)
}

func (p *pair) similarity() float64 {
	return p.mean(func(h *records.Half) int64 { return h.Similarity }) / records.Unit
}

func (p *pair) samePath() float64 { return p.mean(func(h *records.Half) int64 { return h.SamePath }) }

func (p *pair) spread() float64 { return p.mean(func(h *records.Half) int64 { return h.Spread }) }

// languagePages counts the pages in common of known languages; sameLanguage is the share in one language.
func (p *pair) languagePages() int64 { return p.sides[0].LanguagePages + p.sides[1].LanguagePages }

func (p *pair) sameLanguage() float64 {
	return quotient(p.sides[0].SameLanguage+p.sides[1].SameLanguage, p.languagePages())
}

// markup returns the mean similarity of the markup of the pages in common, 0 if none is known.
func (p *pair) markup() float64 {
	a, b := p.sides[0], p.sides[1]
	return quotient(a.Markup+b.Markup, a.MarkupPages+b.MarkupPages) / records.Unit
}

func (p *pair) isMirror(l Limits) bool { return p.score >= l.Score && p.pages() >= l.Pages }

// isParked reports whether the sites have few pages, and many others have these.
func (p *pair) isParked() bool {
	return min(p.sides[0].Of.Distinct(), p.sides[1].Of.Distinct()) <= parkedPages && p.spread() >= parkedSites
}

func (p *pair) kind() Kind {
	a, b := p.sides[0], p.sides[1]
	switch {
	case p.isParked():
		return Parked
	case areVersions(a.Of.Name, b.Of.Name):
		return Version
	case share(a) >= exactShare && share(b) >= exactShare:
		return Exact
	}
	return Partial
}

// cutNumber cuts the number at the beginning of a name off: digits, and dots between them.
func cutNumber(name string) (rest string, is bool) {
	isDigit := func(at int) bool { return at < len(name) && name[at] >= '0' && name[at] <= '9' }
	end := 0
	for isDigit(end) || end > 0 && end < len(name) && name[end] == '.' && isDigit(end+1) {
		end++
	}
	return name[end:], end > 0
}

func differInNumbers(one, other string) bool {
	for one != "" && other != "" {
		rest, is := cutNumber(one)
		otherRest, otherIs := cutNumber(other)
		switch {
		case is != otherIs || !is && one[0] != other[0]:
			return false
		case is:
			one, other = rest, otherRest
		default:
			one, other = one[1:], other[1:]
		}
	}
	return one == other
}

// areVersions reports whether two names differ in numbers only, and are of one registered domain, or of none.
func areVersions(one, other string) bool {
	if !differInNumbers(one, other) {
		return false
	}
	host, otherHost := site.HostOf(one), site.HostOf(other)
	if site.IsIP(host) || site.IsIP(otherHost) {
		return host == otherHost
	}
	return site.Registered(host) == site.Registered(otherHost) ||
		!strings.Contains(host, ".") && !strings.Contains(otherHost, ".")
}

func rounded(x float64) float64 { return math.Round(x*1e4) / 1e4 }

// Limits say what makes two sites mirrors.
type Limits struct {
	// Score is the least score, above 0 and at most 1.
	Score float64
	// Pages is the least number of pages in common, at least 1.
	Pages int64
	// Sites is the largest number of sites that have a page which says something, at least 3. Pages that more sites
	// have are not compared. One that just as many have weighs nothing.
	Sites int
}

// CheckSites returns an error that says what Sites must be, or nil.
func (l Limits) CheckSites() error {
	if l.Sites < 3 || l.Sites > mostSites {
		return fmt.Errorf("must be from 3 to %d", mostSites)
	}
	return nil
}

// CheckScore returns an error that says what Score must be, or nil.
func (l Limits) CheckScore() error {
	if !(l.Score > 0 && l.Score <= 1) {
		return errors.New("must be above 0 and at most 1")
	}
	return nil
}
