package job

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ByteSize is a number of bytes. As text it may carry a unit: 64MiB, 2GB.
type ByteSize int64

var byteUnits = []struct {
	suffix string
	size   int64
}{
	{"KiB", 1 << 10},
	{"MiB", 1 << 20},
	{"GiB", 1 << 30},
	{"TiB", 1 << 40},
	{"KB", 1e3},
	{"MB", 1e6},
	{"GB", 1e9},
	{"TB", 1e12},
	{"K", 1 << 10},
	{"M", 1 << 20},
	{"G", 1 << 30},
	{"T", 1 << 40},
	{"B", 1},
	{"", 1},
}

// String returns the size without a unit, or as a whole number of the largest possible unit of KiB, MiB, GiB and TiB.
// UnmarshalText reads it back.
func (s ByteSize) String() string {
	for _, unit := range slices.Backward(byteUnits[:4]) {
		if size := ByteSize(unit.size); s != 0 && s%size == 0 {
			return fmt.Sprintf("%d%s", s/size, unit.suffix)
		}
	}
	return strconv.FormatInt(int64(s), 10)
}

// UnmarshalText reads a number with or without a unit.
func (s *ByteSize) UnmarshalText(text []byte) error {
	for _, unit := range byteUnits {
		number, found := strings.CutSuffix(string(text), unit.suffix)
		if !found {
			continue
		}
		value, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if size := value * float64(unit.size); err == nil && size >= 0 && size < math.MaxInt64 {
			*s = ByteSize(size)
			return nil
		}
		break
	}
	return fmt.Errorf("%q is not a size such as 64MiB, 500MB or 1048576", text)
}

// UnmarshalJSON reads a number of bytes: in JSON a size has no unit.
func (s *ByteSize) UnmarshalJSON(encoded []byte) error {
	return json.Unmarshal(encoded, (*int64)(s))
}

// LeastStorageTimeout is the shortest time worth waiting for a bucket.
const LeastStorageTimeout = Span(time.Second)

// Span is a length of time, such as 90s or 2m. Its JSON is the text.
type Span time.Duration

// String returns the span without parts that are zero, as in 2m.
func (s Span) String() string {
	text := time.Duration(s).String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}

func (s Span) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

func (s *Span) UnmarshalText(text []byte) error {
	span, err := time.ParseDuration(string(text))
	if err != nil || span < 0 {
		return fmt.Errorf("%q is not a length of time such as 90s, 2m or 1h", text)
	}
	*s = Span(span)
	return nil
}

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

func (s Seed) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

func (s Seed) MarshalJSON() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalJSON reads a number, or a string with the text.
func (s *Seed) UnmarshalJSON(encoded []byte) error {
	if text, err := strconv.Unquote(string(encoded)); err == nil {
		encoded = []byte(text)
	}
	return s.UnmarshalText(encoded)
}
