package arrowmeta

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
)

// streamOf returns a stream without batches.
func streamOf(t testing.TB, schema *arrow.Schema) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := ipc.NewWriter(&b, ipc.WithSchema(schema)).Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestAddFields: a stored schema has the new fields behind its own, with its metadata, and pandas reads whole numbers
// with nulls as such.
func TestAddFields(t *testing.T) {
	metadata := arrow.MetadataFrom(map[string]string{
		"mine": "yes", PandasKey: `{"index_columns":["at"],"columns":[{"name":"at","numpy_type":"object"}],"more":1}`,
	})
	own := arrow.Field{
		Name:     "when",
		Type:     &arrow.TimestampType{Unit: arrow.Second, TimeZone: "Europe/Berlin"},
		Nullable: true,
	}
	added := []arrow.Field{
		{Name: "kept_id", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {
			Name: "size",
			Type: arrow.PrimitiveTypes.Int64,
		},
	}
	stored := base64.StdEncoding.EncodeToString(streamOf(t, arrow.NewSchema([]arrow.Field{own}, &metadata)))
	got, err := AddFields(stored, added...)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := base64.StdEncoding.DecodeString(got)
	if err != nil {
		t.Fatal(err)
	}
	reader, err := ipc.NewReader(bytes.NewReader(stream))
	if err != nil {
		t.Fatal(err)
	}
	schema := reader.Schema()
	if schema.NumFields() != 3 || !schema.Field(0).Equal(own) || !schema.Field(1).Equal(added[0]) {
		t.Errorf("the schema is %v", schema)
	}
	mine, _ := schema.Metadata().GetValue("mine")
	pandas, _ := schema.Metadata().GetValue(PandasKey)
	for _, want := range []string{
		`"index_columns":["at"]`, `"numpy_type":"object"`, `"numpy_type":"Int64"`,
		`"numpy_type":"int64"`, `"more":1`,
	} {
		if mine != "yes" || !strings.Contains(pandas, want) || !json.Valid([]byte(pandas)) {
			t.Errorf("the metadata are %v", schema.Metadata())
		}
	}
	for _, damaged := range []string{
		"", "?", stored[:40],
		base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{0xff}, 64)),
	} {
		if _, err := AddFields(damaged, added...); err == nil {
			t.Errorf("%q is a schema", damaged)
		}
	}
}

// TestFieldInItself: a field that is its own child, and a list longer than the metadata, are damage. The library would
// read them for ever, or take all memory.
func TestFieldInItself(t *testing.T) {
	stream := streamOf(t, arrow.NewSchema([]arrow.Field{{
		Name: "a",
		Type: arrow.StructOf(arrow.Field{Name: "b", Type: arrow.PrimitiveTypes.Int8}),
	}}, nil))
	message := stream[8:][:binary.LittleEndian.Uint32(stream[4:])]
	if m, err := ParseMessage(message, Views{}); err != nil || m.Kind != ipc.MessageSchema {
		t.Fatalf("%+v, %v", m, err)
	}
	root := rootOf(message)
	schema, _ := root.table(2)
	at, _ := schema.vector(1, 4)
	outer := schema.at(at)
	children, _ := outer.vector(5, 4)
	loop := bytes.Clone(message)
	binary.LittleEndian.PutUint32(loop[children:], uint32(int(outer.Pos)-children))
	long := bytes.Clone(message)
	binary.LittleEndian.PutUint32(long[children-4:], 1<<31)
	for name, damaged := range map[string][]byte{"a loop": loop, "a long list": long} {
		if _, err := ParseMessage(damaged, Views{}); !errors.Is(err, ErrMetadata) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	stream := streamOf(f,
		arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.ListOf(arrow.BinaryTypes.String)}}, nil))
	f.Add(stream[8:])
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := ParseMessage(b, Views{1, 1}); err == nil && (m.Body < 0 || m.Rows < 0) {
			t.Errorf("%+v", m)
		}
		if _, blocks, err := ParseFooter(b); err == nil {
			for _, block := range blocks {
				if block.Offset < 0 || block.Metadata < 8 || block.Body < 0 {
					t.Errorf("%+v", block)
				}
			}
		}
	})
}
