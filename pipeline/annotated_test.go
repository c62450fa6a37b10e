package pipeline

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/read/corpus"
	"mirrorbeam/internal/settle/keep"
	"mirrorbeam/job"
)

// annotated is a record of annotated.
type annotated struct {
	ID          string  `json:"id" parquet:"id"`
	Text        string  `json:"text" parquet:"text"`
	Note        string  `json:"note" parquet:"note"`
	Cluster     *string `json:"cluster" parquet:"cluster,optional"`
	ClusterSize int64   `json:"cluster_size" parquet:"cluster_size"`
	Kept        bool    `json:"kept" parquet:"kept"`
	KeptID      *string `json:"kept_id" parquet:"kept_id,optional"`
}

// String shows what the job has added.
func (a annotated) String() string {
	name := func(s *string) string {
		if s == nil {
			return "none"
		}
		return strconv.Quote(*s)
	}
	return fmt.Sprintf("cluster %s of %d, kept %v for %s", name(a.Cluster), a.ClusterSize, a.Kept, name(a.KeptID))
}

// readAnnotated returns the records in files of annotated.
func readAnnotated(t *testing.T, files map[string][]byte) (all []annotated) {
	t.Helper()
	for name, content := range files {
		reader, err := corpus.Decoded(bytes.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		if content, err = io.ReadAll(reader); err != nil {
			t.Fatal(err)
		}
		switch {
		case strings.Contains(name, ".jsonl"):
			all = append(all, decodeRows[annotated](t, name, content)...)
		case strings.Contains(name, ".parquet"):
			rows, err := parquet.Read[annotated](bytes.NewReader(content), int64(len(content)))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, rows...)
		default:
			all = append(all, annotatedCells(t, content, strings.Contains(name, ".tsv"))...)
		}
	}
	return all
}

// annotatedCells returns the records in a file of CSV or TSV.
func annotatedCells(t *testing.T, content []byte, isTSV bool) (all []annotated) {
	t.Helper()
	r := csv.NewReader(bytes.NewReader(content))
	if isTSV {
		r.Comma = '\t'
	}
	rows, err := r.ReadAll()
	if err != nil || fmt.Sprint(rows[0]) != "[note text id cluster cluster_size kept kept_id]" {
		t.Fatal(rows, err)
	}
	for _, row := range rows[1:] {
		a := annotated{ID: row[2], Text: row[1], Note: row[0], Kept: row[5] == "true"}
		if a.ClusterSize, err = strconv.ParseInt(row[4], 10, 64); err != nil {
			t.Fatal(err)
		}
		if row[3] != "" {
			a.Cluster = &row[3]
		}
		if row[6] != "" {
			a.KeptID = &row[6]
		}
		all = append(all, a)
	}
	return all
}

// whatBecame returns what clusters and removed say of each document in a cluster, by its ref.
func whatBecame(t *testing.T, folder string) map[string]annotated {
	t.Helper()
	all := map[string]annotated{}
	for name, content := range outputsOf(t, folder, output.Clusters) {
		for _, row := range decodeRows[map[string]any](t, name, content) {
			cluster := row["cluster"].(string)
			all[row["ref"].(string)] = annotated{Cluster: &cluster, ClusterSize: int64(row["size"].(float64)), Kept: row["kept"].(bool)}
		}
	}
	for name, content := range outputsOf(t, folder, output.Removed) {
		for _, row := range decodeRows[map[string]any](t, name, content) {
			kept, ref := row["kept_id"].(string), row["ref"].(string)
			a := all[ref]
			a.KeptID = &kept
			all[ref] = a
		}
	}
	return all
}

// TestAnnotated: in every format that has fields each document has its record, which says what clusters and removed say.
func TestAnnotated(t *testing.T) {
	t.Parallel()
	all := articles(t)
	byID := map[string]article{}
	for _, d := range all {
		byID[d.ID] = d
	}
	eachStore(t, all, []string{"jsonl", "csv", "tsv", "parquet"}, func(t *testing.T, format string, config job.Config) {
		config.Emit = []string{output.Annotated, output.Clusters, output.Removed, output.Unique}
		if _, err := Run(t.Context(), config); err != nil {
			t.Fatal(err)
		}
		ids := map[string]string{}
		for name, content := range outputsOf(t, config.Output, output.Clusters) {
			for _, row := range decodeRows[map[string]string](t, name, onlyStrings(t, content)) {
				ids[row["id"]] = row["ref"]
			}
		}
		known := whatBecame(t, config.Output)
		got := readAnnotated(t, outputsOf(t, config.Output, output.Annotated))
		if len(got) != len(all) || len(known) < 20 {
			t.Fatalf("%d records of %d documents, of which %d are in clusters", len(got), len(all), len(known))
		}
		for i, a := range got {
			want, is := known[ids[a.ID]]
			if !is {
				want = annotated{ClusterSize: 1, Kept: true}
			}
			if a.ID != all[i].ID || (article{a.ID, a.Text, a.Note}) != byID[a.ID] || a.String() != want.String() {
				t.Errorf("record %d, %s: %v, want %v", i, a.ID, a, want)
			}
		}
		for id := range maps.Keys(staying(t, outputsOf(t, config.Output, output.Unique))) {
			if a := known[ids[id]]; a.KeptID != nil {
				t.Errorf("%s is in unique, and %v", id, a)
			}
		}
	})
}

