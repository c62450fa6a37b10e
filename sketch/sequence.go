package sketch

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math/bits"
	"slices"

	"mirrorbeam.dev/asmkernels"
	"mirrorbeam.dev/internal/input/confusables"
)

// Sequence is a text as its shingles, in the order of the text and with repeats. Entry i of each field
// belongs to shingle i.
type Sequence struct {
	// Shingles are the 48-bit hashes. Without repeats they form the set of the document.
	Shingles []uint64
	// Tokens is the number of the shingle's first token in the text. Shingles are neighbours if these are.
	Tokens []uint32
	// Starts and Ends are where the first token of the shingle begins and where its last one ends, in bytes
	// of the text in the record.
	Starts, Ends []uint32
}

// Len returns the number of shingles.
func (s *Sequence) Len() int { return len(s.Shingles) }

// Sequencer computes the sequences of texts. It reuses its buffers. Only one goroutine may use it at a time.
type Sequencer struct {
	shingle    int
	least      int // least number of distinct shingles of a text that is compared
	exclude    bool
	budget     *Budget // nil: no limit
	steps      preparation
	cutsSolos  bool
	hasher     *Hasher
	scanner    wordScanner // of the text
	prepared   wordScanner // of a normalized piece
	quotations quotations
	sorter     asmkernels.SetSorter

	begins, ends []uint32 // of all tokens
	inRun        []bool   // by word and code point of a part, where there are runs
	text, piece  []byte   // hashed instead of the text
	set, kept    []uint64
	ignored      *Shingles // nil: all count
	sequence     Sequence
	invalid      int
	isWhole      bool // the sequence shares the lists of the one part of the text
	length       int  // of the text
	count        int  // of the tokens of the part
}

// NewSequencer returns a Sequencer of texts. It finds the shingles that a [Fingerprinter] with the same
// options finds. With excludeQuotations, quoted words make no shingles, and no shingle reaches across them.
//
// It returns an error for options under which a shingle has no place in the text: weights of several texts,
// and required stop words. Other errors are as [NewFingerprinter] returns them.
func NewSequencer(o Options, excludeQuotations bool) (*Sequencer, error) {
	s := &Sequencer{
		shingle:   max(o.Measure.Shingle, 1),
		least:     o.LeastShingles,
		exclude:   excludeQuotations,
		budget:    o.Budget,
		cutsSolos: o.Measure.Tokens.single() == SingleTokens,
		ignored:   o.Ignored,
	}
	switch {
	case o.Weights != nil:
		return nil, errors.New(
			"sequence: a document of several texts has no one place for a passage: take one text field")
	case o.StopWords != nil && o.StopWordUse != RemoveStopWords:
		return nil, errors.New(
			"sequence: shingles that need a stop word leave holes in passages: take stop words out, or leave them in")
	}
	var err error
	if s.hasher, err = NewHasher(o.Measure); err != nil {
		return nil, fmt.Errorf("sequence: %w", err)
	}
	s.hasher.budget = o.Budget
	s.scanner, s.prepared = newWordScanner(o.Measure), newWordScanner(o.Measure)
	if s.steps, err = newPreparation(o); err != nil {
		return nil, fmt.Errorf("sequence: %w", err)
	}
	if s.steps.code != nil {
		s.steps.code.places = true
	}
	return s, nil
}

// Sequence returns the fingerprint of text and its sequence. Both belong to the Sequencer, which overwrites
// them in the next call.
//
// They equal the result of [Fingerprinter.Texts] unless quotations are excluded. Then a text has no shingle
// if no run of remaining tokens is as long as a shingle.
//
// Shingles that do not count are in neither of both. A text may take more memory than the [Budget] of the options
// allows. That says so then, and both are of no use.
//
// Normalization may split or join the words of a stretch without spaces. Then each word of the stretch gets
// the place of the whole stretch.
func (s *Sequencer) Sequence(text []byte) (Document, Sequence) {
	q := &s.sequence
	s.Places(text)
	s.set = append(slices.Grow(s.set[:0], len(q.Shingles)), q.Shingles...)
	d := Document{Set: s.sorter.Sort(s.set), Tokens: len(s.begins), InvalidBytes: s.invalid}
	d.Digest = s.hasher.digester.of(d.Set, text)
	if s.ignored != nil {
		if s.kept = s.ignored.leaveOut(&d, s.kept, s.hasher.digester); d.Ignored > 0 {
			q.LeaveOut(s.ignored, len(d.Set) == 0)
		}
	}
	if s.budget.IsLarge() {
		// The sequence is packed next. The set is not, and goes when the caller has looked at it.
		s.set, s.sorter = nil, asmkernels.SetSorter{}
		s.budget.collect()
	}
	if len(d.Set) < s.least {
		d.Set = nil
		q.cut(0)
	}
	return d, *q
}

