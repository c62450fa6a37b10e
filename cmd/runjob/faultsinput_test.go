package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// inputFaults are faults of files that the user names, which follow the others in the documentation.
var inputFaults = []struct {
	name    string
	befalls func(*scene) observed
}{
	{"an archive made by `tar czf`, by the name of `in.jsonl`", func(s *scene) observed {
		s.write("in.jsonl", packed(s.t, between("")))
		return s.runjob().succeeds(2)
	}},
	{"a zip archive in an input folder, by the name of lines of JSON", func(s *scene) observed {
		s.write("in/a.jsonl", between(""))
		s.write("in/b.jsonl", append([]byte("PK\x03\x04\n"), between("")...))
		return s.runjob("--input", "in").succeeds(3)
	}},
	{"a folder with an unreadable file, a dead link, a Parquet file without its footer, a pointer of Git LFS, and a file of lz4's legacy format", func(s *scene) observed {
		s.write("in/a.jsonl", between(""))
		s.write("in/b.jsonl", between(""))
		s.write("in/c.parquet", []byte("PAR1 and no more"))
		s.write("in/d.csv", []byte("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"))
		s.write("in/e.jsonl.lz4", []byte("\x02\x21\x4c\x18\x00\x00\x00\x00"))
		if err := errors.Join(os.Chmod(filepath.Join(s.dir, "in/b.jsonl"), 0),
			os.Symlink("nowhere", filepath.Join(s.dir, "in/f.jsonl"))); err != nil {
			s.t.Fatal(err)
		}
		return s.unprivileged("--input", "in").succeeds(7)
	}},
	{"the same folder without a good file", func(s *scene) observed {
		s.write("in/c.parquet", []byte("PAR1 and no more"))
		s.write("in/e.jsonl.lz4", []byte("\x02\x21\x4c\x18\x00\x00\x00\x00"))
		return s.runjob("--input", "in").fails(exitInput)
	}},
	{"a gzip file that is damaged, and `--fail-on damaged-files`", func(s *scene) observed {
		s.write("in/a.jsonl", between(""))
		s.write("in/b.jsonl.gz", []byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff and no more"))
		return s.runjob("--input", "in", "--fail-on", "damaged-files").publishes(exitCondition, 3)
	}},
	{"a folder that is a table of Delta Lake", func(s *scene) observed {
		s.write("in/a.jsonl", between(""))
		s.write("in/_delta_log/00000000000000000000.json", []byte("{}\n"))
		return s.runjob("--input", "in").fails(exitInput)
	}},
	{"CSV whose lines end with a carriage return alone", func(s *scene) observed {
		s.write("in.csv", []byte("id,text\r1,one of two good records\r2,the other is unlike it\r"))
		return s.runjob("--input", "in.csv").succeeds(2)
	}},
	{"a record whose text is null", func(s *scene) observed {
		s.write("in.jsonl", between(`{"id":"null","text":null}`+"\n"))
		return s.runjob().succeeds(3)
	}},
	{"a bucket that cannot be reached, and `--storage-timeout 1s`", func(s *scene) observed {
		j := s.runjob("--input", "gs://corpora/in", "--storage-timeout", "1s")
		j.Env = append(j.Environ(), "STORAGE_EMULATOR_HOST=127.0.0.1:1")
		return j.fails(exitUnavailable)
	}},
	{"`--config` is a named pipe", func(s *scene) observed {
		s.write("in.jsonl", between(""))
		s.pipe("job.yaml")
		return s.runjob("--config", "job.yaml").fails(exitUsage)
	}},
	{"`--config` is a device", func(s *scene) observed {
		s.write("in.jsonl", between(""))
		return s.runjob("--config", "/dev/zero").fails(exitUsage)
	}},
	{"`--config` of two documents", func(s *scene) observed {
		s.write("in.jsonl", between(""))
		s.write("job.yaml", []byte("threshold: 0.9\n---\nthreshold: 0.5\n"))
		return s.runjob("--config", "job.yaml").fails(exitUsage)
	}},
	{"`--stopwords` is a named pipe", func(s *scene) observed {
		s.write("in.jsonl", between(""))
		s.pipe("words")
		return s.runjob("--stopwords", "words").fails(exitUsage)
	}},
	{"`--metrics-file` in a folder that everybody may write to", func(s *scene) observed {
		s.write("in.jsonl", between(""))
		folder := filepath.Join(s.dir, "open")
		if err := os.Mkdir(folder, 0o700); err != nil {
			s.t.Fatal(err)
		}
		if err := os.Chmod(folder, 0o777); err != nil {
			s.t.Fatal(err)
		}
		return s.runjob("--metrics-file", "open/metrics").fails(exitStorage)
	}},
}

// packed returns a tar archive in gzip that holds one file.
func packed(t *testing.T, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	err := w.WriteHeader(&tar.Header{Name: "a.jsonl", Mode: 0o644, Size: int64(len(content))})
	if err == nil {
		_, err = w.Write(content)
	}
	for _, close := range []func() error{w.Close, z.Close} {
		if err == nil {
			err = close()
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// pipe makes a named pipe to which nobody writes.
func (s *scene) pipe(name string) {
	s.t.Helper()
	if err := syscall.Mkfifo(filepath.Join(s.dir, name), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// TestTold: files of a folder that are not read, and ids that several documents have, are told of in a line each.
func TestTold(t *testing.T) {
	for _, test := range []struct {
		id       string
		files    []string
		line     string
		summary  string
		contains bool
	}{
		{
			"other",
			[]string{"in/a.pdf", "in/b.PDF", "in/x/notes.txt"},
			"\nnote: 3 files of the searched folders passed over: 2 .pdf (a.pdf), 1 .txt (x/notes.txt); a pattern such as 'DIR/*' names files to read; 'pdftotext FILE FILE.txt' converts .pdf\n", `".pdf": 2`, true,
		},
		{
			"same", nil, "\nwarning: one id is used for 2 documents, such as a.jsonl:0 and a.jsonl:49: ",
			`"repeated_ids": 1`, true,
		},
		{"other", nil, "one id is used", "repeated_ids", false},
	} {
		t.Run(test.id, func(t *testing.T) {
			s := newScene(t)
			s.write("in/a.jsonl",
				[]byte(document("same", "one of two good documents")+document(test.id, "the other is unlike it")))
			for _, name := range test.files {
				s.write(name, []byte("none"))
			}
			code, message := s.runjob("--input", "in", "--emit", "removed").ends()
			if summary := s.outputs()["summary.json"]; code != exitDone ||
				strings.Contains(message, test.line) != test.contains ||
				strings.Contains(summary, test.summary) != test.contains {
				t.Errorf("%s: exit code %d, %s\n%s", test.line, code, message, summary)
			}
		})
	}
}
