package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// TestLongLinesTakeNoMemory: small files that hold one line each, too long to be a
// document, do not take the memory of the line.
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
	usage := j.ProcessState.SysUsage().(*syscall.Rusage)
	if kilobytes := usage.Maxrss; kilobytes > 300<<10 {
		t.Errorf("%d kB were resident, more than 300 MiB", kilobytes)
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
