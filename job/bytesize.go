package job

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
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
