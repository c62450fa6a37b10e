package pipeline

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"

	"mirrorbeam.dev/internal/input/corpus"
)

// zstdEncoder returns the encoder of all files: a new one for each small file takes most of the time of a test.
var zstdEncoder = sync.OnceValues(func() (*zstd.Encoder, error) { return zstd.NewWriter(nil) })

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
		encoder, err := zstdEncoder()
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
	return fmt.Appendf(nil,
		"WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Record-ID: <%s>\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", d.ID, len(d.Text), d.Text)
}

// writers write articles in each format: they return files by name, and what is compressed by itself in each.
var writers = map[string]func(t *testing.T, all []article) map[string][][]byte{
	"jsonl": func(t *testing.T, all []article) map[string][][]byte {
		return oneFile("all.jsonl", asLines(t, all, func(d article) any { return d }))
	},
	"csv": func(t *testing.T, all []article) map[string][][]byte { return oneFile("all.csv", cellsOf(t, all, ',')) },
	"tsv": func(t *testing.T, all []article) map[string][][]byte {
		return oneFile("all.tsv", cellsOf(t, all, '\t'))
	},
	"parquet": func(t *testing.T, all []article) map[string][][]byte {
		var b bytes.Buffer
		if err := parquet.Write(&b, all, parquet.MaxRowsPerRowGroup(64)); err != nil {
			t.Fatal(err)
		}
		return oneFile("all.parquet", b.Bytes())
	},
	"warc": func(_ *testing.T, all []article) map[string][][]byte {
		var records [][]byte
		for _, d := range all {
			records = append(records, conversion(d))
		}
		return map[string][][]byte{"all.warc": records}
	},
	"text": func(_ *testing.T, all []article) map[string][][]byte {
		return eachAFile(all, ".txt", func(d article) string { return d.Text })
	},
	"html": func(_ *testing.T, all []article) map[string][][]byte {
		return eachAFile(all, ".html", func(d article) string { return pageHead + html.EscapeString(d.Text) + pageEnd })
	},
	"lines": func(_ *testing.T, all []article) map[string][][]byte {
		var b bytes.Buffer
		for _, d := range all {
			b.WriteString(lineOf(d.Text) + "\n")
		}
		return oneFile("all.lines", b.Bytes())
	},
	"json": func(t *testing.T, all []article) map[string][][]byte {
		content, err := json.MarshalIndent(all, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		return oneFile("all.json", content)
	},
	"arrow": func(t *testing.T, all []article) map[string][][]byte { return oneFile("all.arrow", arrowOf(t, all)) },
	"bulk": func(t *testing.T, all []article) map[string][][]byte {
		return oneFile("all.bulk", asLines(t, all,
			func(d article) any { return map[string]any{"index": map[string]any{"_id": d.ID}} },
			func(d article) any { return map[string]any{"text": d.Text, "note": d.Note} }))
	},
}

// What surrounds the text of an article in a web page.
const (
	pageHead = "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"></head><body><p>"
	pageEnd  = "</p></body></html>\n"
)

// oneFile returns a file that is compressed as a whole.
func oneFile(name string, content []byte) map[string][][]byte {
	return map[string][][]byte{name: {content}}
}

// eachAFile returns a file for each article, named by its id.
func eachAFile(all []article, ending string, content func(article) string) map[string][][]byte {
	files := map[string][][]byte{}
	for _, d := range all {
		files[d.ID+ending] = [][]byte{[]byte(content(d))}
	}
	return files
}

// asLines returns lines of JSON: for each article those that values return.
func asLines(t *testing.T, all []article, values ...func(article) any) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, d := range all {
		for _, value := range values {
			line, err := json.Marshal(value(d))
			if err != nil {
				t.Fatal(err)
			}
			b.Write(append(line, '\n'))
		}
	}
	return b.Bytes()
}

