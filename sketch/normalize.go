package sketch

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/transform"
	"golang.org/x/text/unicode/norm"

	"mirrorbeam.dev/internal/input/confusables"
)

// Normalization says what a [Normalizer] does to texts. The zero value does nothing. Its text form has the
// names of the steps, such as "nfc" and "fold", with commas between them, or is "none".
type Normalization struct {
	// NFC composes letters and marks as Unicode Standard Annex 15 says. So é is the same however it was
	// typed. NFKC also removes differences of form: full-width letters, ligatures, superscripts, circled
	// digits. It may join or split words, and changes program code. At most one of the two is set.
	NFC, NFKC bool

	// Skeleton makes texts that look the same the same: it drops characters that cannot be seen, and replaces letters
	// and digits by those that they look like, as Unicode Technical Standard 39 says. Letters become small.
	Skeleton bool

	// Fold is full case folding, more than the lower case of tokens: ß becomes ss, and the final sigma a sigma.
	Fold bool

	// Accents decomposes letters and removes all nonspacing marks: é becomes e. Vowel signs of Thai or Hindi go, too.
	Accents bool

	// Digits replaces each decimal digit of any script by 0. Numbers does so with each number and its decimal fraction:
	// 1999 and 3.5 become 0. At most one of the two is set.
	Digits, Numbers bool

	// Punctuation removes punctuation. It removes an apostrophe, full stop, hyphen or middle dot between letters and
	// digits, so don't becomes dont and N.B.A becomes NBA. It removes soft hyphens, except behind a byte that is not
	// valid UTF-8. Everything else of category P, and all other punctuation of ASCII, becomes a space.
	Punctuation bool
}

var (
	errBothForms  = errors.New("nfc and nfkc exclude each other: choose one")
	errBothDigits = errors.New("digits and numbers exclude each other: choose one")
)

// check returns an error if two steps exclude each other.
func (n *Normalization) check() error {
	switch {
	case n.NFC && n.NFKC:
		return errBothForms
	case n.Digits && n.Numbers:
		return errBothDigits
	}
	return nil
}

func (n *Normalization) steps() []struct {
	name string
	on   *bool
} {
	return []struct {
		name string
		on   *bool
	}{
		{"nfc", &n.NFC},
		{"nfkc", &n.NFKC},
		{"skeleton", &n.Skeleton},
		{"fold", &n.Fold},
		{"accents", &n.Accents},
		{"digits", &n.Digits},
		{"numbers", &n.Numbers},
		{"punctuation", &n.Punctuation},
	}
}

// MarshalText returns the text form of n.
func (n Normalization) MarshalText() ([]byte, error) {
	var names []string
	for _, step := range n.steps() {
		if *step.on {
			names = append(names, step.name)
		}
	}
	if names == nil {
		names = []string{"none"}
	}
	return []byte(strings.Join(names, ",")), nil
}

// UnmarshalText sets n from its text form, which has each step at most once, in any order. Empty: none.
func (n *Normalization) UnmarshalText(text []byte) error {
	var parsed Normalization
	if names := string(text); names != "" && names != "none" {
		for name := range strings.SplitSeq(names, ",") {
			if err := parsed.set(name); err != nil {
				return fmt.Errorf("normalization %q: %w", names, err)
			}
		}
	}
	if err := parsed.check(); err != nil {
		return fmt.Errorf("normalization %q: %w", text, err)
	}
	*n = parsed
	return nil
}

func (n *Normalization) set(name string) error {
	var names []string
	for _, step := range n.steps() {
		if step.name == name {
			if *step.on {
				return fmt.Errorf("%s is there twice", name)
			}
			*step.on = true
			return nil
		}
		names = append(names, step.name)
	}
	return fmt.Errorf("unknown step %q: take %s, or none alone", name, strings.Join(names, ", "))
}

// Normalizer normalizes texts and reuses its buffers. Only one goroutine may use it at a time.
type Normalizer struct {
	steps            Normalization
	budget           *Budget // nil: no limit
	before, most     int     // how long the text was before the current step, and how long it may become
	form             norm.Form
	folder           cases.Caser
	segments         norm.Iter
	composed, folded []byte
	skeleton, plain  []byte
}

