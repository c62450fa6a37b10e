// Package common finds the shingles that tell nothing of copying, as too many documents have them, and takes them out of
// the sets of all documents.
//
// Two rounds count. The first one finds the shingles that more distinct documents have than the law allows. The second
// one counts, for each of these, only the documents that have enough text of their own besides them. What is frequent
// there, too, is common: it is the template of documents that say something else. What many documents consist of, such as
// an article that a hundred sites have reprinted, is frequent in the first round only, and stays.
//
// Documents are told apart by their digests. So a text that stands in a corpus a thousand times counts once.
package common

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"mirrorbeam/sketch"
)

// The choices of a [Law] that are not numbers.
const (
	Off  = "off"
	Auto = "auto"
)

// leastAuto is the least number of documents of [Auto]: fewer versions of one text are no template.
const leastAuto = 16

// Law says which shingles are common. The zero Law says that none is.
type Law struct {
	// Above is the number of documents that have a shingle before it is common, 0 if Share or the corpus says it.
	Above int64
	// Share is that number as a share of the documents of the input, from 0 to 1.
	Share float64
	// IsAuto says that the number follows from the size of the corpus.
	IsAuto bool
}

// ParseLaw returns the law that a user has written: off, auto, a number of documents, or a percentage such as 2%.
func ParseLaw(text string) (Law, error) {
	if text == Off || text == "" {
		return Law{}, nil
	}
	if text == Auto {
		return Law{IsAuto: true}, nil
	}
	if percent, is := strings.CutSuffix(text, "%"); is {
		share, err := strconv.ParseFloat(percent, 64)
		if err == nil && share > 0 && share < 100 {
			return Law{Share: share / 100}, nil
		}
	} else if above, err := strconv.ParseInt(text, 10, 64); err == nil && above >= 1 {
		return Law{Above: above}, nil
	}
	return Law{}, fmt.Errorf("%s: must be off, auto, a number of documents, or a share of them from 0%% to 100%%", text)
}

// IsOff reports whether no shingle is common.
func (l Law) IsOff() bool { return l == Law{} }

// Limit returns the largest number of documents that may have a shingle which counts, in a corpus of that many documents.
func (l Law) Limit(documents int64) int64 {
	switch {
	case l.IsAuto:
		return max(leastAuto, int64(math.Sqrt(float64(documents))))
	case l.Share > 0:
		return max(1, int64(l.Share*float64(documents)))
	}
	return l.Above
}

// ownShare is the share of its shingles that a document must have besides the frequent ones to say that these are a
// template: one in this number.
const ownShare = 5

// stands reports whether a document of that many shingles has enough of its own.
func stands(own, all int) bool { return own >= sketch.LeastOwn && own*ownShare >= all }
