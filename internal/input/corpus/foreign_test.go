package corpus

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tarred returns an archive of tar with two files of two lines each.
func tarred(t *testing.T, format tar.Format) []byte {
	t.Helper()
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for _, name := range []string{"a.jsonl", "b.jsonl"} {
		content := strings.Repeat(`{"text":"words of `+name+`"}`+"\n", 2)
		if err := w.WriteHeader(
			&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content)), Format: format}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return archive.Bytes()
}

// zipped returns a zip archive with a file of two lines.
func zipped(t *testing.T) []byte {
	t.Helper()
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	file, err := w.CreateHeader(&zip.FileHeader{Name: "a.jsonl", Method: zip.Store})
	if err == nil {
		_, err = io.WriteString(file, strings.Repeat(`{"text":"words"}`+"\n", 2))
	}
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return archive.Bytes()
}

// TestForeign: no record of a file in a format that is not read is believed, whatever the file is called, and if it is
// compressed, too. The error names the file and says what to do. An archive of tar is read, compressed or not, and one
// of zip.
func TestForeign(t *testing.T) {
	records := "\n" + strings.Repeat(`{"text":"words"}`+"\n", 100)
	oldTar := tarred(t, tar.FormatUSTAR)
	sum := 0
	for i := range 512 { // the tar of Unix V7 has no magic
		if i >= 257 && i < 265 {
			oldTar[i] = 0
		}
		if c := oldTar[i]; i >= 148 && i < 156 {
			sum += ' '
		} else {
			sum += int(c)
		}
	}
	copy(oldTar[148:],
		[]byte{
			byte('0' + sum>>15&7), byte('0' + sum>>12&7), byte('0' + sum>>9&7), byte('0' + sum>>6&7),
			byte('0' + sum>>3&7), byte('0' + sum&7), 0, ' ',
		})
	archives := map[string][]byte{
		"tar": tarred(t, tar.FormatPAX), "tar of GNU": tarred(t, tar.FormatGNU), "tar of V7": oldTar, "zip": zipped(t),
	}
	beginnings := []string{"ORC\n\x02\x00", "FEA1\x00\x00\x00\x00"}
	for _, f := range foreigners {
		beginnings = append(beginnings, strings.ReplaceAll(f.magic, "?", "1"))
	}
	for _, beginning := range beginnings {
		head := []byte(beginning + records)
		_, err := sniff(head)
		if inner := checkDecoded(Gzip, head); err == nil || inner == nil || !strings.Contains(err.Error(), ": ") {
			t.Errorf("%q: %v, in gzip %v", beginning, err, inner)
		}
	}
	for what, content := range archives {
		isZip := what == "zip"
		for ending, stored := range map[string][]byte{
			"":     content,
			".gz":  gzipped(t, content),
			".zst": zstded(t, content),
		} {
			for _, name := range []string{"x.jsonl" + ending, "x" + ending, "x.csv" + ending} {
				path := filepath.Join(t.TempDir(), name)
				if err := os.WriteFile(path, stored, 0o600); err != nil {
					t.Fatal(err)
				}
				err := readThrough(t, path)
				if !isZip || ending == "" {
					if err != nil {
						t.Errorf("%s as %s: %v", what, name, err)
					}
					continue
				}
				if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), ": unpack it") {
					t.Errorf("%s as %s: %v", what, name, err)
				}
			}
			if decoded, err := Decoded(bytes.NewReader(stored)); err == nil {
				t.Errorf("%s%s as a stream is read: %v", what, ending, decoded.Close())
			}
		}
	}
	twice := gzipped(t, gzipped(t, []byte(records)))
	path := filepath.Join(t.TempDir(), "x.jsonl.gz")
	if err := os.WriteFile(path, twice, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := readThrough(t, path); err == nil || !strings.Contains(err.Error(), "compressed twice") {
		t.Errorf("compressed twice: %v", err)
	}
	for _, text := range []string{
		"ORCID,text\n", "BZ2 is no format\n", "BZh is a prefix of bzip2\n", "BZh91 stands for a road\n",
		"FEA1 and FEA2 are programs\n",
		"LZIP is a program\n", "%PDF- begins a PDF\n", "Rar! said the lion\n", "PK\n", "%PD", "{}", "7z",
		strings.Repeat("text ", 200),
	} {
		if err := CheckText([]byte(text)); err != nil {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

// readThrough lists a file and reads it to its end.
func readThrough(t *testing.T, path string) error {
	t.Helper()
	listing, err := List(t.Context(), []string{path}, Options{})
	if err != nil {
		return err
	}
	reader, err := Open(listing.Files[0], listing.Files[0].Whole(0), Limits{Line: 1 << 20})
	if err != nil {
		return err
	}
	defer reader.Close()
	for {
		if _, err := reader.Next(nil); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}