// Hashes returns the shingles of [Sequencer.Places], and not where they are, which is faster.
func (s *Sequencer) Hashes(text []byte) []uint64 {
	if s.steps.code != nil || s.steps.normalizer != nil || s.steps.filter != nil || s.exclude {
		return s.Places(text).Shingles
	}
	if s.hasher.shingles(text) == 0 {
		return nil
	}
	return s.hasher.elements
}

// Places returns the sequence of text alone, with the shingles that do not count. It belongs to the Sequencer, which
// overwrites it in the next call.
func (s *Sequencer) Places(text []byte) Sequence {
	s.begins, s.ends, s.invalid, s.length = s.begins[:0], s.ends[:0], 0, len(text)
	q := &s.sequence
	if s.isWhole {
		// All but the numbers of the tokens lie in the memory of others.
		*q = Sequence{Tokens: q.Tokens}
	}
	q.cut(0)
	s.isWhole = false
	read := text
	if s.steps.code != nil {
		read = s.steps.code.read(text)
	}
	if s.exclude {
		s.quotations.each(read, func(begin, end int, quoted bool) { s.part(read, begin, end, quoted) })
	} else {
		s.part(read, 0, len(read), false)
	}
	if s.steps.code != nil {
		for i := range q.Shingles {
			q.Starts[i], q.Ends[i] = s.steps.code.begin(q.Starts[i]), s.steps.code.end(q.Ends[i])
		}
	}
	return *q
}

// LeaveOut takes the shingles that do not count out of the sequence, or all. The others keep their places, so no
// passage reaches over a gap.
func (q *Sequence) LeaveOut(ignored *Shingles, all bool) {
	n := 0
	for i, hash := range q.Shingles {
		if all || ignored.Has(hash) {
			continue
		}
		q.Shingles[n], q.Tokens[n], q.Starts[n], q.Ends[n] = hash, q.Tokens[i], q.Starts[i], q.Ends[i]
		n++
	}
	q.cut(n)
}

// cut leaves the first n shingles.
func (q *Sequence) cut(n int) {
	q.Shingles, q.Tokens, q.Starts, q.Ends = q.Shingles[:n], q.Tokens[:n], q.Starts[:n], q.Ends[:n]
}

func (s *Sequencer) part(text []byte, begin, end int, quoted bool) {
	first := len(s.begins)
	s.inRun, s.count = s.inRun[:0], 0
	part := text[begin:end]
	if s.steps.normalizer == nil && s.steps.filter == nil {
		s.scanner.reset(part)
		for s.scanner.next() && s.token(begin+s.scanner.begin, begin+s.scanner.end, s.scanner.isInRun()) {
		}
		s.invalid += s.scanner.invalid
	} else {
		s.text = s.text[:0]
		for at := 0; at < len(part) && s.budget.goesOn(); {
			length := s.pieceLength(part[at:])
			s.prepare(part[at:at+length], begin+at)
			at += length
			if s.budget.Err() != nil {
				s.text = s.text[:0]
			}
		}
		part = s.text
	}
	whole := end-begin == len(text)
	later := sequenceBytes
	if !whole {
		later += partBytes
	}
	if s.budget.Err() != nil {
		if !quoted {
			s.budget.take((shingleBytes + later) * s.count)
		}
		return
	}
	s.joinRuns(first)
	tokens := len(s.begins) - first
	if quoted || tokens == 0 || tokens < s.shingle && !whole {
		return
	}
	width := min(s.shingle, tokens)
	s.hasher.shingles(part)
	n := len(s.hasher.elements)
	if !s.budget.take(later * s.budget.elements(s.hasher.elements, tokens)) {
		return
	}
	q := &s.sequence
	q.Tokens = slices.Grow(q.Tokens, n)
	for i := range n {
		q.Tokens = append(q.Tokens, uint32(first+i))
	}
	starts, ends := s.begins[first:first+n], s.ends[first+width-1:][:n]
	if whole {
		// The only part has all lists already.
		q.Shingles, q.Starts, q.Ends, s.isWhole = s.hasher.elements, starts, ends, true
		return
	}
	q.Shingles = append(q.Shingles, s.hasher.elements...)
	q.Starts, q.Ends = append(q.Starts, starts...), append(q.Ends, ends...)
}

