package sketch

import (
	"errors"
	"math"
	"runtime"
	"slices"
)

// ErrSpent says that a document takes more memory than its [Budget] allows.
var ErrSpent = errors.New("the document takes more memory than one may take")

// What an element of a document takes, in bytes. Each step charges what it holds itself.
const (
	// shingleBytes is a shingle in the order of the text, and once more while all are sorted. The memory of the second
	// one is free when sets are packed. One more byte is room for what the rest of a text was expected to become.
	shingleBytes = 8 + 8 + 1
	// setBytes is a shingle in a list next to these.
	setBytes = 8
	// featureBytes is an element of a feature: in a list that grows, and packed in a sketch block.
	featureBytes = 8 + 8 + 6
	// placeBytes is a token of a sequence: where it begins and ends, and room for more.
	placeBytes = 4 + 4 + 1 + 1
	// sequenceBytes is a shingle of a sequence once more, to be sorted, the number of its first token, and what is
	// packed beyond the memory that is free when all is sorted.
	sequenceBytes = setBytes + 4 + 4
	// comparedBytes is what a sequence takes beyond all that when a later stage compares it with another.
	comparedBytes = 60
	// partBytes is a shingle of a sequence of several parts, with its places.
	partBytes = moving * (8 + 2*4)
	// wordBytes is a word of a [ShingleFilter].
	wordBytes = moving * (3*8 + 1)
	// pieceBytes is a word that stands for code, if its place in the code is wanted.
	pieceBytes = moving * 16
)

// moving is how many times its length a list or a text takes that outgrows its memory: where it is, where it moves to,
// and what it has left behind for the collector.
const moving = 3

// Budget bounds the memory that a document takes while it becomes a fingerprint. What counts is what the document
// becomes: its record, the texts that each step of preparation makes, and its tokens, shingles and features. All steps
// charge one Budget. When it is spent they keep nothing more, and the fingerprint is of no use. They only count on, so
// that it is known how much the document takes.
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
	isCut   bool // some of the document has not been counted
	err     error
}

// Begin begins a document. Record is the size of its record in bytes.
func (b *Budget) Begin(record int64) {
	if b == nil {
		return
	}
	b.used, b.isLarge, b.isCut, b.err = 0, false, false, nil
	b.take(int(record))
}

// Await sets what a large document has to wait for, such as the end of others. If wait fails, the document stops.
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

// Needs returns the limit with which a document is accepted that has spent its budget. It is 0 if a text became so long
// that it was not made to its end, since nobody knows then what becomes of the rest.
func (b *Budget) Needs() int64 {
	if b == nil || b.err != ErrSpent || b.isCut {
		return 0
	}
	return b.used
}

// goesOn reports whether the document is to be read on. If the budget is spent it is only counted.
func (b *Budget) goesOn() bool { return b == nil || b.err == nil || b.err == ErrSpent }

// cut says that the rest of the document is not counted.
func (b *Budget) cut() {
	if b != nil {
		b.isCut = true
	}
}

// elements returns how many elements to charge for a set of a text with the given number of tokens. The set is not made
// once the budget is spent. It would have at most as many elements as the text has tokens.
func (b *Budget) elements(set []uint64, tokens int) int {
	if b.Err() != nil {
		return tokens
	}
	return len(set)
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

// collect frees what a large document has just dropped. It takes some milliseconds. The collector alone would wait
// until there is as much garbage as it allows, which is more than a document may leave.
func (b *Budget) collect() {
	if b.IsLarge() {
		runtime.GC()
	}
}

// reuse calls make and then use. What make charges belongs to buffers that the next call uses again, so the document
// holds the largest charge of all calls: held, which reuse returns for the next call.
func (b *Budget) reuse(held int64, make, use func()) int64 {
	if b == nil {
		make()
		use()
		return 0
	}
	before := b.used - held
	b.used = before
	make()
	held = max(held, b.used-before)
	b.used = before + held
	use()
	return held
}

// expect returns list with room for more elements. The list holds what has become of the first done bytes of a text of
// length bytes, and more. Its new memory has room for all that the rest becomes if it goes on in this way, but not for
// twice as much as is there: texts can be made to begin in another way than they go on.
func expect[T any](b *Budget, list []T, more, done, length int) []T {
	if cap(list)-len(list) >= more {
		return list
	}
	need := len(list) + more
	expected := int(float64(need) * float64(length) / float64(max(done, 1)) * 17 / 16)
	list = slices.Grow(list, min(max(expected, need), 2*need)-len(list))
	b.collect()
	return list
}

// room returns how long a text may become. A longer text spends the budget when it is charged. A piece of an ordinary
// text always has room, so that it can be counted.
func (b *Budget) room() int {
	if b == nil {
		return math.MaxInt
	}
	return int(max((b.Limit-b.used)/moving, 4*leastPiece))
}

// takeText charges a text that was to stay within the room.
func (b *Budget) takeText(length, room int) bool {
	if length > room {
		length = max(length*moving, int(b.Limit-b.used)+1)
		b.cut()
	}
	return b.take(length)
}
