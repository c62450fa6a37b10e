package scoring

import (
	"testing"

	"mirrorbeam.dev/internal/fingerprint/common"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/sketch"
)

// TestWeigher: each shingle that is in a span in both texts counts once, whatever else the texts have in common.
func TestWeigher(t *testing.T) {
	copied, again := prose("copied", 0, 20), prose("again", 0, 9)
	texts := newProse(t, prose("a", 0, 7)+" "+copied+" "+again, copied+" "+prose("b", 0, 12)+" "+again+" "+copied)
	var indexed []*sketch.IndexedSequence
	for _, text := range texts {
		s, err := sketchblock.ParseSequence(sketchblock.Sequence{}, text.sequence)
		if err != nil {
			t.Fatal(err)
		}
		indexed = append(indexed, sketch.NewIndexedSequence(sketch.Sequence(s)))
	}
	matcher := sketch.NewMatcher(shingle)
	matcher.Compare(indexed[0], indexed[1])
	spans := matcher.Spans()
	w := &weigher{rarities: &common.Rarities{}}
	const inCopied, inAgain = 20 - shingle + 1, 9 - shingle + 1
	if got := w.rarity(indexed[0], indexed[1], spans); got != 1000*(inCopied+inAgain) {
		t.Errorf("%d spans: rarity %d, want %d", len(spans), got, 1000*(inCopied+inAgain))
	}
	if got := w.rarity(indexed[0], indexed[1], spans[:1]); got != 1000*inCopied {
		t.Errorf("the longest span: rarity %d, want %d", got, 1000*inCopied)
	}
	if got := w.rarity(indexed[0], indexed[1], nil); got != 0 {
		t.Errorf("no span: rarity %d", got)
	}
}
