package write

import (
	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/carry/sketchblock"
)

// WriteShingles writes shingles that did not count, packed as in a sketch block: [output.IgnoredShingles] or
// [output.CommonShingles]. Who explains the results needs them.
func WriteShingles(f Files, of string, packed []byte) (output.File, error) {
	f.Format = output.Binary
	out, err := output.NewWriter(string(f.Partial), f.Name(of, 0, 1), f.Format)
	if err != nil {
		return output.File{}, err
	}
	defer out.Abort()
	if _, err := out.Write(packed); err != nil {
		return output.File{}, err
	}
	out.Count(int64(len(packed) / sketchblock.HashSize))
	return out.Close()
}
