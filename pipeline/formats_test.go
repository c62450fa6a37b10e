package pipeline

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/ground/storage"
	"mirrorbeam/internal/ground/storage/storagetest"
	"mirrorbeam/internal/read/corpus"
	"mirrorbeam/internal/settle/keep"
	"mirrorbeam/job"
)

// article is a document that any format can hold.
type article struct {
	ID   string `json:"id" parquet:"id"`
	Text string `json:"text" parquet:"text"`
	Note string `json:"note" parquet:"note"`
}

// annotated is an article with what a job says of it. The names are nil where there is none.
type annotated struct {
	ID          string  `json:"id" parquet:"id"`
	Text        string  `json:"text" parquet:"text"`
	Note        string  `json:"note" parquet:"note"`
	Cluster     *string `json:"cluster" parquet:"cluster,optional"`
	ClusterSize int64   `json:"cluster_size" parquet:"cluster_size"`
	Kept        bool    `json:"kept" parquet:"kept"`
	KeptID      *string `json:"kept_id" parquet:"kept_id,optional"`
}

// article returns the document.
func (a annotated) article() article { return article{a.ID, a.Text, a.Note} }

// String shows what the job has added.
func (a annotated) String() string {
	added, _ := json.Marshal([]any{a.Cluster, a.ClusterSize, a.Kept, a.KeptID})
	return string(added)
}

// articles returns made-up documents, with ids of their own.
func articles(t *testing.T) []article {
	t.Helper()
	var all []article
	for _, l := range oddities(lawSeed) {
		if l.kind == documentLine && strings.Trim(l.text, " \t") != "" {
			all = append(all, article{fmt.Sprintf("d%05d", len(all)), l.text, fmt.Sprint("note ", len(all))})
		}
	}
	if len(all) < 200 {
		t.Fatalf("only %d documents", len(all))
	}
	return all
}

// press compresses content as an ending says.
func press(t testing.TB, ending string, content []byte) []byte {
	t.Helper()
	switch ending {
	case ".gz":
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if _, err := w.Write(content); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	case ".zst":
		encoder, err := zstd.NewWriter(nil)
		if err != nil {
			t.Fatal(err)
		}
		return encoder.EncodeAll(content, nil)
	}
	return content
}

// unpressed returns content as it was before it was compressed, if it was.
func unpressed(t testing.TB, content []byte) []byte {
	t.Helper()
	reader, err := corpus.Decoded(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	if content, err = io.ReadAll(reader); err != nil {
		t.Fatal(err)
	}
	return content
}

// conversion returns the record of an archive that holds an article.
func conversion(d article) []byte {
	return fmt.Appendf(nil, "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Record-ID: <%s>\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", d.ID, len(d.Text), d.Text)
}

// asFiles returns articles as files of a format and compression, by name.
func asFiles(t *testing.T, all []article, format, ending string) map[string][]byte {
	t.Helper()
	var b bytes.Buffer
	switch format {
	case "jsonl":
		for _, d := range all {
			line, err := json.Marshal(d)
			if err != nil {
				t.Fatal(err)
			}
			b.Write(append(line, '\n'))
		}
	case "csv", "tsv":
		w := csv.NewWriter(&b)
		if format == "tsv" {
			w.Comma = '\t'
		}
		rows := [][]string{{"note", "text", "id"}}
		for _, d := range all {
			rows = append(rows, []string{d.Note, d.Text, d.ID})
		}
		if err := w.WriteAll(rows); err != nil {
			t.Fatal(err)
		}
	case "parquet":
		if err := parquet.Write(&b, all, parquet.MaxRowsPerRowGroup(64)); err != nil {
			t.Fatal(err)
		}
	case "warc":
		for _, d := range all {
			b.Write(press(t, ending, conversion(d)))
		}
		return map[string][]byte{"all.warc" + ending: b.Bytes()}
	case "text":
		files := map[string][]byte{}
		for _, d := range all {
			files[d.ID+".txt"+ending] = press(t, ending, []byte(d.Text))
		}
		return files
	}
	return map[string][]byte{"all." + format + ending: press(t, ending, b.Bytes())}
}

// recordsIn returns the records in files of unique or annotated, by their formats.
func recordsIn(t *testing.T, files map[string][]byte) (all []annotated) {
	t.Helper()
	for name, content := range files {
		_, format, _ := strings.Cut(name, ".")
		if format != "tar" { // no input is an archive
			content = unpressed(t, content)
		}
		switch strings.TrimSuffix(strings.TrimSuffix(format, ".gz"), ".zst") {
		case "jsonl":
			all = append(all, decodeRows[annotated](t, name, content)...)
		case "csv", "tsv":
			all = append(all, recordsOfCells(t, content, strings.HasPrefix(format, "tsv"))...)
		case "parquet":
			rows, err := parquet.Read[annotated](bytes.NewReader(content), int64(len(content)))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, rows...)
		case "warc":
			for _, record := range strings.Split(string(content), "WARC/1.0\r\n")[1:] {
				head, text, _ := strings.Cut(record, "\r\n\r\n")
				_, id, _ := strings.Cut(head, "<")
				id, _, _ = strings.Cut(id, ">")
				all = append(all, annotated{ID: id, Text: strings.TrimSuffix(text, "\r\n\r\n")})
			}
		case "tar":
			r := tar.NewReader(bytes.NewReader(content))
			for header, err := r.Next(); err != io.EOF; header, err = r.Next() {
				if err != nil {
					t.Fatal(err)
				}
				text, err := io.ReadAll(r)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, annotated{ID: strings.TrimSuffix(header.Name, ".txt"), Text: string(text)})
			}
		default:
			t.Fatalf("what is %s?", name)
		}
	}
	return all
}