func (s *Sequencer) token(begin, end int, isInRun bool) bool {
	s.count++
	if !s.budget.take(placeBytes + comparedBytes) {
		return s.budget.goesOn()
	}
	if len(s.begins) == cap(s.begins) {
		s.begins = expect(s.budget, s.begins, 1, begin, s.length)
		s.ends = expect(s.budget, s.ends, 1, begin, s.length)
	}
	s.begins, s.ends = append(s.begins, uint32(begin)), append(s.ends, uint32(end))
	s.inRun = append(expect(s.budget, s.inRun, 1, begin, s.length), isInRun)
	return true
}

// joinRuns gives the tokens of runs their places. Before, code points have them. First is the number of the first token
// of the part. A token's number is never larger than the one of its first code point, so nothing is overwritten early.
func (s *Sequencer) joinRuns(first int) {
	if !slices.Contains(s.inRun, true) {
		return
	}
	begins, ends, tokens := s.begins[first:], s.ends[first:], 0
	s.hasher.runs.eachToken(s.inRun, func(from, end int) {
		begins[tokens], ends[tokens] = begins[from], ends[end-1]
		tokens++
	})
	s.begins, s.ends = s.begins[:first+tokens], s.ends[:first+tokens]
}

// pieceLength returns the length of the first piece of text that can be normalized on its own, up to white space or, if
// Chinese characters are tokens, one of them.
func (s *Sequencer) pieceLength(text []byte) int {
	for at := 1; at < len(text); at++ {
		endsWord := kindsASCII[text[at-1]] == spaceKind && kindsASCII[text[at]] != spaceKind
		if !endsWord &&
			!(s.cutsSolos && text[at] >= firstOfIdeographs && s.steps.normalizer.keepsIdeograph(text[at:]) &&
				!reachesOver(text[:at])) {
			continue
		}
		end, isMoved := s.steps.normalizer.moves(text, at)
		if !isMoved {
			return at
		}
		at = end
	}
	return len(text)
}

// prepare appends a piece of the text, normalized, to the text that is hashed, and notes where its tokens are.
func (s *Sequencer) prepare(piece []byte, offset int) {
	s.piece = s.piece[:0]
	if s.steps.normalizer != nil {
		s.piece = s.steps.normalizer.Append(s.piece, piece)
	} else {
		s.piece = append(s.piece, piece...)
	}
	aligned := slices.Equal(s.piece, piece)
	var tokens, begin, end int
	if !aligned {
		tokens, begin, end = s.extent(piece)
	}
	if !aligned && !(s.steps.normalizer.steps.Skeleton && confusables.HasOverride(piece)) {
		normalized, _, _ := s.extent(s.piece)
		aligned = normalized == tokens
	}
	s.scanner.reset(piece)
	s.prepared.reset(s.piece)
	copied := 0
	for s.prepared.next() {
		if aligned {
			s.scanner.next()
			begin, end = s.scanner.begin, s.scanner.end
		}
		if s.steps.filter != nil && !s.steps.filter.keep(s.prepared.word()) {
			s.text = append(append(s.text, s.piece[copied:s.prepared.begin]...), ' ')
			copied = s.prepared.end
			continue
		}
		if !s.token(offset+begin, offset+end, s.prepared.isInRun()) {
			return
		}
	}
	s.text = append(s.text, s.piece[copied:]...)
	s.invalid += s.prepared.invalid
}

// extent returns how many tokens a piece has, where the first of them begins and where the last one ends. If there is
// none, it returns the whole piece.
func (s *Sequencer) extent(piece []byte) (tokens, begin, end int) {
	end = len(piece)
	for s.scanner.reset(piece); s.scanner.next(); tokens++ {
		if tokens == 0 {
			begin = s.scanner.begin
		}
		end = s.scanner.end
	}
	return tokens, begin, end
}

