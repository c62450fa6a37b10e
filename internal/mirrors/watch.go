package mirrors

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"mirrorbeam.dev/internal/incremental/state"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/work"
)

// Watch tells which protected sites a run could compare, and which sites of known alerts it has seen.
type Watch struct {
	// Originals are what the next run is to know of the protected sites, by name.
	Originals []state.Original
	// Changed are the protected sites that have too little left of what they were, by name.
	Changed []ChangedSite

	seen map[uint64]bool // digests of the addresses of pages that were evidence, and that are there
	lost map[uint64]bool // alerts whose originals are not there, by their ids
}

// LastRun is what a run knows of the last one.
type LastRun struct {
	// Known are the alerts of all runs.
	Known []state.Alert
	// Originals are the protected sites. There are none if the run takes these as they are.
	Originals []state.Original
	// Pages are the run files with the traces of the pages of these sites in this run.
	Pages []work.Path
}

// ChangedSite is a protected site that could not be compared.
type ChangedSite struct {
	Last, Now state.Original
	// Copied counts the pages that suspects which are not there now have copied; Lacking, those that the site lacks.
	Copied, Lacking int
}

// NewWatch reads the sites of a run, given the list of protected ones as the user wrote it, and the alerts of the run.
func NewWatch(ctx context.Context, runs []work.Path, protected string, now []state.Alert,
	last LastRun,
) (*Watch, error) {
	names, err := readProtected(protected)
	if err != nil {
		return nil, fmt.Errorf("list of protected sites: %w", err)
	}
	of := lists{protected: names}
	w := &Watch{seen: map[uint64]bool{}, lost: map[uint64]bool{}}
	if err := eachOf(ctx, runs, records.SeenPages, func(page *uint64) { w.seen[*page] = true }); err != nil {
		return nil, err
	}
	originals := map[string]state.Original{}
	if err := eachOf(ctx, runs, records.Sites, func(s *records.Site) {
		if of.isProtected(s.Name) {
			originals[s.Name] = state.Original{Site: s.Name, Pages: s.Distinct(), Unlike: s.Distinct() - s.Alike}
		}
	}); err != nil {
		return nil, err
	}
	for _, before := range last.Originals {
		after, is := originals[before.Site]
		if !is && !of.isProtected(before.Site) {
			continue // it is not protected any more
		}
		if after.Site = before.Site; !isComparable(before, after) {
			w.Changed = append(w.Changed, ChangedSite{Last: before, Now: after})
			after = before // until it is again what it was
		}
		originals[before.Site] = after
	}
	for _, original := range originals {
		w.Originals = append(w.Originals, original)
	}
	slices.SortFunc(w.Originals, func(a, b state.Original) int { return cmp.Compare(a.Site, b.Site) })
	return w, w.lookFor(ctx, missing(last.Known, now), &last)
}

// isComparable reports whether a protected site has at least half of its pages left. If they differed from each other,
// they have to differ still: an error page at all addresses is like itself.
func isComparable(last, now state.Original) bool {
	differed := 2*last.Unlike >= last.Pages
	return 2*now.Pages >= last.Pages && (!differed || 2*now.Unlike >= last.Unlike)
}

// IsUnseen reports whether the run could not look for a known alert: not all pages that were its evidence were there,
// or most of the pages that it had copied are not on the protected site any more.
func (w *Watch) IsUnseen(a state.Alert) bool {
	return w.lost[a.ID] || !w.isSeen(&a)
}

func (w *Watch) isSeen(a *state.Alert) bool {
	return !slices.ContainsFunc(a.Evidence, func(page uint64) bool { return !w.seen[page] })
}

// Changes returns the changes of protected sites.
func (w *Watch) Changes() (changes []output.Change) {
	for _, c := range w.Changed {
		changes = append(changes, output.Change{
			Of:      output.Protected,
			Change:  output.Changed,
			Lineage: alertText(alertID(c.Last.Site, "")),
			Name:    c.Last.Site,
			Size:    c.Now.Pages,
			Before:  c.Last.Pages,
			Added:   max(c.Now.Pages-c.Last.Pages, 0),
			Removed: max(c.Last.Pages-c.Now.Pages, 0),
		})
	}
	return changes
}

func (c ChangedSite) String() string {
	if c.Lacking > 0 {
		return fmt.Sprintf(
			"the protected site %s lacks %d of %d pages that suspects have copied: "+
				"it is unknown whether they still do until the pages are back, so the suspects stay", c.Last.Site,
			c.Lacking, c.Copied)
	}
	if 2*c.Now.Pages < c.Last.Pages {
		return fmt.Sprintf(
			"the protected site %s has %d of the %d pages that it had: it is unknown who copies it until they are "+
				"back, so its suspects stay", c.Last.Site, c.Now.Pages, c.Last.Pages)
	}
	return fmt.Sprintf(
		"the protected site %s has %d pages that are unlike its other pages, and had %d, "+
			"as if they all showed an error: it is unknown who copies it until they are back, so its suspects stay",
		c.Last.Site, c.Now.Unlike, c.Last.Unlike)
}