// onlyStrings returns rows without the fields that are no strings.
func onlyStrings(t *testing.T, content []byte) []byte {
	t.Helper()
	var b []byte
	for _, row := range decodeRows[map[string]any](t, "rows", content) {
		maps.DeleteFunc(row, func(_ string, value any) bool { _, is := value.(string); return !is })
		line, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		b = append(append(b, line...), '\n')
	}
	return b
}

// TestAnnotatedKeepsBytes: lines of JSON stay as they are but for the fields at their end, whatever else is in the files,
// and documents of a reference have no record. So it is for every split of the clusters.
func TestAnnotatedKeepsBytes(t *testing.T) {
	files := cut(oddities(7), 3)
	input, reference := putCorpus(t, plain, files...), putCorpus(t, plain, cut(oddities(8), 3)...)
	for _, split := range []keep.Split{keep.Component, keep.Star} {
		for _, references := range [][]string{nil, {reference}} {
			config := testConfig(t, input)
			config.Threshold, config.Reference, config.Split = .6, references, split
			config.Emit = []string{output.Annotated, output.Clusters, output.Removed}
			summary := runJob(t, config)
			known, rows := whatBecame(t, config.Output), int64(0)
			for i, f := range files {
				got := readFile(t, filepath.Join(config.Output, output.ShardName(output.Annotated, i, len(files), output.JSONL)))
				lines, position := bytes.SplitAfter(got, []byte("\n")), 0
				for _, l := range f.lines {
					at := position
					position += len(l.raw) + 1
					if l.kind != documentLine {
						continue
					}
					line := string(lines[0])
					lines, rows = lines[1:], rows+1
					start := strings.LastIndex(line, `,"cluster":`)
					if start < 0 || line[:start]+line[strings.LastIndex(line, "}"):] != l.raw+"\n" {
						t.Fatalf("%q has become %q", l.raw, line)
					}
					var a annotated
					if err := json.Unmarshal([]byte("{"+line[start+1:]), &a); err != nil {
						t.Fatal(err)
					}
					want, is := known[refOf(input, references, f.name, at)]
					if !is {
						want = annotated{ClusterSize: 1, Kept: true}
					}
					if a.String() != want.String() {
						t.Errorf("%s:%d: %v, want %v", f.name, at, a, want)
					}
				}
			}
			if rows != summary.Counts.Documents || summary.Counts.Removed == 0 {
				t.Errorf("%d records, counts %+v", rows, summary.Counts)
			}
		}
	}
}

// refOf returns the ref of a document: with a reference of files of the same names it has the whole path.
func refOf(input string, references []string, name string, position int) string {
	if references != nil {
		name = filepath.Join(input, name)
	}
	return fmt.Sprintf("%s:%d", name, position)
}

// TestAnnotatedIsRefused: files that cannot be annotated are found before the job starts, or when they are met.
func TestAnnotatedIsRefused(t *testing.T) {
	all := articles(t)
	var columns bytes.Buffer
	if err := parquet.Write(&columns, []annotated{{ID: "x", Text: "y"}}); err != nil {
		t.Fatal(err)
	}
	many := strings.Repeat("{\"text\":\"some words and more\"}\n", 1200)
	for name, test := range map[string]struct{ content, want string }{
		"all.warc":  {string(asFiles(t, all, "warc", "")["all.warc"]), "all.warc: records of the format warc have no fields"},
		"all.txt":   {"some text", "records of the format text have no fields"},
		"a.jsonl":   {"{\"text\":\"x\"}\n{\"text\":\"y\",\"k\\u0065pt\":1}\n", "a.jsonl: there is a field kept already"},
		"b.jsonl":   {many + "{\"text\":\"y\",\"cluster_size\":{}}\n", fmt.Sprintf("b.jsonl:%d: the record has a field cluster_size already", len(many))},
		"c.csv":     {"id,text,cluster\n1,x,2\n", "c.csv: there is a field cluster already"},
		"c.parquet": {columns.String(), "c.parquet: the file has a column cluster already"},
		"d.jsonl":   {"{\"text\":\"x\",\"in\":{\"kept\":1},\"list\":[{\"kept\":2}]}\n", ""},
	} {
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, name), []byte(test.content), 0o666); err != nil {
			t.Fatal(err)
		}
		config := testConfig(t, folder)
		config.Emit = []string{output.Annotated}
		if name != "b.jsonl" {
			config.Temp = "/dev/null/none" // the job must not come so far
		}
		_, err := Run(t.Context(), config)
		if test.want == "" {
			if err == nil || errors.Is(err, ErrInput) {
				t.Errorf("%s: %v, want the fault of the temporary folder", name, err)
			}
			continue
		}
		if !errors.Is(err, ErrInput) || !strings.Contains(fmt.Sprint(err), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}
