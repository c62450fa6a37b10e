package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"mirrorbeam.dev/internal/result/finished"

	"github.com/klauspost/compress/gzip"
)

// TestLongLinesTakeNoMemory: small files, each with one line that is too long for a document, do not take the
// memory of the line.
func TestLongLinesTakeNoMemory(t *testing.T) {
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	for range 400 {
		w.Write(bytes.Repeat([]byte("x"), 1<<20))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	s := newScene(t)
	s.write("folder/in.jsonl", between(""))
	for i := range 4 {
		s.write(fmt.Sprintf("folder/%d.jsonl.gz", i), packed.Bytes())
	}
	j := s.runjob("--input", "folder", "--memory", "200MiB", "--lanes", "2")
	j.succeeds(6)
	// The system counts for a child what this process held before.
	var summary finished.Summary
	if b, err := os.ReadFile(filepath.Join(s.dir, "out", "summary.json")); err != nil ||
		json.Unmarshal(b, &summary) != nil {
		t.Fatal("no summary", err)
	}
	if bytes := summary.PeakMemoryBytes; bytes == 0 || bytes > 300<<20 {
		t.Errorf("%d bytes were resident, more than 300 MiB", bytes)
	}
}

// TestPathsAreBytes: paths need not be UTF-8.
func TestPathsAreBytes(t *testing.T) {
	s := newScene(t)
	if err := os.WriteFile(filepath.Join(s.dir, "caf\xe9.jsonl"), between(""), 0o666); err != nil {
		t.Skip("this file system has no such names:", err)
	}
	s.runjob("--input", "caf\xe9.jsonl", "--emit", "unique").succeeds(2)
}
