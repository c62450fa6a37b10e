package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestBench: the tables have all their rows, with the figures of the articles, and steps that do the same find the
// same. Impossible arguments are refused.
func TestBench(t *testing.T) {
	for what, rows := range map[string][]string{
		"kernels": {
			"article: naive", "52.7", "pipeline, sort", "set and heap", "own table", "278.1", "exact set and MinHash",
			"435 pairs from 0.5", "classical", "pcmpestrm", "3.16", "bitmaps first",
		},
		"simhash":  {"naive, 64 bits", "byte counters", "up to 10 times", "runjob, 1024 bits"},
		"tables":   {"a table of 20", "a table of 4,", "262144", "a table of 16", "a table of 28", "interpolation"},
		"tutorial": {"direct sets", "signatures of 10", "30 texts", "early abort"},
		"exlsh":    {"naive", "ExLSH digest", "7 times", "runjob: SimHash"},
	} {
		t.Run(what, func(t *testing.T) {
			var out bytes.Buffer
			if err := (&benchCommand{What: what, Documents: 30, Threshold: 0.5}).Run(t.Context(), &out); err != nil {
				t.Fatal(err)
			}
			for _, row := range rows {
				if !strings.Contains(out.String(), row) {
					t.Errorf("%q is missing in\n%s", row, &out)
				}
			}
			found := ""
			for line := range strings.Lines(out.String()) {
				fields := strings.Fields(line)
				switch last := ""; {
				case strings.Contains(line, "signatures"): // which only estimate
				case len(fields) == 0 || strings.Contains(line, "seconds"):
					found = ""
				case strings.Contains(line, "candidates") || strings.Contains(line, "found"):
					last = strings.Join(fields[len(fields)-3:], " ")
					last = last[strings.LastIndexByte(last[:strings.LastIndexByte(last, ' ')], ' ')+1:]
					if found != "" && last != found {
						t.Errorf("%s, and the step before found %s:\n%s", last, found, &out)
					}
					found = last
				}
			}
		})
	}
	for _, c := range []benchCommand{
		{Documents: 1, Threshold: 0.5},
		{Documents: 1 << 30, Threshold: 0.5},
		{Documents: 2},
		{
			Documents: 2,
			Threshold: 1.1,
		},
	} {
		if c.Validate() == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
}

// TestDrawTexts: the texts are the same in each run, and some are near-duplicates.
func TestDrawTexts(t *testing.T) {
	texts, characters, _ := drawTexts(50, 400)
	again, _, _ := drawTexts(50, 400)
	if !bytes.Equal(bytes.Join(texts, nil), bytes.Join(again, nil)) || len(bytes.Join(texts, nil)) != characters {
		t.Error("two runs draw different texts, or their characters are miscounted")
	}
}
