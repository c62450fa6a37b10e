package webtext

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestJudged(t *testing.T) {
	dir := os.Getenv("WEBTEXT_JUDGED")
	if dir == "" {
		t.Skip()
	}
	raw, _ := os.ReadFile(filepath.Join(dir, "evaldata.json"))
	var all map[string]struct {
		File    string
		With    []string
		Without []string
	}
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	type run struct {
		mode Mode
		rule int
	}
	pages := map[string][]byte{}
	total := 0
	for u, page := range all {
		content, err := os.ReadFile(filepath.Join(dir, "cache", page.File))
		if err != nil {
			content, err = os.ReadFile(filepath.Join(dir, "eval", page.File))
		}
		if err != nil || !utf8.Valid(content) {
			continue
		}
		pages[u] = content
		total += len(content)
	}
	for _, r := range []run{{All, 0}, {Main, 0}, {All, 0}, {Main, 0}} {
		h := htmlText{}
		var tp, fp, fn, tn int
		var text []byte
		start := time.Now()
		var spent time.Duration
		for u, page := range all {
			content, ok := pages[u]
			if !ok {
				continue
			}
			start = time.Now()
			text = h.append(text[:0], content, r.mode)
			spent += time.Since(start)
			s := string(text)
			for _, w := range page.With {
				if strings.Contains(s, w) {
					tp++
				} else {
					fn++
				}
			}
			for _, w := range page.Without {
				if strings.Contains(s, w) {
					fp++
				} else {
					tn++
				}
			}
		}
		p, rc := float64(tp)/float64(tp+fp), float64(tp)/float64(tp+fn)
		t.Logf("mode %d rule %d: pages %d precision %.3f recall %.3f F1 %.3f; %.0f MB/s", r.mode, r.rule, len(pages), p, rc, 2*p*rc/(p+rc), float64(total)/1e6/spent.Seconds())
	}
}
