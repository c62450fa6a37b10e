package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestBench: both tables have all their rows, and impossible arguments are refused.
func TestBench(t *testing.T) {
	var out bytes.Buffer
	if err := (&benchCommand{Documents: 30, Threshold: 0.5}).Run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{
		"30 texts", "single-hash fingerprint", "exact set and MinHash", "435 pairs from 0.5",
		"article: classical", "pcmpestrm", "bitmaps first",
	} {
		if !strings.Contains(out.String(), row) {
			t.Errorf("%q is missing in\n%s", row, &out)
		}
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
	texts, characters := drawTexts(50)
	again, _ := drawTexts(50)
	if !bytes.Equal(bytes.Join(texts, nil), bytes.Join(again, nil)) || len(bytes.Join(texts, nil)) != characters {
		t.Error("two runs draw different texts, or their characters are miscounted")
	}
}