// NewNormalizer returns a Normalizer, or an error if two steps of n exclude each other.
func NewNormalizer(n Normalization) (*Normalizer, error) {
	if err := n.check(); err != nil {
		return nil, fmt.Errorf("normalizer: %w", err)
	}
	normalizer := &Normalizer{steps: n, form: norm.NFC, folder: cases.Fold()}
	if n.NFKC {
		normalizer.form = norm.NFKC
	}
	return normalizer, nil
}

// Append appends the normalized text to dst, which must not overlap text. Bytes that are not valid UTF-8 stay
// as they are. The steps are applied in the order of the fields. Then the text is composed once more, since
// the other steps may bring letters and marks together.
func (n *Normalizer) Append(dst, text []byte) []byte {
	compose := n.steps.NFC || n.steps.NFKC
	if compose {
		n.composed = n.charge(n.appendComposed(n.begin(n.composed[:0], text), text))
		text = n.composed
	}
	if n.steps.Skeleton {
		n.skeleton = n.charge(confusables.Append(n.begin(n.skeleton[:0], text), text))
		text = n.skeleton
	}
	others := n.steps
	others.NFC, others.NFKC, others.Skeleton = false, false, false
	if others == (Normalization{}) {
		return n.charge(append(n.begin(dst, text), text...))
	}
	if n.steps.Fold {
		n.folded = n.charge(n.appendFolded(n.begin(n.folded[:0], text), text))
	} else {
		n.folded = n.charge(append(n.begin(n.folded[:0], text), text...))
	}
	if n.steps.Accents {
		n.plain = n.charge(appendParts(n.begin(n.plain[:0], n.folded), n.folded, n.appendPlain))
		n.folded, n.plain = n.plain, n.folded
	}
	if n.steps.Digits || n.steps.Numbers {
		n.folded = n.folded[:replaceDigits(n.folded, n.steps.Numbers)]
	}
	if n.steps.Punctuation {
		n.folded = n.folded[:removePunctuation(n.folded)]
	}
	if compose {
		return n.charge(n.appendComposed(n.begin(dst, n.folded), n.folded))
	}
	return n.charge(append(n.begin(dst, n.folded), n.folded...))
}

// moves reports whether the normalizer moves characters from one side of a place of a text to the other, and returns
// where it no longer does. A nil Normalizer moves none.
func (n *Normalizer) moves(text []byte, place int) (end int, is bool) {
	if n == nil || !n.steps.Skeleton {
		return 0, false
	}
	return confusables.Overridden(text, place)
}

func (n *Normalizer) begin(dst, text []byte) []byte {
	n.before, n.most = len(dst), math.MaxInt
	if room := n.budget.room(); room < math.MaxInt {
		n.most = len(dst) + room
	}
	return slices.Grow(dst, min(len(text), n.most-len(dst)))
}

func (n *Normalizer) charge(dst []byte) []byte {
	n.budget.takeText(len(dst)-n.before, n.most-n.before)
	return dst
}

// appendComposed appends text in the wanted form. Bytes that are not valid UTF-8 part it: golang.org/x/text 0.43
// would take all text behind such a byte for composed, or not, according to the text before it.
func (n *Normalizer) appendComposed(dst, text []byte) []byte {
	return appendParts(dst, text, n.appendComposedRun)
}

// appendParts calls appendValid for each part of text that is valid UTF-8, and appends the bytes between as they are.
func appendParts(dst, text []byte, appendValid func(dst, valid []byte) []byte) []byte {
	for len(text) > 0 {
		if valid := validLength(text); valid > 0 {
			dst = appendValid(dst, text[:valid])
			text = text[valid:]
		} else {
			dst = append(dst, text[0])
			text = text[1:]
		}
	}
	return dst
}

