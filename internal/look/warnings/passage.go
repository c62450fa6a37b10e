package warnings

import (
	"strings"

	"mirrorbeam/job"
	"mirrorbeam/sketch"
)

// quotedWords is the number of words of a passage that are quoted.
const quotedWords = 16

// Passage returns the beginning of the longest passage that two texts have in common, on one line. It is empty if they have
// none.
func Passage(c *job.Config, a, b string) string {
	options := c.Sketching(0).Options
	options.Weights, options.StopWordUse, options.LeastShingles = nil, sketch.RemoveStopWords, 0
	var sequences [2]*sketch.IndexedSequence
	for i, text := range []string{a, b} {
		sequencer, err := sketch.NewSequencer(options, false)
		if err != nil {
			return ""
		}
		_, sequence := sequencer.Sequence([]byte(text))
		sequences[i] = sketch.NewIndexedSequence(sequence)
	}
	matcher := sketch.NewMatcher(c.Shingle)
	matcher.Compare(sequences[0], sequences[1])
	spans := matcher.Spans()
	if len(spans) == 0 {
		return ""
	}
	words := strings.Fields(a[spans[0].StartA:spans[0].EndA])
	if len(words) > quotedWords {
		words = append(words[:quotedWords:quotedWords], "…")
	}
	return strings.Join(words, " ")
}
