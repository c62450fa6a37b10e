package state

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"

	"mirrorbeam/internal/ground/checksum"
)

// What can be wrong with a file.
var (
	// ErrForeign says that it begins with another mark.
	ErrForeign = errors.New("it is a file of another kind")
	// ErrVersion says that its mark has another number.
	ErrVersion = errors.New("it has the layout of another version of this program")
	// ErrDamaged says that its bytes are not those that were sealed.
	ErrDamaged = errors.New("it is damaged (check sum)")
)

// Seal appends a check sum to content, which begins with its mark: the name of a kind of files and the number of their
// layout, such as "mirrorbeam groups 1\n".
func Seal(content []byte) []byte {
	return binary.LittleEndian.AppendUint32(content, checksum.Of(content))
}

// Unseal returns what is between the mark and the check sum of sealed content. The error is one of this package.
func Unseal(content []byte, mark string) ([]byte, error) {
	if !bytes.HasPrefix(content, []byte(mark)) {
		kind := mark[:strings.LastIndexByte(mark, ' ')+1]
		if bytes.HasPrefix(content, []byte(kind)) {
			return nil, ErrVersion
		}
		return nil, ErrForeign
	}
	end := len(content) - checksum.Size
	if end < len(mark) || checksum.Of(content[:end]) != binary.LittleEndian.Uint32(content[end:]) {
		return nil, ErrDamaged
	}
	return content[len(mark):end], nil
}