// validLength returns how many bytes of text are before the first that is not valid UTF-8.
func validLength(text []byte) int {
	if utf8.Valid(text) {
		return len(text)
	}
	at := 0
	for {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size == 1 {
			return at
		}
		at += size
	}
}

// appendComposedRun replaces norm.Form.Append, which allocates for each text that it has to change.
func (n *Normalizer) appendComposedRun(dst, run []byte) []byte {
	for len(dst) <= n.most {
		done := n.form.QuickSpan(run)
		dst = append(dst, run[:done]...)
		if run = run[done:]; len(run) == 0 {
			return dst
		}
		// Text to change ends, at the latest, between two characters of ASCII.
		end := 1
		for end < len(run) && (run[end-1] >= utf8.RuneSelf || run[end] >= utf8.RuneSelf) {
			end++
		}
		for n.segments.Init(n.form, run[:end]); !n.segments.Done() && len(dst) <= n.most; {
			dst = append(dst, n.segments.Next()...)
		}
		run = run[end:]
	}
	return dst
}

func (n *Normalizer) appendFolded(dst, text []byte) []byte {
	for len(text) > 0 && len(dst) <= n.most {
		dst = slices.Grow(dst, len(text))
		plain, room := 0, dst[len(dst):cap(dst)]
		for plain < len(text) && plain < len(room) && text[plain] < utf8.RuneSelf {
			c := text[plain]
			if c-'A' < 26 {
				c += 'a' - 'A'
			}
			room[plain] = c
			plain++
		}
		dst, text = dst[:len(dst)+plain], text[plain:]

		run := 0
		for run < len(text) && text[run] >= utf8.RuneSelf {
			r, size := utf8.DecodeRune(text[run:])
			if r == utf8.RuneError && size == 1 || isCherokeeCapital(r) {
				break
			}
			run += size
		}
		if run > 0 {
			dst = n.appendFoldedRun(dst, text[:run])
		} else {
			_, run = utf8.DecodeRune(text)
			dst = append(dst, text[:run]...)
		}
		text = text[run:]
	}
	return dst
}

// isCherokeeCapital reports whether r is a letter that folds to itself, while its small letter folds to it.
// golang.org/x/text 0.43 treats such letters like other capitals.
func isCherokeeCapital(r rune) bool {
	return '\u13a0' <= r && r <= '\u13f5'
}

func (n *Normalizer) appendFoldedRun(dst, run []byte) []byte {
	for len(dst) <= n.most {
		dst = slices.Grow(dst, len(run)+utf8.UTFMax)
		written, read, err := n.folder.Transform(dst[len(dst):cap(dst)], run, true)
		dst, run = dst[:len(dst)+written], run[read:]
		if err != transform.ErrShortDst {
			// The only other end is the end of run.
			return dst
		}
	}
	return dst
}

// appendPlain appends text without accents. What stays: composed Hangul, and a mark between bytes that it parts.
func (n *Normalizer) appendPlain(dst, run []byte) []byte {
	for len(run) > 0 && len(dst) <= n.most {
		if run[0] < utf8.RuneSelf {
			dst, run = append(dst, run[0]), run[1:]
			continue
		}
		_, size := utf8.DecodeRune(run)
		parts := norm.NFD.Properties(run).Decomposition()
		if parts == nil {
			parts = run[:size]
		}
		for len(parts) > 0 {
			r, part := utf8.DecodeRune(parts)
			if !unicode.Is(unicode.Mn, r) || endsBroken(dst) {
				dst = append(dst, parts[:part]...)
			}
			parts = parts[part:]
		}
		run = run[size:]
	}
	return dst
}

// endsBroken reports whether text ends with a byte that is not valid UTF-8.
func endsBroken(text []byte) bool {
	r, size := utf8.DecodeLastRune(text)
	return r == utf8.RuneError && size == 1
}

// decimalSeparators may stand between the digits of a number and of its decimal fraction.
const decimalSeparators = ".,\u060c\u066b\u2396\u2397\u2398"

