package corpus

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// Given says how records hold fingerprints that another program has made. The zero value says that they hold none. The
// field of the fingerprint takes the place of the one text field.
type Given struct {
	// Bits is the length of a fingerprint: 32, or a multiple of 64.
	Bits int `json:",omitempty"`
	// Encoding says how texts are read. Numbers are decimal, and binary values are the bytes themselves.
	Encoding FingerprintEncoding `json:",omitempty"`
}

// FingerprintEncoding says how a text stands for a fingerprint.
type FingerprintEncoding string

// Hex and base64 have the bits of the fingerprint from the highest to the lowest. Decimal is a whole number of 32 or 64
// bits, with or without a sign.
const (
	Hex     FingerprintEncoding = "hex"
	Decimal FingerprintEncoding = "decimal"
	Base64  FingerprintEncoding = "base64"
)

// FingerprintEncodings are the encodings that a job may have.
var FingerprintEncodings = []FingerprintEncoding{Hex, Decimal, Base64}

// ValueKind says what the value of a text field is in its record.
type ValueKind uint8

const (
	// TextValue is a text.
	TextValue ValueKind = iota
	// NumberValue is a number: the text has its digits.
	NumberValue
	// BinaryValue is bytes that need not be characters.
	BinaryValue
)

// Read reads the fingerprint in a record's text into its SimHash. The error says in a few words why it is none.
func (g Given) Read(r *Record, field string) error {
	value := r.Texts[0]
	if r.TextKind != BinaryValue {
		value = bytes.TrimSpace(value)
	}
	words, err := g.parse(value, r.TextKind)
	if err != nil {
		return fmt.Errorf("field %.64q is %.80q: %w", field, value, err)
	}
	r.SimHash = words
	return nil
}

func (g Given) parse(value []byte, kind ValueKind) ([]uint64, error) {
	switch {
	case len(value) == 0:
		return nil, errors.New("there is no fingerprint")
	case kind == BinaryValue:
		return g.words(value)
	case kind == NumberValue || g.Encoding == Decimal:
		return g.number(string(value))
	case g.Encoding == Base64:
		return g.base64(value)
	}
	digits := bytes.TrimPrefix(bytes.TrimPrefix(value, []byte("0x")), []byte("0X"))
	if len(digits) != g.Bits/4 {
		return nil, fmt.Errorf("it has %d characters, and %d bits have %d hexadecimal digits", len(digits), g.Bits,
			g.Bits/4)
	}
	packed := make([]byte, hex.DecodedLen(len(digits)))
	if _, err := hex.Decode(packed, digits); err != nil {
		return nil, errors.New("it is not hexadecimal")
	}
	return g.words(packed)
}

func (g Given) number(digits string) ([]uint64, error) {
	if g.Bits > 64 {
		return nil, fmt.Errorf("a number stands for 32 or 64 bits, and fingerprints have %d", g.Bits)
	}
	word, err := strconv.ParseUint(digits, 10, g.Bits)
	if err != nil {
		signed, signedErr := strconv.ParseInt(digits, 10, g.Bits)
		if signedErr != nil {
			return nil, fmt.Errorf("it is not a whole number of %d bits", g.Bits)
		}
		word = uint64(signed) << (64 - g.Bits) >> (64 - g.Bits)
	}
	return []uint64{word}, nil
}

func (g Given) base64(text []byte) ([]uint64, error) {
	encoding := base64.RawURLEncoding
	if bytes.ContainsAny(text, "+/") {
		encoding = base64.RawStdEncoding
	}
	packed, err := encoding.AppendDecode(nil, bytes.TrimRight(text, "="))
	if err != nil {
		return nil, errors.New("it is not base64")
	}
	return g.words(packed)
}

// words returns the words of a fingerprint whose bytes come from the highest to the lowest.
func (g Given) words(packed []byte) ([]uint64, error) {
	if 8*len(packed) != g.Bits {
		return nil, fmt.Errorf("it has %d bits, and fingerprints have %d", 8*len(packed), g.Bits)
	}
	if len(packed) == 4 {
		return []uint64{uint64(binary.BigEndian.Uint32(packed))}, nil
	}
	words := make([]uint64, 0, len(packed)/8)
	for word := range slices.Chunk(packed, 8) {
		words = append(words, binary.BigEndian.Uint64(word))
	}
	slices.Reverse(words)
	return words, nil
}
