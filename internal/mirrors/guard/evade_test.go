package guard

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/input/webtext"
	"mirrorbeam.dev/internal/util/corporatest"
)

// readingsOf returns the readings of a page, as a job compares them.
func readingsOf(page string) [][]byte {
	main := webtext.Extractor{Mode: webtext.Main}
	content := webtext.Page{Content: []byte(page)}
	var all webtext.Contents
	main.Contents(&all, content)
	shown := main.Append(nil, content)
	if !all.IsCut && len(all.Text) < 2*len(shown) {
		shown = nil
	}
	return [][]byte{shown, all.Text, all.Values}
}

// watch is a table of protected pages with what tells their copies.
type watch struct {
	*Matcher
	folder Folder
	pages  []Page
}

func newWatch(pages ...Page) *watch {
	w := &watch{pages: pages}
	w.Matcher = NewMatcher(NewTable(pages), &w.folder)
	return w
}

// strength returns how much some readings have of the protected page that they have the most of.
func (w *watch) strength(texts ...[]byte) (best float64, evidence Evidence) {
	for _, text := range texts {
		w.folder.Fold(text)
		for _, found := range w.Match(true) {
			of := NewOriginal(w.pages[found.Page]).Compare(text, &w.folder, true)
			if s := w.table.Guarded[found.Page].Strength(of.Runs, of.Pairs); s > best {
				best, evidence = s, of
			}
		}
	}
	return best, evidence
}

// guarding returns the protected pages of an original: what is shown, and all that it contains.
func guarding(page string) *watch {
	all := readingsOf(page)
	return newWatch(Page{1, all[0], true}, Page{1, all[1], true})
}

// TestEvadeCorpora: disguises of a login page are found, by the corpus next to the repository if it is there.
func TestEvadeCorpora(t *testing.T) {
	file, err := os.Open(filepath.Join(filepath.Dir(corporatest.Folder(t)), "reports", "evade.jsonl.gz"))
	if err != nil {
		t.Skip(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(unzipped)
	lines.Buffer(nil, 1<<24)
	var w *watch
	found, all := 0, 0
	for lines.Scan() {
		var row struct{ ID, URL, Text string }
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		best, of := 0., Evidence{}
		switch {
		case row.ID == "original":
			w = guarding(row.Text)
			continue
		case strings.HasPrefix(row.URL, "https://www.ourbank.com/"):
			continue
		default:
			best, of = w.strength(readingsOf(row.Text)...)
		}
		if all++; best >= 1 {
			found++
		} else {
			t.Logf("%s is not found: runs %.2f, pairs %.2f", row.ID, of.Runs, of.Pairs)
		}
	}
	t.Logf("%d of %d are found", found, all)
	if all < 100 || float64(found) < 0.95*float64(all) {
		t.Errorf("%d of %d are found", found, all)
	}
}
