package mirrors

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/incremental/state"
	"mirrorbeam.dev/internal/input/site"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/internal/work/worktest"
)

// TestUnseenPages: an alert whose evidence was not all seen is unseen, whatever else was seen of its site.
func TestUnseenPages(t *testing.T) {
	const page, other, far = "http://www.copy.test/login/", "https://copy.test/other?b=1&a=2", "http://far.test/"
	for _, c := range []struct {
		name           string
		evidence, seen []string
		isUnseen       bool
	}{
		{"its page", []string{page}, []string{page, other}, false},
		{"its page, written otherwise", []string{page}, []string{"https://copy.test:443/login#top"}, false},
		{"another page of the site", []string{page}, []string{other}, true},
		{"the page in another folder", []string{page}, []string{"http://copy.test/x/login/"}, true},
		{"one of two pages", []string{page, other}, []string{page}, true},
		{"both pages", []string{page, other}, []string{page, other}, false},
		{"another site", []string{page}, []string{far}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			alert := state.Alert{ID: 7, Pages: 1, Site: "copy.test"}
			for _, address := range c.evidence {
				alert.Evidence = append(alert.Evidence, pageDigest(address))
			}
			run := worktest.Write(t, worktest.Runs(t), func(run *runfile.Writer) error {
				for _, address := range c.seen {
					of, _ := site.Parse(address)
					digest := pageDigest(address)
					err := records.Write(run, records.Sites, 0, siteOf(of.Host, 1, 0, 0))
					if err == nil && slices.Contains(alert.Evidence, digest) {
						err = records.Write(run, records.SeenPages, 0, &digest)
					}
					if err != nil {
						return err
					}
				}
				return nil
			})
			w, err := NewWatch(t.Context(), []work.Path{work.Path(run)}, "bank.example", nil,
				LastRun{Known: []state.Alert{alert}})
			if err != nil {
				t.Fatal(err)
			}
			if got := w.IsUnseen(alert); got != c.isUnseen {
				t.Errorf("unseen: %v", got)
			}
		})
	}
}

// TestEvidence: an alert knows the pages that speak for it, of the copies that its row shows, and no others.
func TestEvidence(t *testing.T) {
	copied := func(page int, others ...float64) records.CopiedGuard {
		one := copyOf(page, 0.9, records.PageCopy{Start: true})
		for i, strength := range others {
			other := one.Copies[0]
			other.Page, other.Strength = fmt.Sprintf("http://copy.test/%d/%d", page, i), strength
			one.Copies = append(one.Copies, other)
		}
		return one
	}
	s, is := suspect(&records.Copier{
		Original: siteOf("bank.example", 20, 1, 1),
		Of:       siteOf("copy.test", 9, 0, 2),
		Copied:   []records.CopiedGuard{copied(1, 2, 1, 0.5), copied(2), copied(3), copied(4)},
	}, Limits{Score: 0.5})
	var want []uint64
	for _, page := range []string{"1", "1/0", "1/1", "2", "3"} {
		want = append(want, pageDigest("http://copy.test/"+page))
	}
	slices.Sort(want)
	if got := s.evidence(); !is || !slices.Equal(got, want) {
		t.Errorf("%x, want %x", got, want)
	}
}

// TestEarlierCopies: a run takes the copies in pages that it knows from the state, if no protected page has changed. It
// reads the texts of other pages, and finds the same.
func TestEarlierCopies(t *testing.T) {
	const login = "please enter your customer number and your password to sign in to online banking and never share " +
		"your password with anyone who calls you by telephone whatever they say of your account and of its safety"
	runs := worktest.Runs(t)
	pages := func(name string, from int) string {
		return worktest.Write(t, runs, func(run *runfile.Writer) error {
			for i := from; i < from+20; i++ {
				ref, err := docref.New(0, int64(i))
				if err != nil {
					return err
				}
				text := fmt.Appendf(nil, "a page like no other %d %d %d %d %d", i, i*i, i*i*i, 7*i, 11*i*i)
				if i%4 == 0 {
					text = []byte(login)
				}
				page := records.SplitPage{Ref: ref, Page: records.Page{
					Site:    uint64(len(name)),
					Address: fmt.Appendf(nil, "http://%s/%d", name, i),
				}}
				if err := records.Write(run, records.Pages, 0, &page); err != nil {
					return err
				}
				said := records.PageText{Ref: ref, Shown: text}
				if err := records.Write(run, records.PageTexts, 0, &said); err != nil {
					return err
				}
			}
			return nil
		})
	}
	known, fresh := pages("copy.test", 0), pages("other-copy.test", 20)
	lists, err := newLists("", "bank.example", "")
	if err != nil {
		t.Fatal(err)
	}
	// watch returns the copies, the kept file, and how many texts were read.
	watch := func(kept, text string, paths ...string) (copies []string, run string, read int) {
		t.Helper()
		v := Watching{Judging: Judging{lists: &lists}, Ranges: 3, ForNext: true}
		v.State.Copies = work.Path(kept)
		tasks := worktest.Tasks(t, runs, work.Delivery{
			Needed: []runfile.Kind{records.PageTexts},
			Extra:  []runfile.Kind{records.Pages},
		}, paths...)
		original := records.Guard{
			Name: "bank.example",
			Page: records.Page{Site: 1, Address: []byte("https://bank.example/")},
			Text: []byte(text),
		}
		if err := writeGuards(tasks[0].Catalog, []records.Guard{original}); err != nil {
			t.Fatal(err)
		}
		outcome := worktest.Do(t, runs, tasks, func(ctx context.Context, task work.Task, w *work.TaskContext) error {
			err := v.Task(ctx, task, w)
			read = int(w.Figures.Records)
			return err
		})[0]
		all := map[copiesKey]*records.CopiedGuard{}
		for _, packed := range worktest.Read(t, records.Copies, outcome.Run) {
			for one := range records.All[records.CopiedGuard](packed) {
				if key := (copiesKey{one.Original, one.Site, one.Guard}); all[key] == nil {
					all[key] = &one
				} else {
					all[key].Add(&one)
				}
			}
		}
		for _, one := range all {
			copies = append(copies, fmt.Sprintf("%+v", *one))
		}
		slices.Sort(copies)
		return copies, outcome.Run, read
	}
	want, kept, read := watch("", login, known)
	if len(want) != 1 || read != 20 {
		t.Fatalf("%d copies, %d texts were read", len(want), read)
	}
	all, _, _ := watch("", login, known, fresh)
	others, _, _ := watch("", strings.Replace(login, "customer", "card", 1), known)
	for _, c := range []struct {
		name, text string
		paths      []string
		want       []string
		read       int
	}{
		{"all pages are known", login, []string{known}, want, 0},
		{"some are new", login, []string{known, fresh}, all, 20},
		{"the protected page has changed", strings.Replace(login, "customer", "card", 1), []string{known}, others, 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, next, read := watch(kept, c.text, c.paths...)
			if !slices.Equal(got, c.want) || read != c.read {
				t.Errorf("%d texts were read, want %d; copies\n%q, want\n%q", read, c.read, got, c.want)
			}
			if _, _, read := watch(next, c.text, c.paths...); read != 0 {
				t.Errorf("the run after it reads %d texts", read)
			}
		})
	}
}