// recordsOfCells returns the records in a file of CSV or TSV. The columns of the input come first.
func recordsOfCells(t *testing.T, content []byte, isTSV bool) (all []annotated) {
	t.Helper()
	r := csv.NewReader(bytes.NewReader(content))
	if isTSV {
		r.Comma = '\t'
	}
	rows, err := r.ReadAll()
	added := []string{"cluster", "cluster_size", "kept", "kept_id"}
	if err != nil || !slices.Equal(rows[0][:3], []string{"note", "text", "id"}) || len(rows[0]) > 3 && !slices.Equal(rows[0][3:], added) {
		t.Fatal(rows[0], err)
	}
	for _, row := range rows[1:] {
		a := annotated{ID: row[2], Text: row[1], Note: row[0]}
		if len(row) > 3 {
			if _, err := fmt.Sscan(row[4]+" "+row[5], &a.ClusterSize, &a.Kept); err != nil {
				t.Fatal(err)
			}
			for to, cell := range map[**string]string{&a.Cluster: row[3], &a.KeptID: row[6]} {
				if cell != "" {
					*to = &cell
				}
			}
		}
		all = append(all, a)
	}
	return all
}

// outputsOf returns the files of some outputs in a folder of any storage.
func outputsOf(t *testing.T, folder string, names ...string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for file, content := range allFiles(t, folder) {
		if name, _, _ := strings.Cut(file, "-"); slices.Contains(names, name) {
			files[file] = []byte(content)
		}
	}
	return files
}

// storedRows returns the rows of an output in a folder of any storage.
func storedRows[Row any](t *testing.T, folder, name string) (rows []Row) {
	t.Helper()
	files := outputsOf(t, folder, name)
	for _, file := range slices.Sorted(maps.Keys(files)) {
		rows = append(rows, decodeRows[Row](t, file, files[file])...)
	}
	return rows
}

// clustered returns the rows of clusters without what depends on the format: refs, and the endings of names.
func clustered(t *testing.T, folder string) []string {
	t.Helper()
	var rows []string
	for _, row := range storedRows[clusterRow](t, folder, output.Clusters) {
		rows = append(rows, fmt.Sprint(strings.TrimSuffix(row.Cluster, ".txt"), strings.TrimSuffix(row.ID, ".txt"), row.Kept, row.Similarity, row.Size, row.Mean))
	}
	slices.Sort(rows)
	return rows
}

// whatBecame returns what clusters and removed say of the documents in clusters, by their refs and, where they are not
// ambiguous, their ids.
func whatBecame(t *testing.T, folder string) map[string]annotated {
	t.Helper()
	all, kept := map[string]annotated{}, map[string]*string{}
	for _, row := range storedRows[removedRow](t, folder, output.Removed) {
		kept[row.Ref] = &row.KeptID
	}
	for _, row := range storedRows[clusterRow](t, folder, output.Clusters) {
		all[row.Ref] = annotated{Cluster: &row.Cluster, ClusterSize: row.Size, Kept: row.Kept, KeptID: kept[row.Ref]}
		all[row.ID] = all[row.Ref]
	}
	return all
}

// eachStore calls test for articles in each format, in each compression, on the local disk or in another storage, so that any two
// of these meet; other tests read Parquet from a disk. The configuration names the input, and folders beside it.
func eachStore(t *testing.T, all []article, test func(t *testing.T, format string, config job.Config)) {
	for i, format := range []string{"jsonl", "csv", "tsv", "parquet", "warc", "text"} {
		for j, ending := range []string{"", ".gz", ".zst"} {
			if format == "parquet" && ending != "" {
				continue // it is compressed inside
			}
			place := []string{"disk", "bucket"}[(i+j)%2]
			t.Run(format+ending+"/"+place, func(t *testing.T) {
				folder := t.TempDir()
				if place == "bucket" {
					_, folder = storagetest.NewMemory(t)
				}
				config := job.Default()
				config.Input, config.Output = []string{storage.Join(folder, "in")}, storage.Join(folder, "out")
				config.Temp, config.State = storage.Join(folder, "temp"), storage.Join(folder, "state")
				if format == "tsv" {
					config.Quote = `"`
				}
				old := time.Now().Add(-time.Hour)
				for name, content := range asFiles(t, all, format, ending) {
					path := storage.Join(config.Input[0], name)
					if place == "bucket" {
						if err := storage.WriteFile(path, content); err != nil {
							t.Fatal(err)
						}
					} else if err := os.Chtimes(put(t, path, content, plain), old, old); err != nil {
						t.Fatal(err)
					}
				}
				test(t, format, config)
			})
		}
	}
}

