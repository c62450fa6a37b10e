package sketch

import (
	"unicode"
	"unicode/utf8"

	"mirrorbeam/asmkernels"
)

// runScripts are the scripts whose code points form runs, see [ScriptTokens].
var runScripts = []*unicode.RangeTable{unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar}

// beginsRun has the bytes with which a code point of a run may begin. Han, Kana and most of Hangul begin with others.
var beginsRun = func() (begins [256]bool) {
	for _, script := range runScripts {
		for _, r := range script.R16 {
			for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) {
				begins[string(c)[0]] = true
			}
		}
		for _, r := range script.R32 {
			for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) {
				begins[string(c)[0]] = true
			}
		}
	}
	return begins
}()

// isInRun reports whether a token that consists of one code point of a script without spaces belongs to a run.
func isInRun(token []byte) bool {
	if !beginsRun[token[0]] {
		return false
	}
	r, _ := utf8.DecodeRune(token)
	return unicode.In(r, runScripts...)
}

// runs joins the code points of a run to tokens: one begins at each, up to the last that has enough behind it.
// A run may have spaces and punctuation within it. Only other tokens end it.
type runs struct {
	// length is the number of code points of a token. With 1 there is nothing to join.
	length int
	hash   *asmkernels.Hash
	// open holds the hashes of the last code points of the run, and isJoined says that it has a token.
	open     []uint64
	isJoined bool

	singles []uint64
}

func (r *runs) reset() { r.open, r.isJoined = r.open[:0], false }

func (r *runs) join(hashes []uint64, first int, t *tokenizer) []uint64 {
	starts := t.starts[:len(hashes)-first]
	mayHaveRuns := len(r.open) > 0
	for _, start := range starts {
		mayHaveRuns = mayHaveRuns || beginsRun[t.folded[start]]
	}
	if !mayHaveRuns {
		return hashes
	}
	r.singles = append(r.singles[:0], hashes[first:]...)
	hashes = hashes[:first]
	for i, single := range r.singles {
		if !isInRun(t.folded[starts[i]:t.ends[i]]) {
			hashes = append(r.close(hashes), single)
			continue
		}
		r.open = append(r.open, single)
		if begin := len(r.open) - r.length; begin >= 0 {
			hashes = append(hashes, r.hash.Run(r.open[begin:]))
			r.isJoined = true
		}
	}
	// What may be in a token of the next chunk.
	r.open = r.open[:copy(r.open, r.open[max(len(r.open)-(r.length-1), 0):])]
	return hashes
}

func (r *runs) close(hashes []uint64) []uint64 {
	if len(r.open) > 0 && !r.isJoined {
		hashes = append(hashes, r.hash.Run(r.open))
	}
	r.reset()
	return hashes
}

// eachToken calls token for each token of a text, with the number of the first of its words and code points,
// and the number behind the last. The text has len(inRun) words and code points. InRun says which of these
// belong to runs.
func (r *runs) eachToken(inRun []bool, token func(first, end int)) {
	for i := 0; i < len(inRun); {
		if !inRun[i] {
			token(i, i+1)
			i++
			continue
		}
		end := i + 1
		for end < len(inRun) && inRun[end] {
			end++
		}
		for first := i; first == i || first+r.length <= end; first++ {
			token(first, min(first+r.length, end))
		}
		i = end
	}
}
