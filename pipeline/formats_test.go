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

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/ground/storage"
	"mirrorbeam/internal/ground/storage/storagetest"
	"mirrorbeam/internal/read/corpus"
	"mirrorbeam/job"
)

// article is a document that any format can hold.
type article struct {
	ID   string `json:"id" parquet:"id"`
	Text string `json:"text" parquet:"text"`
	Note string `json:"note" parquet:"note"`
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
func press(t *testing.T, ending string, content []byte) []byte {
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

// staying returns the texts in files of unique, by id, with the notes of formats that have them.
func staying(t *testing.T, files map[string][]byte) map[string]article {
	t.Helper()
	all := map[string]article{}
	for name, content := range files {
		if !strings.HasSuffix(name, ".tar") { // no input is an archive
			reader, err := corpus.Decoded(bytes.NewReader(content))
			if err != nil {
				t.Fatal(err)
			}
			if content, err = io.ReadAll(reader); err != nil {
				t.Fatal(err)
			}
		}
		switch _, ending, _ := strings.Cut(name, "."); strings.TrimSuffix(strings.TrimSuffix(ending, ".gz"), ".zst") {
		case "jsonl":
			for _, d := range decodeRows[article](t, name, content) {
				all[d.ID] = d
			}
		case "csv", "tsv":
			r := csv.NewReader(bytes.NewReader(content))
			if strings.Contains(name, ".tsv") {
				r.Comma = '\t'
			}
			rows, err := r.ReadAll()
			if err != nil || !slices.Equal(rows[0], []string{"note", "text", "id"}) {
				t.Fatal(rows, err)
			}
			for _, row := range rows[1:] {
				all[row[2]] = article{row[2], row[1], row[0]}
			}
		case "parquet":
			rows, err := parquet.Read[article](bytes.NewReader(content), int64(len(content)))
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range rows {
				all[d.ID] = d
			}
		case "warc":
			for _, record := range bytes.Split(content, []byte("WARC/1.0\r\n"))[1:] {
				_, id, _ := bytes.Cut(record, []byte("<"))
				id, _, _ = bytes.Cut(id, []byte(">"))
				_, text, _ := bytes.Cut(record, []byte("\r\n\r\n"))
				all[string(id)] = article{ID: string(id), Text: string(bytes.TrimSuffix(text, []byte("\r\n\r\n")))}
			}
		case "tar":
			r := tar.NewReader(bytes.NewReader(content))
			for {
				header, err := r.Next()
				if err == io.EOF {
					break
				}
				text, err := io.ReadAll(r)
				if err != nil {
					t.Fatal(err)
				}
				id := strings.TrimSuffix(header.Name, ".txt")
				all[id] = article{ID: id, Text: string(text)}
			}
		default:
			t.Fatalf("what is %s?", name)
		}
	}
	return all
}

// outputsOf returns the files of an output in a folder of any storage.
func outputsOf(t *testing.T, folder, name string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for file, content := range allFiles(t, folder) {
		if strings.HasPrefix(file, name+"-") {
			files[file] = []byte(content)
		}
	}
	return files
}

// clustered returns the rows of clusters without what depends on the format: refs, and the endings of names.
func clustered(t *testing.T, folder string) []string {
	t.Helper()
	var rows []string
	for name, content := range outputsOf(t, folder, output.Clusters) {
		for _, row := range decodeRows[map[string]any](t, name, content) {
			trim := func(field string) string { return strings.TrimSuffix(row[field].(string), ".txt") }
			rows = append(rows, fmt.Sprint(trim("cluster"), trim("id"), row["kept"], row["similarity"], row["size"], row["mean"]))
		}
	}
	slices.Sort(rows)
	return rows
}

// eachStore calls test for articles in each of some formats, in each compression, on the local disk or in another storage, so that
// any two of these meet; other tests read Parquet from a disk. The configuration names the input, and folders beside it.
func eachStore(t *testing.T, all []article, formats []string, test func(t *testing.T, format string, config job.Config)) {
	for i, format := range formats {
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
				input := storage.Join(folder, "in")
				if place == "disk" {
					if err := os.MkdirAll(input, 0o777); err != nil {
						t.Fatal(err)
					}
				}
				for name, content := range asFiles(t, all, format, ending) {
					if err := storage.WriteFile(storage.Join(input, name), content); err != nil {
						t.Fatal(err)
					}
				}
				config := job.Default()
				config.Input, config.Output, config.Temp = []string{input}, storage.Join(folder, "out"), storage.Join(folder, "temp")
				test(t, format, config)
			})
		}
	}
}

// TestFormats: the same documents give the same clusters, and the same deduplicated corpus in its own format, whatever the
// format, the compression and the storage. What is kept and what is removed is the input.
func TestFormats(t *testing.T) {
	t.Parallel()
	all := articles(t)
	want := map[string]article{}
	for _, d := range all {
		want[d.ID] = d
	}
	var clusters []string
	eachStore(t, all, []string{"jsonl", "csv", "tsv", "parquet", "warc", "text"}, func(t *testing.T, format string, config job.Config) {
		config.Emit = []string{output.Clusters, output.Unique, output.Removed}
		summary, err := Run(t.Context(), config)
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
		stays := staying(t, outputsOf(t, config.Output, output.Unique))
		for id, d := range stays {
			expected := want[id]
			if format == "warc" || format == "text" {
				expected.Note = ""
			}
			if d != expected {
				t.Errorf("document %s has changed: %.100q", id, d)
			}
		}
		for name, content := range outputsOf(t, config.Output, output.Removed) {
			for _, row := range decodeRows[removedRow](t, name, content) {
				id := strings.TrimSuffix(row.ID, ".txt")
				if _, both := stays[id]; both {
					t.Errorf("%s is kept and removed", id)
				}
				stays[id] = article{}
			}
		}
		if missing := len(want) - len(stays); missing != 0 || !slices.Equal(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(stays))) {
			t.Errorf("%d documents are neither kept nor removed", missing)
		}
	})
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
