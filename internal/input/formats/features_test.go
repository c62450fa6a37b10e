package formats

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"mirrorbeam.dev/internal/input/corpus"
)

// parquetOf returns rows as a Parquet file.
func parquetOf[T any](t *testing.T, rows ...T) string {
	t.Helper()
	var file bytes.Buffer
	if err := parquet.Write(&file, rows); err != nil {
		t.Fatal(err)
	}
	return file.String()
}

// Rows of Parquet with features in all forms.
type (
	inJSON struct {
		ID       string  `parquet:"id"`
		Text     string  `parquet:"text"`
		Features *string `parquet:"features,optional"`
	}
	inList struct {
		ID       string   `parquet:"id"`
		Text     string   `parquet:"text"`
		Features []string `parquet:"features,list"`
	}
	inHashes struct {
		Text     string   `parquet:"text"`
		Features []uint64 `parquet:"features,list"`
	}
	inMap struct {
		Text     string             `parquet:"text"`
		Features map[string]float64 `parquet:"features"`
	}
	inHashMap struct {
		Text     string          `parquet:"text"`
		Features map[int64]int32 `parquet:"features"`
	}
)

// TestFeatures: CSV and Parquet hold features in several forms, and they are the same as in lines of JSON.
func TestFeatures(t *testing.T) {
	text := func(s string) *string { return &s }
	const missing = "a document needs an array or an object of features there"
	for _, c := range []struct {
		about, name, content string
		beside               bool
		want                 []string // features in JSON, or a part of an error
	}{
		{
			"JSON in CSV", "a.csv", "id,features\n1,\"[\"\"a\"\",[\"\"b\"\",2],7]\"\n2,\" {\"\"x\"\":0.5} \"\n3,[]\n",
			false,
			[]string{`["a",["b",2],7]`, `{"x":0.5}`, `[]`},
		},
		{"no JSON in CSV", "a.csv", "id,features\n1,a b\n2,\n3,null\n4,[1] 2\n5,\"[[\"\"a\"\",0]]\"\n", false, []string{
			`!field "features": malformed JSON: no value at byte 0`,
			`!field "features" is empty: a document needs a JSON`, "!is null: " + missing, "!more than one value",
			`!feature 0 of field "features" has the weight 0`,
		}},
		{
			"TSV beside texts", "a.tsv", "text\tfeatures\na\t[1]\nb\t\nc\tnull\nd\t5\n", true,
			[]string{`[1]`, `[]`, `[]`, "!is a number: " + missing},
		},
		{
			"CSV without the column", "a.csv", "id,text\n1,a\n", false,
			[]string{`!no field "features": there are "id", "text"`},
		},
		{"CSV without the column, beside texts", "a.csv", "id,text\n1,a\n", true, []string{`[]`}},
		{
			"JSON in Parquet", "a.parquet",
			parquetOf(t, inJSON{"1", "a", text(`{"x":2}`)}, inJSON{"2", "b", nil}, inJSON{"3", "c", text("")}), false,
			[]string{`{"x":2}`, `!is null: ` + missing, `!is empty`},
		},
		{
			"JSON in Parquet beside texts", "a.parquet",
			parquetOf(t, inJSON{"1", "a", text(`["x"]`)}, inJSON{"2", "b", nil}), true,
			[]string{`["x"]`, `[]`},
		},
		{
			"strings in Parquet", "a.parquet",
			parquetOf(t, inList{"1", "a", []string{"x", "7", ""}}, inList{"2", "b", nil}), true,
			[]string{`["x","7",""]`, `[]`},
		},
		{
			"hashes in Parquet", "a.parquet", parquetOf(t, inHashes{"a", []uint64{1 << 63, 7}}), false,
			[]string{`[9223372036854775808,7]`},
		},
		{
			"a map in Parquet", "a.parquet",
			parquetOf(t, inMap{"1", map[string]float64{"x": 2.5}}, inMap{"2", nil},
				inMap{"3", map[string]float64{"x": -1}}), false,
			[]string{
				`{"x":2.5}`, `[]`,
				`!feature 0 of field "features" has the weight -1.0: it must be a number above 0`,
			},
		},
		{
			"a map of hashes in Parquet", "a.parquet",
			parquetOf(t, inHashMap{"a", map[int64]int32{9: 3}}, inHashMap{"a", map[int64]int32{-9: 3}}), false,
			[]string{`[[9,3]]`, `!feature 0 of field "features" is -9: a hash is a whole number of 64 bits`},
		},
		{
			"text", "a.txt", "a text", false,
			[]string{`!the format text has no fields, so there is no field "features" of features`},
		},
		{"text, beside texts", "a.txt", "a text", true, []string{`[]`}},
	} {
		t.Run(c.about, func(t *testing.T) {
			files := list(t, map[string]string{c.name: c.content})
			fields := corpus.Fields{
				ID:       "id",
				Texts:    []string{"text"},
				Features: "features",
				Beside:   c.beside,
				Others:   []string{"id"},
			}
			w := wanted(fields)
			decoder, n := NewDecoder(w), 0
			for batch, err := range Batches(files[0], 0, corpus.Limits{Line: 1000}, w) {
				if err != nil {
					t.Fatal(err)
				}
				for position, record := range batch.Records() {
					if n == len(c.want) {
						t.Fatal("there are more records")
					}
					got, err := decoder.Decode(&files[0], &batch, position, record)
					want, isError := strings.CutPrefix(c.want[n], "!")
					n++
					if isError {
						if err == nil || !strings.Contains(err.Error(), want) {
							t.Errorf("record %d: error %v, want %s", n, err, want)
						}
						continue
					}
					fields := corpus.Fields{Features: "features"}
					same, fault := corpus.NewJSONDecoder(fields).Decode([]byte(`{"features":` + want + `}`))
					if errors.Join(err, fault) != nil || fmt.Sprint(got.Features) != fmt.Sprint(same.Features) ||
						(len(got.Texts) > 0) != c.beside {
						t.Errorf("record %d: features %v, texts %q, error %v; want %v", n, got.Features, got.Texts,
							err, same.Features)
					}
				}
			}
			if n != len(c.want) {
				t.Errorf("%d records, want %d", n, len(c.want))
			}
		})
	}
	type weighed struct {
		Name string `parquet:"name"`
	}
	type inStructs struct {
		Text     string    `parquet:"text"`
		Features []weighed `parquet:"features,list"`
		Numbers  []float64 `parquet:"numbers,list"`
	}
	files := list(t, map[string]string{"a.parquet": parquetOf(t, inStructs{"a", []weighed{{"x"}}, []float64{1.5}})})
	for path, want := range map[string]string{
		"numbers":  `field "numbers" has values of the type double: features are strings`,
		"features": `no field "features"; there are "features.name": features are a JSON text, a list`,
		"nothing":  `no field "nothing"`,
	} {
		_, err := Prepare(t.Context(), files, wanted(corpus.Fields{
			Features: path,
			Texts:    []string{"text"},
			Beside:   path != "nothing",
		}))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s of numbers: %v, want %s", path, err, want)
		}
	}
}

