package main

import (
	"fmt"
	"strings"
	"testing"

	"mirrorbeam.dev/lshbands"
)

func TestDrawCurve(t *testing.T) {
	var b strings.Builder
	drawCurve(&b, lshbands.Scheme{Bands: 16, Rows: 8}.Probability, 0.85)
	const want = `
   1.0 |                                                 ************
   0.9 |                                              ***  :
   0.8 |                                            **     :
   0.7 |                                           *       :
   0.6 |                                          *        :
   0.5 |                                        **         :
   0.4 |                                       *           :
   0.3 |                                     **            :
   0.2 |                                  ***              :
   0.1 |                              ****                 :
   0.0 |******************************                     :
        +-----+-----+-----+-----+-----+-----+-----+-----+--:--+-----+
        0    0.1   0.2   0.3   0.4   0.5   0.6   0.7   0.8   0.9   1.0
`
	if got := "\n" + b.String(); got != want {
		t.Errorf("the curve is\n%s\nwant\n%s", got, want)
	}
	for _, threshold := range []float64{0.001, 0.5, 1} {
		t.Run(fmt.Sprint(threshold), func(t *testing.T) {
			b.Reset()
			drawCurve(&b, lshbands.Scheme{Bands: 1, Rows: 1}.Probability, threshold)
			for line := range strings.Lines(b.String()) {
				if len(line) > lineWidth {
					t.Errorf("a line of %d characters: %s", len(line), line)
				}
			}
		})
	}
}

func TestShort(t *testing.T) {
	for n, want := range map[float64]string{
		0:      "0",
		0.4:    "0",
		17:     "17",
		999:    "999",
		1000:   "1.0k",
		9940:   "9.9k",
		9960:   "10k",
		43210:  "43k",
		1.25e6: "1.2M",
		7e9:    "7.0G",
		3e13:   "30T",
	} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			if got := short(n); got != want {
				t.Errorf("%g is written %s, want %s", n, got, want)
			}
		})
	}
}

func TestWrapped(t *testing.T) {
	var b strings.Builder
	wrapped(&b, "%s", strings.Repeat("four ", 40)+strings.Repeat("x", 100)+" end")
	const want = "four four four four four four four four four four four four four four four four\n" +
		"four four four four four four four four four four four four four four four four\n" +
		"four four four four four four four four\n"
	if got := b.String(); got != want+strings.Repeat("x", 100)+"\nend\n" {
		t.Errorf("wrapped text is\n%s", got)
	}
}
