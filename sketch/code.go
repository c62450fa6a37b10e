package sketch

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mirrorbeam.dev/internal/input/sourcecode"
)

// Code says how texts of program code are read. The zero value takes them for any other text. The text form has the
// language, or auto, and then the parts that differ from the usual, with commas between them: "java", "auto,names",
// "go,keep-comments". The zero value is "off".
type Code struct {
	// Language is one of [CodeLanguages], or [AutoLanguage].
	Language string
	// Names makes all names alike, and all numbers, and all strings. Operators and punctuation are tokens.
	Names bool
	// Operators makes operators and punctuation tokens, and leaves the rest as it is.
	Operators bool
	Comments  Comments
}

// AutoLanguage finds the language of each text. A text that seems to be no code is left as it is.
const AutoLanguage = "auto"

// Comments says what becomes of the comments in code.
type Comments uint8

const (
	// NoComments leaves comments out.
	NoComments Comments = iota
	// KeepComments leaves comments where they are.
	KeepComments
	// OnlyComments leaves out all but the comments.
	OnlyComments
)

// The parts of the text form of [Code] behind the language.
const (
	namesPart        = "names"
	operatorsPart    = "operators"
	keepCommentsPart = "keep-comments"
	onlyCommentsPart = "only-comments"
)

// CodeLanguages returns the languages of code that can be read, sorted.
func CodeLanguages() []string { return sourcecode.Names() }

// MarshalText returns the text form of c.
func (c Code) MarshalText() ([]byte, error) {
	if c.Language == "" {
		return []byte("off"), nil
	}
	parts := []string{c.Language}
	if c.Names {
		parts = append(parts, namesPart)
	}
	if c.Operators {
		parts = append(parts, operatorsPart)
	}
	switch c.Comments {
	case KeepComments:
		parts = append(parts, keepCommentsPart)
	case OnlyComments:
		parts = append(parts, onlyCommentsPart)
	}
	return []byte(strings.Join(parts, ",")), nil
}

// UnmarshalText sets c from its text form. The empty text stands for "off".
func (c *Code) UnmarshalText(text []byte) error {
	var parsed Code
	if form := string(text); form != "" && form != "off" {
		language, parts, hasParts := strings.Cut(form, ",")
		if language != AutoLanguage && sourcecode.Named(language) == nil {
			return fmt.Errorf("code %q: unknown language %q: take %s, %s, or off alone", form, language, AutoLanguage,
				strings.Join(CodeLanguages(), ", "))
		}
		parsed.Language = language
		for part := range strings.SplitSeq(parts, ",") {
			if !hasParts {
				break
			}
			if err := parsed.set(part); err != nil {
				return fmt.Errorf("code %q: %w", form, err)
			}
		}
		switch {
		case parsed.Names && parsed.Operators:
			return fmt.Errorf("code %q: operators count with %s: leave out %s", form, namesPart, operatorsPart)
		case parsed.hasWords() && parsed.Comments == OnlyComments:
			return fmt.Errorf("code %q: comments have no names and operators: leave out %s", form, onlyCommentsPart)
		}
	}
	*c = parsed
	return nil
}

// hasWords reports whether each token becomes a word.
func (c Code) hasWords() bool { return c.Names || c.Operators }

func (c *Code) set(part string) error {
	before := *c
	switch part {
	case namesPart:
		c.Names = true
	case operatorsPart:
		c.Operators = true
	case keepCommentsPart:
		c.Comments |= KeepComments
	case onlyCommentsPart:
		c.Comments |= OnlyComments
	default:
		return fmt.Errorf("unknown part %q: take %s, %s, %s or %s", part, namesPart, operatorsPart, keepCommentsPart,
			onlyCommentsPart)
	}
	if *c == before || c.Comments > OnlyComments {
		return fmt.Errorf("%s is there twice, or comments are to be kept and to be alone", part)
	}
	return nil
}

// The words that stand for names, numbers and strings. No keyword begins with a digit, and operators have an even
// number of digits.
const (
	nameWord   = "0name"
	numberWord = "0number"
	stringWord = "0string"
)

// codeReader turns code into a text of words. It is not for concurrent use.
type codeReader struct {
	code     Code
	language *sourcecode.Language // nil: each text has its own
	budget   *Budget
	text     []byte
	// places says that pieces are wanted. They are the origins of words whose places are not in the code.
	places bool
	pieces []codePiece
}

type codePiece struct {
	at         uint32 // of the word
	begin, end uint32 // of the code
	// verbatim says that the word is the code itself.
	verbatim bool
}

