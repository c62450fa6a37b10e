package parquetfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// TestRunsAreBounded: five bytes cannot ask for more values than their page has.
func TestRunsAreBounded(t *testing.T) {
	run := func(count uint64, packed uint64) []byte {
		return append(binary.AppendUvarint(nil, count<<1|packed), 0)
	}
	for name, test := range map[string]struct {
		runs  []byte
		width int
		good  bool
	}{
		"nothing":              {nil, 1, true},
		"all values":           {run(1000, 0), 1, true},
		"filled up":            {run(1024/8, 1), 0, true},
		"too many":             {run(1<<31-1, 0), 1, false},
		"too many, packed":     {run(1<<28, 1), 0, false},
		"more than a number":   {run(1<<62, 1), 0, false},
		"many runs":            {bytes.Repeat(run(1000, 0), 3), 1, false},
		"without a value":      {run(8, 0)[:1], 1, true}, // which the decoder refuses
		"in a broken header":   {[]byte{0x80}, 1, false},
		"in an endless header": {bytes.Repeat([]byte{0xff}, 20), 1, false},
	} {
		if err := checkRuns(test.runs, test.width, 1000); (err == nil) != test.good {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestStructLength: the walker passes what the library writes, and stops at its end.
func TestStructLength(t *testing.T) {
	metadata := &format.FileMetaData{Version: 1, NumRows: 7, CreatedBy: "someone"}
	for _, name := range []string{"root", "leaf"} {
		metadata.Schema = append(metadata.Schema, format.SchemaElement{Name: name})
	}
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), metadata)
	if err != nil {
		t.Fatal(err)
	}
	length, err := structLength(append(footer, "more"...), 2)
	if err != nil || length != len(footer) {
		t.Errorf("%d bytes of %d, %v", length, len(footer), err)
	}
	for cut := range footer {
		if _, err := structLength(footer[:cut], 2); !errors.Is(err, errShort) {
			t.Errorf("%d bytes: %v", cut, err)
		}
	}
	if _, err := structLength(footer, 1); err == nil || !strings.Contains(err.Error(), "too many elements") {
		t.Errorf("two elements where one may be: %v", err)
	}
	// A list of lists of lists: a byte a level.
	if _, err := structLength(append([]byte{0x19}, bytes.Repeat([]byte{0x19}, 1<<20)...), 1<<30); err == nil ||
		!strings.Contains(err.Error(), "deep") {
		t.Errorf("a deep structure: %v", err)
	}
}

func FuzzStructLength(f *testing.F) {
	f.Add([]byte("\x15\x04\x19\x2c\x18\x01a\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		length, err := structLength(data, 1<<10)
		if err == nil && (length < 1 || length > len(data)) {
			t.Errorf("%d bytes of %d", length, len(data))
		}
		if _, again := structLength(append(data, 0xff), 1<<10); err == nil && again != nil {
			t.Errorf("with a byte more: %v", again)
		}
	})
}
