package arrowfile

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"mirrorbeam.dev/internal/input/corpus"
)

// TestLostRow: a row that is damaged in a column that only copies read is left out of the copy, and is told.
func TestLostRow(t *testing.T) {
	content, err := os.ReadFile(filepath.Join("testdata", "stream.arrow"))
	if err != nil {
		t.Fatal(err)
	}
	text := bytes.Index(content, []byte("text number 0 "))
	copy(content[text-8:], "\xff\xff\xff\xff\xff\xff\xff\xff") // the offset behind the last row of the first batch
	r, err := Open(source(content), int64(len(content)), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() // it was only read
	lost, chosen := int64(0), int64(0)
	copied, err := r.Copy(io.Discard, corpus.RowCopy{
		Keep: func(int64) bool { chosen++; return true },
		Lost: func(rows int64) { lost += rows },
	})
	if err != nil || lost != 1 || copied != chosen-1 {
		t.Errorf("%d of %d rows copied, %d lost: %v", copied, chosen, lost, err)
	}
}

// TestOffsets: offsets that leave their values, or descend, are not sound, also in an array within another one. An
// array without elements need not have any.
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
		"texts":                       {texts(2, []int32{0, 1, 3}, "abc"), true},
		"texts that begin later":      {texts(2, []int32{1, 1, 3}, "abc"), true},
		"a descending offset":         {texts(3, []int32{0, 2, 1, 3}, "abc"), false},
		"a negative offset":           {texts(1, []int32{-1, 1}, "abc"), false},
		"no elements and no offsets":  {texts(0, nil, ""), true},
		"empty lists of no texts":     {lists([]int32{0, 0}, texts(0, nil, "")), true},
		"lists of texts":              {lists([]int32{0, 1, 2}, texts(2, []int32{0, 1, 3}, "abc")), true},
		"lists beyond their texts":    {lists([]int32{0, 1, 3}, texts(2, []int32{0, 1, 3}, "abc")), false},
		"lists of texts that descend": {lists([]int32{0, 3}, texts(3, []int32{0, 2, 1, 3}, "abc")), false},
		"lists of lists of such texts": {lists([]int32{0, 1},
			lists([]int32{0, 3}, texts(3, []int32{0, 2, 1, 3}, "abc"))), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := hasSoundOffsets(array.MakeFromData(test.data)); got != test.want {
				t.Errorf("%v, want %v", got, test.want)
			}
		})
	}
}