// Winnow appends to selected, in ascending order, the places of the hashes that winnowing selects (Schleimer,
// Wilkerson, Aiken, Winnowing: local algorithms for document fingerprinting, SIGMOD 2003). It selects the smallest of
// every window of adjacent hashes. If two lists share a window, they share a selected hash of it, wherever the window
// is in them. A list that is shorter than a window counts as one. A window below 1 counts as 1.
//
// If hashes are equal, the rightmost in the window is selected, unless one of them was selected in the window
// before (the article's robust winnowing). That leaves out the repeats of a monotonous text. Of evenly spread
// hashes without repeats, 2 in window + 1 are selected.
func Winnow(selected []uint32, hashes []uint64, window int) []uint32 {
	if len(hashes) == 0 {
		return selected
	}
	window = min(max(window, 1), len(hashes))
	least := -1 // the place selected in the window before
	for end := window; end <= len(hashes); end++ {
		begin := end - window
		switch last := end - 1; {
		case least < begin:
			least = begin
			for i := begin + 1; i < end; i++ {
				if hashes[i] <= hashes[least] {
					least = i
				}
			}
		case hashes[last] < hashes[least]:
			least = last
		default:
			continue
		}
		selected = append(selected, uint32(least))
	}
	return selected
}

// passageRotation is the number of bits by which neighbours in a passage are rotated against each other. It is odd, so
// that the first 64 all have a rotation of their own.
const passageRotation = 21

// Passages appends a hash for each run of the given number of adjacent shingles of s that follow each other in the
// text. Winnow these hashes if the shingles of the measure are so short that dissimilar texts share many.
func (s *Sequence) Passages(hashes []uint64, shingles int) []uint64 {
	hashes = slices.Grow(hashes, s.Len())
	for begin := 0; begin < s.Len(); {
		end := begin + 1
		for end < s.Len() && s.Tokens[end] == s.Tokens[end-1]+1 {
			end++
		}
		for ; begin+shingles <= end; begin++ {
			sum := uint64(0)
			for i, shingle := range s.Shingles[begin : begin+shingles] {
				sum += bits.RotateLeft64(shingle, passageRotation*i)
			}
			hashes = append(hashes, asmkernels.SplitMix(sum)>>(64-elementBits))
		}
		begin = end
	}
	return hashes
}

type place struct {
	shingle uint64
	at      uint32
}

// presenceBits is how many more bits than the number of shingles needs are used to say which shingles are
// present. With them, one absent shingle in 16 to 32 seems to be present.
const presenceBits = 4

// IndexedSequence is a sequence that can be matched with others.
type IndexedSequence struct {
	Sequence
	places   []place  // by shingle, then in the order of the text
	starts   []uint32 // where the places of each value of the leading bits begin
	shift    int      // shifts a hash right to its leading bits
	distinct int

	presence      bitSet // which values of more leading bits occur
	presenceShift int
}

// NewIndexedSequence indexes s. Nobody may change s afterwards.
func NewIndexedSequence(s Sequence) *IndexedSequence {
	x := &IndexedSequence{Sequence: s}
	x.sort()
	width := bits.Len(uint(len(x.places))) + presenceBits
	x.presenceShift = elementBits - width
	x.presence.reset(1 << width)
	for i, p := range x.places {
		if i == 0 || x.places[i-1].shingle != p.shingle {
			x.distinct++
		}
		x.presence.add(int(p.shingle >> x.presenceShift))
	}
	return x
}

// sort makes the sorted places of the shingles. Shingles are evenly spread. So one pass by their leading bits
// leaves little to sort.
func (x *IndexedSequence) sort() {
	width := max(bits.Len(uint(x.Len()))-2, 1)
	x.shift = elementBits - width
	x.starts = make([]uint32, 1<<width+1)
	for _, shingle := range x.Shingles {
		x.starts[shingle>>x.shift]++
	}
	end := uint32(0)
	for i, n := range x.starts {
		end += n
		x.starts[i] = end
	}
	x.places = make([]place, x.Len())
	for i, shingle := range slices.Backward(x.Shingles) {
		start := &x.starts[shingle>>x.shift]
		*start--
		x.places[*start] = place{shingle, uint32(i)}
	}
	for i, start := range x.starts[:1<<width] {
		if of := x.places[start:x.starts[i+1]]; len(of) > 1 {
			slices.SortFunc(of, func(a, b place) int {
				if a.shingle != b.shingle {
					return cmp.Compare(a.shingle, b.shingle)
				}
				return cmp.Compare(a.at, b.at)
			})
		}
	}
}