// replaceDigits replaces the digits of text, or its numbers, by 0 in place, and returns the length of what is left.
func replaceDigits(text []byte, areNumbers bool) int {
	kept := 0
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRune(text[at:])
		if !unicode.IsDigit(r) {
			kept += copy(text[kept:], text[at:at+size])
			at += size
			continue
		}
		text[kept] = '0'
		kept++
		if at += size; !areNumbers {
			continue
		}
		at += digitsLength(text[at:])
		if r, size = utf8.DecodeRune(text[at:]); strings.ContainsRune(decimalSeparators, r) {
			if fraction := digitsLength(text[at+size:]); fraction > 0 {
				at += size + fraction
			}
		}
	}
	return kept
}

// digitsLength returns how many bytes the digits take with which text begins.
func digitsLength(text []byte) (length int) {
	for {
		r, size := utf8.DecodeRune(text[length:])
		if !unicode.IsDigit(r) {
			return length
		}
		length += size
	}
}

// removePunctuation removes the punctuation of text in place and returns the length of what is left.
func removePunctuation(text []byte) int {
	kept := 0
	inside := false // whether the kept text ends within a word
	broken := false // whether it ends with a byte that is not valid UTF-8
	for at := 0; at < len(text); {
		c := text[at]
		if kind := kindsASCII[c]; kind != otherKind {
			at++
			if kind == punctuationKind {
				if inside && joinsWords(rune(c)) && beginsWord(text[at:]) {
					continue
				}
				c = ' '
			}
			text[kept] = c
			kept++
			inside, broken = kind == wordKind, false
			continue
		}
		r, size := utf8.DecodeRune(text[at:])
		next := at + size
		switch {
		case r == softHyphen && !broken: // else it might form a character with the next byte
		case joinsWords(r) && inside && beginsWord(text[next:]):
		case unicode.IsPunct(r):
			text[kept] = ' '
			kept++
			inside, broken = false, false
		default:
			kept += copy(text[kept:], text[at:next])
			inside, broken = isWordPart(r), r == utf8.RuneError && size == 1
		}
		at = next
	}
	return kept
}

const softHyphen = '\u00ad'

func joinsWords(r rune) bool {
	switch r {
	case '\'', '\u2019', '.', '-', '\u2010', '\u2011', '\u00b7':
		return true
	}
	return false
}

// Kinds of ASCII characters.
const (
	otherKind       = iota // not ASCII
	spaceKind              // white space and controls
	punctuationKind        // all others
	wordKind               // letters and digits
)

var kindsASCII = func() (kinds [256]uint8) {
	for c := range utf8.RuneSelf {
		switch r := rune(c); {
		case unicode.IsLetter(r), unicode.IsDigit(r):
			kinds[c] = wordKind
		case unicode.IsSpace(r), unicode.IsControl(r):
			kinds[c] = spaceKind
		default:
			kinds[c] = punctuationKind
		}
	}
	return kinds
}()

func isWordPart(r rune) bool {
	if r < utf8.RuneSelf {
		return kindsASCII[r] == wordKind
	}
	return unicode.In(r, unicode.Letter, unicode.Digit, unicode.Mark)
}

// beginsWord reports whether text begins with a word, after any soft hyphens.
func beginsWord(text []byte) bool {
	for {
		r, size := utf8.DecodeRune(text)
		if r != softHyphen {
			return size > 0 && isWordPart(r)
		}
		text = text[size:]
	}
}

// firstOfIdeographs is the smallest first byte of a Chinese character.
const firstOfIdeographs = 0xe3

// keepsIdeograph reports whether text begins with a Chinese character that normalization joins to no text before it.
func (n *Normalizer) keepsIdeograph(text []byte) bool {
	r, _ := utf8.DecodeRune(text)
	return unicode.Is(unicode.Unified_Ideograph, r) && (n == nil || !n.steps.Skeleton || confusables.Keeps(r))
}

// reachesOver reports whether the normalized end of text may depend on the text that follows. It does for
// punctuation that joins words, and for soft hyphens.
func reachesOver(text []byte) bool {
	r, _ := utf8.DecodeLastRune(text)
	return joinsWords(r) || r == softHyphen
}
