package parquetfile

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// TestWalk: the walker passes what the library writes, and stops at its end.
func TestWalk(t *testing.T) {
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), &format.FileMetaData{
		Version:   1,
		NumRows:   7,
		CreatedBy: "someone",
		Schema:    []format.SchemaElement{{Name: "root", NumChildren: thrift.New(int32(1))}, {Name: "leaf"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	length, err := walk(append(footer, "more"...), 2, nil)
	if err != nil || length != len(footer) {
		t.Errorf("%d bytes of %d, %v", length, len(footer), err)
	}
	for cut := range footer {
		if _, err := walk(footer[:cut], 2, nil); !errors.Is(err, errShort) {
			t.Errorf("%d bytes: %v", cut, err)
		}
	}
	if _, err := walk(footer, 1, nil); err == nil || !strings.Contains(err.Error(), "too many elements") {
		t.Errorf("two elements where one may be: %v", err)
	}
	// A list of lists of lists: a byte a level.
	if _, err := walk(append([]byte{0x19}, bytes.Repeat([]byte{0x19}, 1<<20)...), 1<<30, nil); err == nil ||
		!strings.Contains(err.Error(), "deep") {
		t.Errorf("a deep structure: %v", err)
	}
}

func FuzzWalk(f *testing.F) {
	f.Add([]byte("\x15\x04\x19\x2c\x18\x01a\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		length, err := walk(data, 1<<10, nil)
		if err == nil && (length < 1 || length > len(data)) {
			t.Errorf("%d bytes of %d", length, len(data))
		}
		if _, again := walk(append(data, 0xff), 1<<10, nil); err == nil && again != nil {
			t.Errorf("with a byte more: %v", again)
		}
	})
}