// Distinct returns the number of distinct shingles.
func (x *IndexedSequence) Distinct() int { return x.distinct }

func (x *IndexedSequence) find(shingle uint64) []place {
	leading := shingle >> x.shift
	of := x.places[x.starts[leading]:x.starts[leading+1]]
	for len(of) > 0 && of[0].shingle < shingle {
		of = of[1:]
	}
	return first(of, shingle)
}

// first returns the places at the front that belong to the shingle.
func first(places []place, shingle uint64) []place {
	n := 0
	for n < len(places) && places[n].shingle == shingle {
		n++
	}
	return places[:n]
}

// bitSet holds small numbers, such as places in a sequence, with one bit for each.
type bitSet []uint64

func (s *bitSet) reset(n int) {
	*s = sized(*s, (n+63)/64)
	clear(*s)
}

func (s bitSet) add(i int)      { s[uint(i)/64] |= 1 << (uint(i) % 64) }
func (s bitSet) has(i int) bool { return s[uint(i)/64]>>(uint(i)%64)&1 != 0 }

func (s bitSet) bit(i int) uint64 { return s[uint(i)/64] >> (uint(i) % 64) & 1 }

// seem sets s to the places of a sequence whose shingles seem to be in the other one, and returns how many these are.
func (s *bitSet) seem(a, b *IndexedSequence) (n int) {
	*s = sized(*s, (a.Len()+63)/64)
	for i := range *s {
		word := uint64(0)
		for k, shingle := range a.Shingles[64*i : min(64*i+64, a.Len())] {
			word |= b.presence.bit(int(shingle>>b.presenceShift)) << (uint(k) % 64)
		}
		(*s)[i] = word
		n += bits.OnesCount64(word)
	}
	return n
}

// ends returns the least and the largest number; the least is the larger one if there is none.
func (s bitSet) ends() (first, last int) {
	for first = 0; first < len(s)*64 && s[first/64]>>(first%64) == 0; first = first/64*64 + 64 {
	}
	if first == len(s)*64 {
		return 0, -1
	}
	first += bits.TrailingZeros64(s[first/64])
	for last = len(s) - 1; s[last] == 0; last-- {
	}
	return first, last*64 + 63 - bits.LeadingZeros64(s[last])
}

func (s bitSet) addRange(begin, end int) {
	for at := begin; at < end; {
		word, mask, next := rangeInWord(at, end)
		s[word] |= mask
		at = next
	}
}

func (s bitSet) removeRange(begin, end int) {
	for at := begin; at < end; {
		word, mask, next := rangeInWord(at, end)
		s[word] &^= mask
		at = next
	}
}

// rangeInWord returns the word that has number at, the bits in it of the numbers from there to end-1, and the number
// behind the last of these. At is below end.
func rangeInWord(at, end int) (word int, mask uint64, next int) {
	word = at / 64
	next = min(end, (word+1)*64)
	return word, ^uint64(0) >> (64 - uint(next-at)) << (uint(at) % 64), next
}

func (s bitSet) all() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, word := range s {
			for ; word != 0; word &= word - 1 {
				if !yield(i*64 + bits.TrailingZeros64(word)) {
					return
				}
			}
		}
	}
}

// runs yields the first and the last of all numbers that follow each other without a gap.
func (s bitSet) runs() iter.Seq2[int, int] {
	return func(yield func(first, last int) bool) {
		first := -1 // of the run that reaches to the end of the word before
		for i, word := range s {
			at := 0
			for at < 64 {
				rest := word >> at
				if first < 0 {
					if rest == 0 {
						break
					}
					at += bits.TrailingZeros64(rest)
					first = i*64 + at
					rest = word >> at
				}
				if at += bits.TrailingZeros64(^rest); at >= 64 {
					break // it may go on in the next word
				}
				if !yield(first, i*64+at-1) {
					return
				}
				first = -1
			}
		}
		if first >= 0 {
			yield(first, len(s)*64-1)
		}
	}
}
