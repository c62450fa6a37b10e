package report

import (
	"math"

	"github.com/zeebo/xxh3"
)

// mostTracked is about how many documents are looked at one by one. More are sampled.
const mostTracked = 1 << 20

// sampler chooses documents by hashes of their names. So every pass over the rows, in any order, chooses the same ones.
type sampler struct {
	limit uint64
	// share is the share of documents that are chosen.
	share float64
}

// newSampler returns a sampler of about mostTracked of the given number of documents.
func newSampler(documents int64) sampler {
	if documents <= mostTracked {
		return sampler{math.MaxUint64, 1}
	}
	share := mostTracked / float64(documents)
	return sampler{uint64(share * (1 << 63) * 2), share}
}

// choose returns a key for a document, and whether the document is chosen.
func (s sampler) choose(name string) (key uint64, chosen bool) {
	key = xxh3.HashString(name)
	return key, key <= s.limit
}

func (s sampler) isAll() bool { return s.share == 1 }
