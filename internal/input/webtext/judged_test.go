package webtext

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestJudged measures both modes on pages of which sentences are known that a text must have and must not have. They
// are the pages of the trafilatura project, which cannot be part of this one: WEBTEXT_JUDGED names its folder tests.
func TestJudged(t *testing.T) {
	folder := os.Getenv("WEBTEXT_JUDGED")
	if folder == "" {
		t.Skip("WEBTEXT_JUDGED does not name the folder of judged pages")
	}
	list, err := os.ReadFile(filepath.Join(folder, "evaldata.json"))
	if err != nil {
		t.Fatal(err)
	}
	var judged map[string]struct {
		File          string
		With, Without []string
	}
	if err := json.Unmarshal(list, &judged); err != nil {
		t.Fatal(err)
	}
	for mode, least := range map[Mode]float64{All: .69, Main: .87} {
		e := Extractor{Mode: mode}
		var text []byte
		pages, right, missing, wrong := 0, 0, 0, 0
		for _, page := range judged {
			content, err := os.ReadFile(filepath.Join(folder, "cache", page.File))
			if os.IsNotExist(err) {
				content, err = os.ReadFile(filepath.Join(folder, "eval", page.File))
			}
			if os.IsNotExist(err) {
				continue // some are known by name only
			} else if err != nil {
				t.Fatal(err)
			}
			pages++
			text = e.Append(text[:0], Page{Content: content})
			found := countIn(string(text), page.With)
			right += found
			missing += len(page.With) - found
			wrong += countIn(string(text), page.Without)
		}
		precision, recall := float64(right)/float64(right+wrong), float64(right)/float64(right+missing)
		f1 := 2 * precision * recall / (precision + recall)
		t.Logf("mode %s: %d pages, precision %.3f, recall %.3f, F1 %.3f", mode, pages, precision, recall, f1)
		if f1 < least {
			t.Errorf("mode %s: F1 %.3f is less than %.2f", mode, f1, least)
		}
	}
}

// countIn counts the sentences that a text has.
func countIn(text string, sentences []string) (n int) {
	for _, sentence := range sentences {
		if strings.Contains(text, sentence) {
			n++
		}
	}
	return n
}