// TestFormats: the same documents give the same clusters, and the same deduplicated and annotated corpus in its own format, whatever
// the format, the compression and the storage. What is kept and what is removed is the input, and each record says what
// clusters and removed say. A run with a state that knows the files writes the same without reading them.
func TestFormats(t *testing.T) {
	t.Parallel()
	all := articles(t)
	byID := map[string]article{}
	for _, d := range all {
		byID[d.ID] = d
	}
	var clusters []string
	eachStore(t, all, func(t *testing.T, format string, config job.Config) {
		hasFields := format != "warc" && format != "text"
		config.Emit = []string{output.Clusters, output.Pairs, output.Unique, output.Removed, output.Sketches}
		if hasFields {
			config.Emit = append(config.Emit, output.Annotated)
		}
		whole := config
		whole.State = ""
		summary, err := Run(t.Context(), whole)
		if err != nil {
			t.Fatal(err)
		}
		if summary.Counts.Documents != int64(len(all)) || summary.Counts.Rejected != 0 {
			t.Fatalf("counts %+v", summary.Counts)
		}
		got := clustered(t, config.Output)
		if clusters == nil {
			clusters = got
		}
		if !slices.Equal(got, clusters) || len(got) < 20 {
			t.Errorf("%d rows of clusters, want %d: %.300v", len(got), len(clusters), got)
		}
		known, stays := whatBecame(t, config.Output), map[string]bool{}
		for _, d := range recordsIn(t, outputsOf(t, config.Output, output.Unique)) {
			expected := byID[d.ID]
			if !hasFields {
				expected.Note = ""
			}
			if stays[d.ID] = true; d.article() != expected || known[d.ID].KeptID != nil {
				t.Errorf("document %s has changed, or is no kept one: %.100q", d.ID, d)
			}
		}
		for _, row := range storedRows[removedRow](t, config.Output, output.Removed) {
			id := strings.TrimSuffix(row.ID, ".txt")
			if stays[id] {
				t.Errorf("%s is kept and removed", id)
			}
			stays[id] = true
		}
		if !slices.Equal(slices.Sorted(maps.Keys(byID)), slices.Sorted(maps.Keys(stays))) {
			t.Errorf("%d documents of %d are kept or removed", len(stays), len(byID))
		}
		if hasFields {
			for i, a := range recordsIn(t, outputsOf(t, config.Output, output.Annotated)) {
				want, is := known[a.ID]
				if !is {
					want = annotated{ClusterSize: 1, Kept: true}
				}
				if a.article() != all[i] || a.String() != want.String() {
					t.Errorf("record %d, %s: %v, want %v", i, a.ID, a, want)
				}
			}
		}
		checkRecalled(t, format, config)
	})
}

// checkRecalled runs a job with a state: over new files, when nothing has changed, and when the results are wanted anew. Each time it writes
// what is there, and it reads no file again.
func checkRecalled(t *testing.T, format string, config job.Config) {
	t.Helper()
	names := append(config.Emit, output.Rejects)
	want := outputsOf(t, config.Output, names...)
	config.Overwrite = true
	for night := range 3 {
		config.Republish = night == 2
		summary, err := Run(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		if summary.State.IsKept != (night == 1) {
			t.Errorf("night %d: kept %v", night, summary.State.IsKept)
		}
		if night > 0 && summary.State.Files.New+summary.State.Files.Changed > 0 {
			t.Errorf("files are read again: %+v", summary.State.Files)
		}
		got := outputsOf(t, config.Output, names...)
		for name, content := range want {
			if format == "text" && (strings.HasPrefix(name, output.Unique) || strings.HasPrefix(name, output.Trimmed)) {
				continue // an archive for each file
			}
			if !bytes.Equal(got[name], content) {
				t.Errorf("night %d: %s has %d bytes, want %d", night, name, len(got[name]), len(content))
			}
		}
	}
}

// TestFormatsInPieces: files that are damaged, cut short or of another format than their name says are rejects or faults,
// and what can be read is.
func TestFormatsInPieces(t *testing.T) {
	all := articles(t)
	for _, format := range []string{"jsonl", "csv", "parquet", "warc"} {
		t.Run(format, func(t *testing.T) {
			folder := t.TempDir()
			for name, content := range asFiles(t, all, format, "") {
				if err := os.WriteFile(filepath.Join(folder, name), content[:len(content)*3/5], 0o666); err != nil {
					t.Fatal(err)
				}
			}
			config := job.Default()
			config.Input, config.Output = []string{folder}, filepath.Join(t.TempDir(), "out")
			summary, err := Run(t.Context(), config)
			if format == "parquet" {
				if !errors.Is(err, ErrInput) || !strings.Contains(fmt.Sprint(err), "all.parquet") {
					t.Errorf("a file without its end: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if n := summary.Counts.Documents; n < int64(len(all))/3 || n >= int64(len(all)) || summary.Counts.Rejected == 0 {
				t.Errorf("counts %+v", summary.Counts)
			}
		})
	}
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
