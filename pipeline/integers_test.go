package pipeline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"mirrorbeam.dev/internal/schema/output"
)

// TestIntegerIDs: ids that are whole numbers stay numbers in rows, if all ids are and none calls two similar documents.
// Lines of JSON, tables of text and columns of Parquet say the same.
func TestIntegerIDs(t *testing.T) {
	type document struct {
		ID   int64  `parquet:"id"`
		Text string `parquet:"text"`
	}
	lines := func(ids ...string) string {
		var b strings.Builder
		for i, id := range ids {
			fmt.Fprintf(&b, `{"id":%s,"text":"the quick brown fox jumps over the lazy dog at number %d"}`+"\n", id, i/2)
		}
		return b.String()
	}
	var columns bytes.Buffer
	table := parquet.NewGenericWriter[document](&columns)
	for i, id := range []int64{-1, 2, 30, 4} {
		if _, err := table.Write([]document{{
			id,
			fmt.Sprintf("the quick brown fox jumps over the lazy dog at number %d", i/2),
		}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	csv := "id,text\n"
	for i, id := range []int64{-1, 2, 30, 4} {
		csv += fmt.Sprintf("%d,the quick brown fox jumps over the lazy dog at number %d\n", id, i/2)
	}
	for _, c := range []struct{ name, file, content, want string }{
		{"json", "in.jsonl", lines("-1", "2", "30", "4"), "-1 2 30 4"},
		{"csv", "in.csv", csv, "-1 2 30 4"},
		{"parquet", "in.parquet", columns.String(), "-1 2 30 4"},
		{"text", "in.jsonl", lines(`"1"`, `"2"`, `"3"`, `"4"`), `"1" "2" "3" "4"`},
		{"mixed", "in.jsonl", lines("1", "2", "3", `"4"`), `"1" "2" "3" "4"`},
		{"missing", "in.jsonl", lines("1", "2", "3", "null"), `"1" "2" "3" "in.jsonl:222"`},
		{"fraction", "in.jsonl", lines("1", "2", "3", "4.0"), `"1" "2" "3" "4.0"`},
		{"large", "in.jsonl", lines("1", "2", "3", "9223372036854775808"), `"1" "2" "3" "9223372036854775808"`},
		{"repeated", "in.jsonl", lines("1", "2", "3", "1"), `"1" "2" "3" "1"`},
		{
			"repeated alone", "in.jsonl",
			lines("1", "2", "3", "4") + `{"id":7,"text":"one text"}` + "\n" + `{"id":7,"text":"another one"}` + "\n",
			"1 2 3 4",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := testConfig(t, put(t, filepath.Join(t.TempDir(), c.file), []byte(c.content), plain))
			config.Emit = append(config.Emit, output.Annotated, output.Sketches, output.Passages)
			config.PassageWords = 5
			runJob(t, config)
			var ids []string
			for line := range bytes.Lines(readOutput(t, config.Output, output.Clusters)) {
				var row struct{ ID json.RawMessage }
				if err := json.Unmarshal(line, &row); err != nil {
					t.Fatal(err)
				}
				ids = append(ids, string(row.ID))
			}
			if got := strings.Join(ids, " "); got != c.want {
				t.Errorf("ids %s, want %s", got, c.want)
			}
			areIntegers := !strings.Contains(c.want, `"`)
			for name, field := range map[string]string{
				output.Removed:   "kept_id",
				output.Pairs:     "a",
				output.Annotated: "kept_id",
				output.Passages:  "id",
				output.Sketches:  "id",
			} {
				if name == output.Annotated && c.file != "in.jsonl" {
					continue
				}
				if content := string(
					readOutput(t, config.Output, name),
				); strings.Contains(content, `"`+field+`":"`) == areIntegers {
					t.Errorf("%s: %s", name, content)
				}
			}
			config.Output, config.OutputFormat = filepath.Join(t.TempDir(), "out"), output.Parquet
			runJob(t, config)
			checkKinds(t, config.Output, areIntegers)
		})
	}
}

// checkKinds checks the types of the columns that call documents.
func checkKinds(t *testing.T, folder string, areIntegers bool) {
	t.Helper()
	for _, name := range []string{
		output.Clusters, output.Pairs, output.Removed, output.Annotated, output.Unique,
		output.Passages,
	} {
		paths, err := filepath.Glob(filepath.Join(folder, name+"-*.parquet"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			content := readFile(t, path)
			file, err := parquet.OpenFile(bytes.NewReader(content), int64(len(content)))
			if err != nil {
				t.Fatal(err)
			}
			for _, column := range file.Root().Columns() {
				callsDocuments := slices.Contains([]string{"id", "cluster", "kept_id", "a", "b"}, column.Name())
				if callsDocuments && (column.Type().Kind() == parquet.Int64) != areIntegers {
					t.Errorf("%s: column %s is %v", path, column.Name(), column.Type())
				}
			}
		}
	}
}

// TestIntegersWithoutRows: the columns of a result without rows have the type of the ids.
func TestIntegersWithoutRows(t *testing.T) {
	config := testConfig(t,
		put(t, filepath.Join(t.TempDir(), "in.jsonl"), []byte(`{"id":1,"text":"one text"}`+"\n"), plain))
	config.OutputFormat = output.Parquet
	if runJob(t, config).Counts.Clusters > 0 {
		t.Fatal("there are clusters")
	}
	checkKinds(t, config.Output, true)
}