// FuzzFeatures: whatever a value of a column is, it is read or refused, and what JSON decoders take as features of a
// line is read alike.
func FuzzFeatures(f *testing.F) {
	for _, seed := range []string{
		`["a",["b",2],7]`, `{"x":0.5}`, ` [] `, `[[]]`, `null`, ``, `[1`, `{"a":1}}`, `"a"`,
		`[1]` + "\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		reader := corpus.FeatureReader{Field: "features"}
		got, err := reader.JSON(value)
		line := append(append([]byte(`{"features":`), value...), '}')
		record, fault := corpus.NewJSONDecoder(corpus.Fields{Features: "features"}).Decode(line)
		if err == nil && (fault != nil || fmt.Sprint(record.Features) != fmt.Sprint(got)) {
			t.Errorf("%q is read as %v; in a line as %v, error %v", value, got, record.Features, fault)
		}
	})
}

// TestParquetMemory: pages that take too much memory end the reading with a remedy, a list that does so is a reject,
// and a long row waits for its right.
func TestParquetMemory(t *testing.T) {
	type row struct {
		Text []string `parquet:"text,dict"`
	}
	texts := func(length, n int) row { return row{slices.Repeat([]string{strings.Repeat("a", length)}, n)} }
	for _, c := range []struct {
		name       string
		rows       []row
		memory     int64
		rejects    string
		fault      string
		isLongHeld bool
	}{
		{"small", []row{texts(10, 1)}, 1 << 20, "", "", false},
		{
			"a large page",
			[]row{texts(1<<20, 1)},
			2 << 20, "",
			"take about 3 MiB of memory, and 2 MiB are the limit: give a --memory of", false,
		},
		{
			"a long list",
			[]row{texts(10, 1), texts(1<<10, 1<<10), texts(10, 2)},
			1 << 20,
			"1: row of 1050624 bytes is longer than the limit of 349525 bytes set by memory", "", false,
		},
		{"a long row", []row{texts(1<<10, 9<<10)}, 1 << 30, "", "", true},
	} {
		files := list(t, map[string]string{"a.parquet": parquetOf(t, c.rows...)})
		held := false
		limits := corpus.Limits{Memory: c.memory, Hold: func() error { held = true; return nil }}
		records, rejects, fault := 0, "", ""
		for batch, err := range Batches(files[0], 0, limits, wanted(corpus.Fields{Texts: []string{"text"}})) {
			records += len(batch.Frames)
			for _, r := range batch.Rejects {
				rejects += fmt.Sprintf("%d: %s", r.Position, r.Message)
			}
			if err != nil {
				fault = err.Error()
			}
		}
		if held != c.isLongHeld || rejects != c.rejects || !strings.Contains(fault, c.fault) ||
			(fault == "") != (c.fault == "") {
			t.Errorf("%s: a long line is held: %v, rejects %q, error %q", c.name, held, rejects, fault)
		}
		if want := len(c.rows); c.rejects == "" && c.fault == "" && records != want ||
			c.rejects != "" && records != want-1 {
			t.Errorf("%s: %d records", c.name, records)
		}
	}
}
