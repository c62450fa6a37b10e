package job

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"strconv"
)

// Seed is the key of all hashes.
type Seed uint64

// RandomSeed is the text that draws a seed.
const RandomSeed = "random"

// UnmarshalText reads a number, or draws one. The results name the number, so that it can be given again.
func (s *Seed) UnmarshalText(text []byte) error {
	if string(text) == RandomSeed {
		var drawn [8]byte
		_, _ = rand.Read(drawn[:]) // never fails
		*s = Seed(binary.LittleEndian.Uint64(drawn[:]))
		return nil
	}
	number, err := strconv.ParseUint(string(text), 10, 64)
	if err != nil {
		return fmt.Errorf("%q is not a whole number from 0, nor %s", text, RandomSeed)
	}
	*s = Seed(number)
	return nil
}

// UnmarshalJSON reads a number, or a string with the text.
func (s *Seed) UnmarshalJSON(encoded []byte) error {
	if text, err := strconv.Unquote(string(encoded)); err == nil {
		encoded = []byte(text)
	}
	return s.UnmarshalText(encoded)
}
