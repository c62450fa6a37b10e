package arrowfile

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// TestOffsets: offsets that leave their values, or descend, are not sound, also in an array within another one. An array
// without elements need not have any.
func TestOffsets(t *testing.T) {
	texts := func(length int, offsets []int32, values string) arrow.ArrayData {
		return array.NewData(arrow.BinaryTypes.String, length, []*memory.Buffer{
			nil,
			memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(offsets)),
			memory.NewBufferBytes([]byte(values)),
		}, nil, 0, 0)
	}
	lists := func(offsets []int32, of arrow.ArrayData) arrow.ArrayData {
		return array.NewData(arrow.ListOf(of.DataType()), len(offsets)-1, []*memory.Buffer{
			nil,
			memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(offsets)),
		}, []arrow.ArrayData{of}, 0, 0)
	}
	for name, test := range map[string]struct {
		data arrow.ArrayData
		want bool
	}{
		"texts":                        {texts(2, []int32{0, 1, 3}, "abc"), true},
		"texts that begin later":       {texts(2, []int32{1, 1, 3}, "abc"), true},
		"a descending offset":          {texts(3, []int32{0, 2, 1, 3}, "abc"), false},
		"a negative offset":            {texts(1, []int32{-1, 1}, "abc"), false},
		"no elements and no offsets":   {texts(0, nil, ""), true},
		"empty lists of no texts":      {lists([]int32{0, 0}, texts(0, nil, "")), true},
		"lists of texts":               {lists([]int32{0, 1, 2}, texts(2, []int32{0, 1, 3}, "abc")), true},
		"lists beyond their texts":     {lists([]int32{0, 1, 3}, texts(2, []int32{0, 1, 3}, "abc")), false},
		"lists of texts that descend":  {lists([]int32{0, 3}, texts(3, []int32{0, 2, 1, 3}, "abc")), false},
		"lists of lists of such texts": {lists([]int32{0, 1}, lists([]int32{0, 3}, texts(3, []int32{0, 2, 1, 3}, "abc"))), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := hasSoundOffsets(array.MakeFromData(test.data)); got != test.want {
				t.Errorf("%v, want %v", got, test.want)
			}
		})
	}
}