// eachOf visits the records of a kind in run files.
func eachOf[T any](ctx context.Context, runs []work.Path, kind runfile.Kind, visit func(*T)) error {
	reader := runfile.Reader{Stopped: ctx.Err}
	defer reader.Close()
	var packed []byte
	for _, run := range runs {
		pieces, err := runfile.Pieces(string(run))
		if err != nil {
			return err
		}
		for _, piece := range pieces {
			if piece.Kind != kind {
				continue
			}
			if packed, err = reader.Read(packed[:0], piece); err != nil {
				return err
			}
			for record := range records.All[T](packed) {
				visit(&record)
			}
		}
	}
	return ctx.Err()
}

// A suspect has gone only if its pages have changed. If the protected site has, nothing can be told. So each alert has
// traces of the pages that were copied, and the next run looks for these on the protected sites.

func missing(known, now []state.Alert) (all []state.Alert) {
	has := map[uint64]bool{}
	for i := range now {
		has[now[i].ID] = true
	}
	for _, a := range known {
		if a.Pages > 0 && len(a.Copied) > 0 && !has[a.ID] {
			all = append(all, a)
		}
	}
	return all
}

// lookFor looks for the pages that missing alerts had copied. If most are not there, the alert is lost.
func (w *Watch) lookFor(ctx context.Context, alerts []state.Alert, last *LastRun) error {
	alerts = slices.DeleteFunc(alerts, func(a state.Alert) bool { return !w.isSeen(&a) })
	if len(alerts) == 0 || len(last.Originals) == 0 {
		return nil
	}
	there, err := findPages(ctx, last.Pages, alerts)
	if err != nil {
		return err
	}
	pages := map[string]map[state.Trace]bool{} // of alerts that are lost: whether they are there, by protected site
	for i := range alerts {
		a, found := &alerts[i], 0
		for _, trace := range a.Copied {
			if there[trace] {
				found++
			}
		}
		if name, is := w.protectedBy(a); is && 2*found < len(a.Copied) {
			w.lost[a.ID] = true
			if pages[name] == nil {
				pages[name] = map[state.Trace]bool{}
			}
			for _, trace := range a.Copied {
				pages[name][trace] = there[trace]
			}
		}
	}
	w.tellLacking(pages, last.Originals)
	return nil
}

// protectedBy returns the protected site that an alert is about. It is false if that is not protected any more.
func (w *Watch) protectedBy(a *state.Alert) (name string, is bool) {
	at := slices.IndexFunc(w.Originals, func(o state.Original) bool { return alertID(o.Site, a.Site) == a.ID })
	if at < 0 {
		return "", false
	}
	return w.Originals[at].Site, true
}

func (w *Watch) tellLacking(pages map[string]map[state.Trace]bool, originals []state.Original) {
	for _, last := range originals {
		copied := pages[last.Site]
		if len(copied) == 0 || slices.ContainsFunc(w.Changed, func(c ChangedSite) bool {
			return c.Last.Site == last.Site
		}) {
			continue
		}
		at, _ := slices.BinarySearchFunc(w.Originals, last.Site, func(o state.Original, name string) int {
			return cmp.Compare(o.Site, name)
		})
		changed := ChangedSite{Last: last, Now: w.Originals[at], Copied: len(copied)}
		for _, is := range copied {
			if !is {
				changed.Lacking++
			}
		}
		w.Changed = append(w.Changed, changed)
	}
	slices.SortFunc(w.Changed, func(a, b ChangedSite) int { return cmp.Compare(a.Last.Site, b.Last.Site) })
}

// band is two bytes of a trace, and their place.
type band [3]byte

// bands yields the bands of a trace. Traces of similarity .5 have one in common with a chance of .99.
func bands(t *records.Trace) func(yield func(band) bool) {
	return func(yield func(band) bool) {
		for at := 0; at < len(t) && yield(band{byte(at), t[at], t[at+1]}); at += 2 {
		}
	}
}

// leastSame is the least similarity of two states of a page: with less of it a copy of one may be none of the other.
const leastSame = 0.75

// findPages returns whether each page that alerts had copied is there, much as it was, in run files with traces.
func findPages(ctx context.Context, runs []work.Path, alerts []state.Alert) (map[state.Trace]bool, error) {
	there, wanted := map[state.Trace]bool{}, map[band][]records.Trace{}
	for i := range alerts {
		for _, copied := range alerts[i].Copied {
			if _, known := there[copied]; known {
				continue
			}
			there[copied] = false
			trace := records.Trace(copied)
			for b := range bands(&trace) {
				wanted[b] = append(wanted[b], trace)
			}
		}
	}
	seen := map[records.Trace]bool{}
	err := eachOf(ctx, runs, records.OriginalTraces, func(page *records.Trace) {
		if seen[*page] {
			return
		}
		seen[*page] = true
		for b := range bands(page) {
			for i := range wanted[b] {
				if of := &wanted[b][i]; !there[state.Trace(*of)] && of.Similarity(page) >= leastSame {
					there[state.Trace(*of)] = true
				}
			}
		}
	})
	return there, err
}
