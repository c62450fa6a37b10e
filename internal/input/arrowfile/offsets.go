package arrowfile

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// hasSoundOffsets reports whether the offsets of an array, and of the arrays in it, ascend within their values. The
// library trusts them when it copies: damaged ones have made it ask for 2^47 bytes.
func hasSoundOffsets(a arrow.Array) bool {
	if a.Len() == 0 {
		return true // it need not have any offset
	}
	switch a := a.(type) {
	case *array.String:
		return areSound(a.ValueOffsets(), bytesOf(a))
	case *array.Binary:
		return areSound(a.ValueOffsets(), bytesOf(a))
	case *array.LargeString:
		return areSound(a.ValueOffsets(), bytesOf(a))
	case *array.LargeBinary:
		return areSound(a.ValueOffsets(), bytesOf(a))
	case *array.List:
		return isSoundList(a.Offsets(), a, a.ListValues())
	case *array.LargeList:
		return isSoundList(a.Offsets(), a, a.ListValues())
	case *array.Map:
		return isSoundList(a.Offsets(), a, a.ListValues())
	case *array.FixedSizeList:
		return hasSoundOffsets(a.ListValues())
	case *array.Dictionary:
		return hasSoundOffsets(a.Dictionary())
	case array.ExtensionArray:
		return hasSoundOffsets(a.Storage())
	case *array.Struct:
		for i := range a.NumField() {
			if !hasSoundOffsets(a.Field(i)) {
				return false
			}
		}
	}
	return true
}

func bytesOf(a arrow.Array) int {
	if b := a.Data().Buffers()[2]; b != nil {
		return b.Len()
	}
	return 0
}

// isSoundList checks the offsets of a list, which may be a slice of a longer one, and the values that they reach.
func isSoundList[N int32 | int64](offsets []N, a, values arrow.Array) bool {
	first := a.Data().Offset()
	offsets = offsets[min(first, len(offsets)):min(first+a.Len()+1, len(offsets))]
	if len(offsets) == 0 {
		return true
	}
	return areSound(offsets, values.Len()) &&
		hasSoundOffsets(array.NewSlice(values, int64(offsets[0]), int64(offsets[len(offsets)-1])))
}

// areSound reports whether offsets ascend from 0 or more to length at most.
func areSound[N int32 | int64](offsets []N, length int) bool {
	return len(offsets) == 0 ||
		slices.IsSorted(offsets) && offsets[0] >= 0 && int64(offsets[len(offsets)-1]) <= int64(length)
}
