package job

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"strconv"
)

// Seed is the key of all hashes. Its JSON is the number.
type Seed struct {
	Number uint64
	// IsDrawn says that the user wants any number that nobody knows.
	IsDrawn bool
}

// RandomSeed is the text that draws a seed.
const RandomSeed = "random"

// UnmarshalText reads a number, or draws one. The results name the number, so that it can be given again.
func (s *Seed) UnmarshalText(text []byte) error {
	if string(text) == RandomSeed {
		var drawn [8]byte
		_, _ = rand.Read(drawn[:]) // never fails
		*s = Seed{binary.LittleEndian.Uint64(drawn[:]), true}
		return nil
	}
	number, err := strconv.ParseUint(string(text), 10, 64)
	if err != nil {
		return fmt.Errorf("%q is not a whole number from 0, nor %s", text, RandomSeed)
	}
	*s = Seed{Number: number}
	return nil
}

// String returns the number in digits.
func (s Seed) String() string { return strconv.FormatUint(s.Number, 10) }

// MarshalText writes the number.
func (s Seed) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalJSON writes the number.
func (s Seed) MarshalJSON() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalJSON reads a number, or a string with the text.
func (s *Seed) UnmarshalJSON(encoded []byte) error {
	if text, err := strconv.Unquote(string(encoded)); err == nil {
		encoded = []byte(text)
	}
	return s.UnmarshalText(encoded)
}
