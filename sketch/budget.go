package sketch

import (
	"errors"
	"math"
)

// ErrSpent says that a document takes more memory than its [Budget] allows.
var ErrSpent = errors.New("the document takes more memory than one may take")

// What an element of a document takes, in bytes. Each step charges what it holds itself.
const (
	// shingleBytes is a shingle in the order of the text, once more while all are sorted, and packed in a sketch block.
	shingleBytes = 8 + 8 + 6
	// placeBytes is a token of a sequence: where it begins and ends.
	placeBytes = moving * (4 + 4 + 1)
	// sequenceBytes is a shingle of a sequence, with its places, packed and in a sketch block.
	sequenceBytes = 8 + 3*4 + 8 + 2*12
	// wordBytes is a word of a [ShingleFilter].
	wordBytes = moving * (3*8 + 1)
	// pieceBytes is a word that stands for code, if its place in the code is wanted.
	pieceBytes = moving * 16
)

// moving is how many times its length a list or a text takes that outgrows its memory: where it is, where it moves to, and what it has
// left behind for the collector.
const moving = 3

// Budget bounds the memory that a document takes while it becomes a fingerprint. What counts is what the document becomes:
// its record, the texts that each step of preparation makes, and its tokens, shingles and features. All steps charge one
// Budget and stop when it is spent. The fingerprint is of no use then.
//
// A nil Budget has no limit. A Budget is not for concurrent use.
type Budget struct {
	// Limit is how many bytes a document may take.
	Limit int64
	// Small is how many bytes it may take before it is large, see [Budget.Await].
	Small int64

	await   func() error // nil: large documents need not wait
	used    int64
	isLarge bool
	err     error
}

// Begin begins a document. Record is the size of its record in bytes.
func (b *Budget) Begin(record int64) {
	if b == nil {
		return
	}
	b.used, b.isLarge, b.err = 0, false, nil
	b.take(int(record))
}

// Await sets what a large document has to wait for, such as the end of other large ones. Wait is called once for a document. If it
// fails, the document stops.
func (b *Budget) Await(wait func() error) {
	if b != nil {
		b.await = wait
	}
}

// Err returns [ErrSpent] if the document has taken too much, and the error of waiting if that has failed.
func (b *Budget) Err() error {
	if b == nil {
		return nil
	}
	return b.err
}

// IsLarge reports whether the document has taken more than a small one may.
func (b *Budget) IsLarge() bool { return b != nil && b.isLarge }

// Used returns how many bytes the document has taken.
func (b *Budget) Used() int64 {
	if b == nil {
		return 0
	}
	return b.used
}

// take charges bytes, and reports whether the document may go on.
func (b *Budget) take(bytes int) bool {
	if b == nil {
		return true
	}
	b.used += int64(bytes)
	if b.used <= min(b.Small, b.Limit) {
		return true
	}
	return b.grow()
}

// grow is take for a large document.
func (b *Budget) grow() bool {
	if b.err == nil && b.used > b.Limit {
		b.err = ErrSpent
	}
	if b.err == nil && !b.isLarge {
		b.isLarge = true
		if b.await != nil {
			b.err = b.await()
		}
	}
	return b.err == nil
}

// room returns how long a text may become. A longer text spends the budget when it is charged.
func (b *Budget) room() int {
	if b == nil {
		return math.MaxInt
	}
	return int(max(b.Limit-b.used, 0) / moving)
}

// takeText charges a text that was to stay within the room.
func (b *Budget) takeText(length, room int) bool {
	if length > room {
		length *= moving
	}
	return b.take(length)
}
