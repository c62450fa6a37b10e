package pipeline

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/job"
)

// TestParquetResults: rows in Parquet, which a library reads, are those in JSON to the byte. For
// scripts/parquetcheck.py, which reads them with other libraries, both go to the folder that PARQUET_OUT names, if it
// is set.
func TestParquetResults(t *testing.T) {
	compare := map[string]func(t *testing.T, test, name string, lines, columns job.Config){
		output.Clusters: sameAsLines[output.Member],
		output.Pairs:    sameAsLines[output.Pair],
		output.Removed:  sameAsLines[output.Removal],
		output.Sketches: sameAsLines[output.Sketch],
		output.Rejects:  sameAsLines[output.Reject],
		output.Mirrors:  sameAsLines[output.Mirror],
		output.Sites:    sameAsLines[output.Site],
		output.Suspects: sameAsLines[output.Suspect],
	}
	for _, l := range laws {
		if !slices.Contains([]string{"exact", "reference/exact", "simhash/64 bits", "passages", "sites/exact"},
			l.name) {
			continue
		}
		t.Run(l.name, func(t *testing.T) {
			lines := lawScenes[l.scene]().config(t, l.change)
			columns := lines
			columns.OutputFormat, columns.Output = output.Parquet, filepath.Join(t.TempDir(), "out")
			want := runJob(t, lines)
			checkSame(t, "counts", runJob(t, columns).Counts, want.Counts)
			for _, name := range append(lines.Outputs(), output.Rejects) {
				if same := compare[name]; same != nil {
					same(t, strings.ReplaceAll(l.name, "/", " "), name, lines, columns)
				} else {
					sameText(t, name, string(outputFiles(t, columns.Output, name)),
						string(outputFiles(t, lines.Output, name)))
				}
			}
		})
	}
}

// sameAsLines compares the rows of an output in two formats.
func sameAsLines[T output.Row](t *testing.T, test, name string, lines, columns job.Config) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(columns.Output, name+"-*.parquet"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files of %s (%v)", name, err)
	}
	for _, path := range paths {
		content := readFile(t, path)
		rows, err := parquet.Read[T](bytes.NewReader(content), int64(len(content)))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		var got []byte
		for _, row := range rows {
			switch row := any(&row).(type) {
			case *output.Pair:
				if lines.Scoring() == methods.Hamming {
					row.Kind = output.HammingPair
				}
			case *output.Suspect: // a list in Parquet is never missing
				if len(row.Names) == 0 {
					row.Names = nil
				}
			}
			got = output.AppendRow(got, row)
		}
		shard := strings.TrimSuffix(filepath.Base(path), ".parquet")
		want := readFile(t, filepath.Join(lines.Output, shard+".jsonl"))
		sameText(t, path, string(got), string(want))
		// the script knows no rows of sites
		if folder := os.Getenv("PARQUET_OUT"); folder != "" && lines.Protected == "" {
			for ending, content := range map[string][]byte{".parquet": content, ".jsonl": want} {
				if err := os.WriteFile(
					filepath.Join(folder, "job-"+test+"-"+shard+ending), content, 0o666,
				); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// rowsOfParquet returns the number of rows that the footer of a file says.
func rowsOfParquet(t *testing.T, content string) int64 {
	t.Helper()
	file, err := parquet.OpenFile(strings.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	return file.NumRows()
}

// TestDamagedParquet: a page of a column that only copies read is damaged. The job ends well, names the file, and
// copies the rows before the damage and those of other row groups.
func TestDamagedParquet(t *testing.T) {
	t.Parallel()
	type row struct {
		ID    string   `parquet:"id"`
		Text  string   `parquet:"text"`
		Extra string   `parquet:"extra"`
		List  []string `parquet:"list,list"`
	}
	var rows []row
	for i := range 600 {
		rows = append(rows,
			row{
				fmt.Sprint("d", i), fmt.Sprintf("document %d has words %d %d of its own", i, i*7919, i*104729),
				fmt.Sprintf("extra %d", i),
				[]string{"a", fmt.Sprintf("list %d", i)},
			})
	}
	var content bytes.Buffer
	writer := parquet.NewGenericWriter[row](&content, parquet.MaxRowsPerRowGroup(300), parquet.PageBufferSize(1000))
	if _, err := writer.Write(rows); err != nil || writer.Close() != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		column, value string
		least, most   int64 // rows of a copy
	}{
		"whole":  {"extra", "", 600, 600},
		"first":  {"extra", "\x07\x00\x00\x00extra 2", 300, 300},
		"second": {"extra", "extra 500", 301, 500},
		"list":   {"list", "list 200", 301, 500},
		"text":   {"text", "document 200 has", 301, 500},
	} {
		t.Run(name, func(t *testing.T) {
			for _, of := range output.Copies {
				if of != output.Unique && name != "second" {
					continue
				}
				folder := t.TempDir()
				config := job.Default()
				config.Input = []string{filepath.Join(folder, "in.parquet")}
				config.Output = filepath.Join(folder, "out")
				config.Emit = []string{of, output.Removed}
				if of == output.Trimmed {
					config.PassageWords = 20
				}
				hurt := bytes.Clone(content.Bytes())
				if test.value != "" {
					hurt[bytes.Index(hurt, []byte(test.value))+len(test.value)-1] ^= 0x20
				}
				put(t, config.Input[0], hurt, plain)
				summary, err := Run(t.Context(), config)
				if err != nil {
					t.Errorf("%s, %s: %v", name, of, err)
					continue
				}
				n, isHurt := summary.Counts, int64(0)
				if test.value != "" {
					isHurt = 1
				}
				paths, _ := filepath.Glob(filepath.Join(config.Output, of+"-*"))
				copies := readFile(t, paths[0])
				file, err := parquet.OpenFile(bytes.NewReader(copies), int64(len(copies)))
				if err != nil {
					t.Fatal(name, of, err)
				}
				copied := file.NumRows()
				if copied < test.least || copied > test.most || n.FilesDamaged != isHurt ||
					copied+n.Uncopied[of] != n.Documents {
					t.Errorf("%s, %s: %d rows are copied of %+v", name, of, copied, n)
				}
				if test.column == "text" && n.Uncopied[of] != 0 {
					t.Errorf("%s: %d rows that were read are not copied", of, n.Uncopied[of])
				}
			}
		})
	}
}