// newCodeReader returns a reader of code, or nil if texts are no code.
func newCodeReader(code Code, budget *Budget) (*codeReader, error) {
	switch code.Language {
	case "":
		return nil, nil
	case AutoLanguage:
		return &codeReader{code: code, budget: budget}, nil
	}
	language := sourcecode.Named(code.Language)
	if language == nil {
		return nil, fmt.Errorf("code: unknown language %q", code.Language)
	}
	return &codeReader{code: code, language: language, budget: budget}, nil
}

// read returns the text that stands for code, valid until the next call.
func (r *codeReader) read(code []byte) []byte {
	r.pieces = r.pieces[:0]
	language := r.language
	if language == nil {
		if language = sourcecode.Detect(code); language == nil {
			return code
		}
	}
	tokens := sourcecode.NewScanner(language, code)
	if r.code.hasWords() {
		return r.words(tokens, code)
	}
	return r.blanked(tokens, code)
}

// blanked returns code with spaces instead of its comments, or of all else. So all words keep their places.
func (r *codeReader) blanked(tokens *sourcecode.Scanner, code []byte) []byte {
	if r.code.Comments == KeepComments {
		return code
	}
	if !r.budget.take(len(code)) {
		r.budget.cut()
		return nil
	}
	r.text = append(r.text[:0], code...)
	done := 0
	for t, ok := tokens.Next(); ok; t, ok = tokens.Next() {
		if t.Kind != sourcecode.Comment {
			continue
		}
		if r.code.Comments == OnlyComments {
			blank(r.text[done:t.Begin])
		} else {
			blank(r.text[t.Begin:t.End])
		}
		done = t.End
	}
	if r.code.Comments == OnlyComments {
		blank(r.text[done:])
	}
	return r.text
}

func blank(text []byte) {
	for i, b := range text {
		if b != '\n' {
			text[i] = ' '
		}
	}
}

func (r *codeReader) words(tokens *sourcecode.Scanner, code []byte) []byte {
	alike := [...]string{
		sourcecode.Name:    nameWord,
		sourcecode.Number:  numberWord,
		sourcecode.String:  stringWord,
		sourcecode.Comment: "", // the last kind
	}
	room := r.budget.room()
	r.text = slices.Grow(r.text[:0], min(len(code), room))
	for t, ok := tokens.Next(); ok; t, ok = tokens.Next() {
		piece := codePiece{at: uint32(len(r.text)), begin: uint32(t.Begin), end: uint32(t.End)}
		switch {
		case t.Kind == sourcecode.Comment && r.code.Comments == NoComments:
			continue
		case t.Kind == sourcecode.Mark:
			r.text = appendMark(r.text, code[t.Begin:t.End])
		case r.code.Names && alike[t.Kind] != "":
			r.text = append(r.text, alike[t.Kind]...)
		default:
			piece.verbatim = true
			r.text = append(r.text, code[t.Begin:t.End]...)
		}
		r.text = append(r.text, ' ')
		if r.places {
			r.pieces = append(r.pieces, piece)
		}
		if len(r.text) > room || r.places && !r.budget.take(pieceBytes) {
			r.budget.cut()
			break
		}
	}
	r.budget.takeText(len(r.text), room)
	return r.text
}

// appendMark appends the word that stands for an operator: 0, and its bytes in two digits each.
func appendMark(text, mark []byte) []byte {
	const digits = "0123456789abcdef"
	text = append(text, '0')
	for _, b := range mark {
		text = append(text, digits[b>>4], digits[b&15])
	}
	return text
}

func (r *codeReader) begin(at uint32) uint32 {
	if len(r.pieces) == 0 {
		return at
	}
	p := r.pieceAt(at)
	if p.verbatim {
		return p.begin + at - p.at
	}
	return p.begin
}

// end returns where the code ends whose word ends at the given place.
func (r *codeReader) end(at uint32) uint32 {
	if len(r.pieces) == 0 {
		return at
	}
	p := r.pieceAt(at - 1)
	if p.verbatim {
		return p.begin + at - p.at
	}
	return p.end
}

// pieceAt returns the piece that the byte of the text at a place belongs to.
func (r *codeReader) pieceAt(at uint32) codePiece {
	i, found := slices.BinarySearchFunc(r.pieces, at, func(p codePiece, at uint32) int { return cmp.Compare(p.at, at) })
	if !found {
		i--
	}
	return r.pieces[i]
}
