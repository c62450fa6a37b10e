package mirrors

import (
	"cmp"
	"context"
	"slices"

	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/runfile"
	"mirrorbeam/internal/settle/state"
)

// A suspect that is not there any more has gone only if its site has changed. If the protected site has, nothing can be told. So each
// alert has traces of the pages that were copied, and the next run looks for these pages on the protected sites.

// missing returns the known alerts that a run does not have any more.
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

// lookFor looks for the pages that missing alerts had copied. If fewer than half of them are there, the alert is lost, and its protected
// site has changed.
func (w *Watch) lookFor(ctx context.Context, alerts []state.Alert, last *LastNight) error {
	alerts = slices.DeleteFunc(alerts, func(a state.Alert) bool { return !w.isSeen(&a) })
	if len(alerts) == 0 || len(last.Originals) == 0 {
		return nil
	}
	there, err := findPages(ctx, last.Pages, alerts, leastAgain(last.Threshold))
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
	at := slices.IndexFunc(w.names, func(name string) bool { return alertID(name, a.Site) == a.ID })
	if at < 0 {
		return "", false
	}
	return w.names[at], true
}

// tellLacking adds the protected sites that lack pages to those that have changed.
func (w *Watch) tellLacking(pages map[string]map[state.Trace]bool, originals []state.Original) {
	for _, last := range originals {
		copied := pages[last.Site]
		if len(copied) == 0 || slices.ContainsFunc(w.Changed, func(c ChangedSite) bool { return c.Last.Site == last.Site }) {
			continue
		}
		at, _ := slices.BinarySearchFunc(w.Originals, last.Site, func(o state.Original, name string) int { return cmp.Compare(o.Site, name) })
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

// leastAgain returns the least similarity of a page to what it was in the last run, given the least similarity of copies. It is halfway to the same page:
// one less the similarity is a metric, so a copy that was as near to the page as that is still found.
func leastAgain(threshold float64) float64 { return (1 + threshold) / 2 }

// band is two bytes of a trace, and their place.
type band [3]byte

// bands yields the bands of a trace. Traces of similarity .5 have one in common with a chance of .99.
func bands(t *records.Trace) func(yield func(band) bool) {
	return func(yield func(band) bool) {
		for at := 0; at < len(t) && yield(band{byte(at), t[at], t[at+1]}); at += 2 {
		}
	}
}

// findPages looks for the pages that alerts had copied in run files with the traces of the pages of protected sites. It returns those that
// are there, much as they were.
func findPages(ctx context.Context, runs []work.Path, alerts []state.Alert, least float64) (map[state.Trace]bool, error) {
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
	reader := runfile.Reader{Stopped: ctx.Err}
	defer reader.Close()
	seen := map[records.Trace]bool{}
	for _, run := range runs {
		pieces, err := runfile.Pieces(string(run))
		if err != nil {
			return nil, err
		}
		packed, err := reader.ReadKind(nil, pieces, records.OriginalTraces)
		if err != nil {
			return nil, err
		}
		records.EachOriginalTrace(packed, func(page *records.Trace) {
			if seen[*page] || ctx.Err() != nil {
				return
			}
			seen[*page] = true
			for b := range bands(page) {
				for i := range wanted[b] {
					if of := &wanted[b][i]; !there[state.Trace(*of)] && of.Similarity(page) >= least {
						there[state.Trace(*of)] = true
					}
				}
			}
		})
	}
	return there, ctx.Err()
}
