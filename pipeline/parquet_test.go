package pipeline

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/match/methods"
	"mirrorbeam/job"
)

// TestParquetResults: rows in Parquet, which a library reads, are those in JSON to the byte. For scripts/parquetcheck.py,
// which reads them with other libraries, both go to the folder that PARQUET_OUT names, if it is set.
func TestParquetResults(t *testing.T) {
	usual := putCorpus(t, plain, cut(synthetic(lawSeed), 3)...)
	odd := putCorpus(t, plain, cut(oddities(5), 3)...)
	reference := putCorpus(t, plain, cut(oddities(6), 3)...)
	for _, test := range []struct {
		name, input string
		change      func(*job.Config)
	}{
		{"usual", usual, func(c *job.Config) {
			c.Emit = []string{output.Clusters, output.Pairs, output.Removed, output.Sketches, output.Unique}
		}},
		{"odd", odd, func(c *job.Config) {
			c.Threshold, c.Emit = .5, []string{output.Clusters, output.Pairs, output.Removed, output.Sketches}
		}},
		{"reference", odd, func(c *job.Config) {
			c.Reference, c.Emit = []string{reference}, []string{output.Clusters, output.Pairs, output.Removed}
		}},
		{"hamming", usual, func(c *job.Config) {
			c.Keys, c.Score, c.Emit = methods.SimHash, methods.Hamming, []string{output.Clusters, output.Pairs}
		}},
		{"containment", usual, func(c *job.Config) {
			c.Keys, c.Similarity, c.Threshold, c.Emit = methods.Auto, methods.Containment, .2, []string{output.Pairs}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			lines, columns := testConfig(t, test.input), testConfig(t, test.input)
			for _, config := range []*job.Config{&lines, &columns} {
				test.change(config)
			}
			columns.OutputFormat = output.Parquet
			want := runJob(t, lines)
			if got := runJob(t, columns); got.Counts.Counts != want.Counts.Counts {
				t.Errorf("counts %+v, want %+v", got.Counts, want.Counts)
			}
			for _, name := range append(lines.Emit, output.Rejects) {
				switch {
				case name == output.Clusters:
					sameAsLines[output.Member](t, test.name, name, lines, columns)
				case name == output.Pairs:
					sameAsLines[output.Pair](t, test.name, name, lines, columns)
				case name == output.Removed:
					sameAsLines[output.Removal](t, test.name, name, lines, columns)
				case name == output.Sketches:
					sameAsLines[output.Sketch](t, test.name, name, lines, columns)
				case name == output.Rejects:
					sameAsLines[output.Reject](t, test.name, name, lines, columns)
				case name == output.Unique:
					sameText(t, name, string(outputFiles(t, columns.Output, name)), string(outputFiles(t, lines.Output, name)))
				}
			}
		})
	}
}

// sameAsLines compares the rows of an output in two formats.
func sameAsLines[T any](t *testing.T, test, name string, lines, columns job.Config) {
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
			if pair, is := any(&row).(*output.Pair); is && lines.Scoring() == methods.Hamming {
				pair.Kind = output.HammingPair
			}
			got = output.AppendRow(got, &row)
		}
		shard := strings.TrimSuffix(filepath.Base(path), ".parquet")
		want := readFile(t, filepath.Join(lines.Output, shard+".jsonl"))
		sameText(t, path, string(got), string(want))
		if folder := os.Getenv("PARQUET_OUT"); folder != "" {
			for ending, content := range map[string][]byte{".parquet": content, ".jsonl": want} {
				if err := os.WriteFile(filepath.Join(folder, "job-"+test+"-"+shard+ending), content, 0o666); err != nil {
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