// arrowOf returns a file of Arrow with two batches of articles.
func arrowOf(t *testing.T, all []article) []byte {
	t.Helper()
	var fields []arrow.Field
	for _, name := range []string{"id", "text", "note"} {
		fields = append(fields, arrow.Field{Name: name, Type: arrow.BinaryTypes.String})
	}
	schema := arrow.NewSchema(fields, nil)
	var b bytes.Buffer
	w, err := ipc.NewFileWriter(&b, ipc.WithSchema(schema), ipc.WithZstd())
	if err != nil {
		t.Fatal(err)
	}
	for _, half := range [][]article{all[:len(all)/2], all[len(all)/2:]} {
		rows, err := json.Marshal(half)
		if err != nil {
			t.Fatal(err)
		}
		batch, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, bytes.NewReader(rows))
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write(batch); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// asFiles returns articles as files of a format and compression, by name.
func asFiles(t *testing.T, all []article, format, ending string) map[string][]byte {
	t.Helper()
	write, is := writers[format]
	if !is {
		t.Fatalf("the format %s has no writer in this test: add one to writers", format)
	}
	files := map[string][]byte{}
	for name, members := range write(t, all) {
		for _, member := range members {
			files[name+ending] = append(files[name+ending], press(t, ending, member)...)
		}
	}
	return files
}

// registeredFormats returns all formats but those that tests register, which have numbers from 200 on.
func registeredFormats() (all []*corpus.Definition) {
	for _, name := range corpus.FormatNames() {
		if format, known := corpus.ParseFormat(name); known && format < 200 { // auto is none
			all = append(all, format.Definition())
		}
	}
	return all
}

// lineOf returns a text on one line, with the same words.
func lineOf(text string) string { return strings.NewReplacer("\n", " ", "\r", " ").Replace(text) }

// heldBy returns what a format holds of an article.
func heldBy(format *corpus.Definition, d article) article {
	if !format.HasFields {
		d.Note = ""
	}
	if format.Format == corpus.PlainLines {
		d.Text = lineOf(d.Text)
	}
	return d
}

// namesOf returns the articles' ids by the names that a job gives them, where records have no ids: the name of the
// file, or their place in it.
func namesOf(format *corpus.Definition, all []article) map[string]string {
	names, position := map[string]string{}, 0
	for _, d := range all {
		switch {
		case format.IsWhole:
			for _, suffix := range []string{".txt", ".html"} {
				names[d.ID+suffix] = d.ID
			}
		case format.Format == corpus.PlainLines:
			names[fmt.Sprintf("all.lines:%d", position)] = d.ID
			position += len(d.Text) + 1
		}
	}
	return names
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
		case "arrow":
			all = append(all, recordsOfArrow(t, name, content)...)
		case "json":
			var rows []annotated
			if err := json.Unmarshal(content, &rows); err != nil {
				t.Fatal(name, err)
			}
			all = append(all, rows...)
		case "bulk":
			all = append(all, recordsOfBulk(t, name, content)...)
		case "lines":
			for line := range bytes.Lines(content) {
				all = append(all, annotated{Text: strings.TrimSuffix(string(line), "\n")})
			}
		case "warc":
			for _, record := range strings.Split(string(content), "WARC/1.0\r\n")[1:] {
				head, text, _ := strings.Cut(record, "\r\n\r\n")
				_, id, _ := strings.Cut(head, "<")
				id, _, _ = strings.Cut(id, ">")
				all = append(all, annotated{ID: id, Text: strings.TrimSuffix(text, "\r\n\r\n")})
			}
		case "tar":
			all = append(all, recordsOfTar(t, content)...)
		default:
			t.Fatalf("what is %s?", name)
		}
	}
	return all
}

// recordsOfTar returns the texts and the web pages in an archive.
func recordsOfTar(t *testing.T, content []byte) (all []annotated) {
	t.Helper()
	r := tar.NewReader(bytes.NewReader(content))
	for header, err := r.Next(); err != io.EOF; header, err = r.Next() {
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		id, isPage := strings.CutSuffix(header.Name, ".html")
		text := string(content)
		if isPage {
			text = html.UnescapeString(strings.TrimSuffix(strings.TrimPrefix(text, pageHead), pageEnd))
		}
		all = append(all, annotated{ID: strings.TrimSuffix(id, ".txt"), Text: text})
	}
	return all
}

// recordsOfBulk returns the documents in bulk requests, with the ids of their actions.
func recordsOfBulk(t *testing.T, name string, content []byte) (all []annotated) {
	t.Helper()
	lines := slices.Collect(bytes.Lines(content))
	for pair := range slices.Chunk(lines, 2) {
		action := decodeRows[struct {
			Index struct {
				ID string `json:"_id"`
			}
		}](t, name, pair[0])
		document := decodeRows[annotated](t, name, pair[len(pair)-1])[0]
		document.ID = action[0].Index.ID
		all = append(all, document)
	}
	return all
}

// recordsOfArrow returns the records in a file of Arrow.
func recordsOfArrow(t *testing.T, name string, content []byte) (all []annotated) {
	t.Helper()
	r, err := ipc.NewFileReader(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	for batch, err := r.Read(); !errors.Is(err, io.EOF); batch, err = r.Read() {
		if err != nil {
			t.Fatal(err)
		}
		var rows bytes.Buffer
		if err := array.RecordToJSON(batch, &rows); err != nil {
			t.Fatal(err)
		}
		all = append(all, decodeRows[annotated](t, name, rows.Bytes())...)
	}
	return all
}

// nameInOrder gives records without ids the ids of the documents that they must be.
func nameInOrder(t *testing.T, records []annotated, ids []string) []annotated {
	t.Helper()
	if !slices.ContainsFunc(records, func(a annotated) bool { return a.ID == "" }) {
		return records
	}
	if len(records) != len(ids) {
		t.Fatalf("%d records without ids, want %d", len(records), len(ids))
	}
	for i := range records {
		records[i].ID = ids[i]
	}
	return records
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
	if err != nil || !slices.Equal(rows[0][:3], []string{"note", "text", "id"}) ||
		len(rows[0]) > 3 && !slices.Equal(rows[0][3:], added) {
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
