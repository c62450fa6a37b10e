package formats

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"mirrorbeam.dev/internal/input/corpus"
)

// row is a document of a benchmark.
type row struct {
	ID   string `json:"id" parquet:"id"`
	Text string `json:"text" parquet:"text"`
}

// benchmarkRows are texts of made-up words, some 1 kB each.
func benchmarkRows() []row {
	random := rand.New(rand.NewPCG(1, 2))
	var words []string
	for range 5000 {
		word := make([]byte, 2+random.IntN(8))
		for i := range word {
			word[i] = byte('a' + random.IntN(26))
		}
		words = append(words, string(word))
	}
	rows := make([]row, 20_000)
	for i := range rows {
		var text strings.Builder
		for range 150 {
			text.WriteString(words[random.IntN(len(words))])
			text.WriteString(map[bool]string{true: ", ", false: " "}[random.IntN(9) == 0])
		}
		rows[i] = row{fmt.Sprint("document-", i), text.String()}
	}
	return rows
}

// BenchmarkRead reads the documents of one file of each format, to their ids and texts. MB/s are of the texts.
func BenchmarkRead(b *testing.B) {
	rows := benchmarkRows()
	texts := int64(0)
	var lines, archive, columns bytes.Buffer
	table := &bytes.Buffer{}
	w := csv.NewWriter(table)
	w.Write([]string{"id", "text"})
	for _, r := range rows {
		texts += int64(len(r.Text))
		line, err := json.Marshal(r)
		if err != nil {
			b.Fatal(err)
		}
		lines.Write(append(line, '\n'))
		w.Write([]string{r.ID, r.Text})
		fmt.Fprintf(&archive,
			"WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Record-ID: <%s>\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", r.ID, len(r.Text), r.Text)
	}
	w.Flush()
	if err := parquet.Write(&columns, rows, parquet.MaxRowsPerRowGroup(5000),
		parquet.Compression(&parquet.Zstd)); err != nil {
		b.Fatal(err)
	}
	folder := b.TempDir()
	array := append(append([]byte{'['},
		bytes.ReplaceAll(bytes.TrimSpace(lines.Bytes()), []byte("\n"), []byte(",\n"))...), ']')
	for name, content := range map[string][]byte{
		"a.jsonl":   lines.Bytes(),
		"a.json":    array,
		"a.csv":     table.Bytes(),
		"a.warc":    archive.Bytes(),
		"a.parquet": columns.Bytes(),
	} {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			b.Fatal(err)
		}
		listing, err := corpus.List(b.Context(), []string{path}, corpus.Options{})
		if err != nil {
			b.Fatal(err)
		}
		files, err := Prepare(b.Context(), listing.Files, wanted(idAndText))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(files[0].Format.String(), func(b *testing.B) {
			b.SetBytes(texts)
			for b.Loop() {
				readAll(b, files[0], len(rows))
			}
		})
	}
	b.Run("encoding/csv", func(b *testing.B) {
		b.SetBytes(texts)
		for b.Loop() {
			file, err := os.Open(filepath.Join(folder, "a.csv"))
			if err != nil {
				b.Fatal(err)
			}
			reader := csv.NewReader(file)
			reader.ReuseRecord = true
			n := 0
			for ; err == nil; n++ {
				_, err = reader.Read()
			}
			if err != io.EOF || n != len(rows)+2 {
				b.Fatal(n, err)
			}
			file.Close()
		}
	})
	b.Run("encoding/json, array", func(b *testing.B) {
		b.SetBytes(texts)
		for b.Loop() {
			decoder := json.NewDecoder(bytes.NewReader(array))
			if _, err := decoder.Token(); err != nil {
				b.Fatal(err)
			}
			for decoder.More() {
				var r row
				if err := decoder.Decode(&r); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("encoding/json", func(b *testing.B) {
		b.SetBytes(texts)
		for b.Loop() {
			for line := range bytes.Lines(lines.Bytes()) {
				var r row
				if err := json.Unmarshal(line, &r); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

// readAll reads all documents of a file, in one goroutine, with buffers that are used again.
func readAll(b *testing.B, file corpus.File, want int) {
	reader, decoder := NewReader(corpus.Limits{Line: 1 << 30}, wanted(idAndText)), NewDecoder(wanted(idAndText))
	defer reader.Close()
	if err := reader.Reset(file, file.Whole(0)); err != nil {
		b.Fatal(err)
	}
	n := 0
	for batch, err := reader.Next(nil); ; batch, err = reader.Next(batch.Data) {
		if err == io.EOF {
			break
		} else if err != nil {
			b.Fatal(err)
		}
		for position, record := range batch.Records() {
			if _, err := decoder.Decode(&file, &batch, position, record); err != nil {
				b.Fatal(err)
			}
			n++
		}
	}
	if n != want {
		b.Fatalf("%d documents, want %d", n, want)
	}
}
