package formats

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"mirrorbeam.dev/internal/input/corpus"
)

// named is a file of an archive.
type named struct{ name, content string }

// tarOf returns an archive of tar.
func tarOf(t testing.TB, files []named) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		if err := w.WriteHeader(&tar.Header{
			Name:     f.name,
			Mode:     0o600,
			Size:     int64(len(f.content)),
			Typeflag: tar.TypeReg,
		}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, f.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// zipOf returns a zip archive, whose files are deflated or not.
func zipOf(t testing.TB, files []named, method uint16) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		file, err := w.CreateHeader(&zip.FileHeader{Name: f.name, Method: method})
		if err == nil {
			_, err = io.WriteString(file, f.content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func zstded(content string) string {
	encoder, _ := zstd.NewWriter(nil)
	return string(encoder.EncodeAll([]byte(content), nil))
}

// documentsUnder lists an input and reads all its documents, with the names of their files.
func documentsUnder(t testing.TB, input string, options corpus.Options, target int64) (all []string, err error) {
	t.Helper()
	listing, err := corpus.List(t.Context(), []string{input}, options)
	if err != nil {
		return nil, err
	}
	files, err := Prepare(t.Context(), listing.Files, wanted(idAndText))
	if err != nil {
		return nil, err
	}
	reader, decoder := NewReader(corpus.Limits{Line: 1 << 20}, wanted(idAndText)), NewDecoder(wanted(idAndText))
	defer reader.Close()
	for _, split := range corpus.Splits(files, target) {
		for _, stretch := range split {
			file := &files[stretch.File]
			if err := reader.Reset(*file, stretch); err != nil {
				return nil, err
			}
			for {
				batch, err := reader.Next(nil)
				if err == io.EOF {
					break
				} else if err != nil {
					return nil, err
				}
				for position, record := range batch.Records() {
					name, at := file.Place(position)
					content, err := decoder.Decode(file, &batch, position, record)
					all = append(all, fmt.Sprintf("%s:%d %s %.40v", name, at, bytes.Join(content.Texts, nil), err))
				}
				for _, reject := range batch.Rejects {
					name, at := file.Place(reject.Position)
					all = append(all, fmt.Sprintf("%s:%d reject: %s", name, at, reject.Message))
				}
			}
		}
	}
	slices.Sort(all)
	return all, nil
}

// TestArchives: an archive is read as the folder would be that it was made of, whatever packs it: files of lines, of
// CSV, of pages and of texts, compressed once more or not, hidden ones left out. However small splits are, nothing is
// read twice.
func TestArchives(t *testing.T) {
	lines := strings.Repeat("{\"text\":\"some words\"}\n", 100)
	for _, files := range [][]named{
		{
			{"b/x.csv", "id,text\n1,one\n2,two\n"},
			{"a.jsonl", lines},
			{"z/more.jsonl.gz", gzipped(t, lines)},
			{"README.md", "no document"},
			{"_SUCCESS", ""},
			{".hidden/y.jsonl", lines},
		},
		{{"t/2.txt", "two"}, {"t/1.txt", "one"}, {"t/3.html", "<p>three</p>"}, {"t/4.bin", "none"}},
	} {
		folder := t.TempDir()
		for _, f := range files {
			path := filepath.Join(folder, "x", f.name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(f.content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := documentsUnder(t, filepath.Join(folder, "x"), corpus.Options{}, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			want[i] = "all/" + want[i]
		}
		packed := tarOf(t, files)
		for name, content := range map[string]string{
			"all":     packed,
			"all.gz":  gzipped(t, packed),
			"all.zst": zstded(packed),
			"all.zip": zipOf(t, files, zip.Deflate),
			"stored":  zipOf(t, files, zip.Store),
		} {
			path := filepath.Join(folder, name)
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, target := range []int64{1, 50, 1 << 30} {
				got, err := documentsUnder(t, path, corpus.Options{}, target)
				for i := range got {
					_, rest, _ := strings.Cut(got[i], "/")
					got[i] = "all/" + rest
				}
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("%s, splits of %d: %v, %q, want %q", name, target, err, got, want)
				}
			}
		}
	}
}

// TestDamagedArchives: what an archive has lost is a reject in the last of its files, and the others are read. Archives
// that cannot be read, or that are made to cost time, are errors that say what to do.
func TestDamagedArchives(t *testing.T) {
	lines := strings.Repeat("{\"text\":\"some words\"}\n", 100)
	files := []named{{"a.jsonl", lines}, {"b.jsonl", lines}, {"c.jsonl", lines}}
	whole := tarOf(t, files)
	deflated := zipOf(t, files, zip.Deflate)
	flipped := []byte(zipOf(t, files, zip.Store))
	at := bytes.Index(flipped, []byte("some words"))
	flipped[at]++
	wrong := []byte(deflated)
	wrong[bytes.Index(wrong, []byte("a.jsonl"))+12] ^= 0x5a
	lying := func(content string, at int) string { // four bytes of the first entry in the directory are 0
		b := []byte(content)
		copy(b[bytes.Index(b, []byte("PK\x01\x02"))+at:], "\x00\x00\x00\x00")
		return string(b)
	}
	for name, test := range map[string]struct {
		content string
		least   int // documents
		want    string
	}{
		"a size of 0":        {lying(deflated, 24), -1, "may hide documents"},
		"stored, all 0":      {lying(lying(lying(zipOf(t, files, zip.Store), 16), 20), 24), -1, "may hide documents"},
		"deflated, all 0":    {lying(lying(lying(deflated, 16), 20), 24), -1, "may hide documents"},
		"another sum":        {lying(lying(deflated, 16), 24), -1, "may hide documents"},
		"cut in a file":      {whole[:len(whole)-4000], 200, "tar archive is cut short"},
		"cut in a header":    {whole[:512+2560+200], 100, "tar archive is cut short"},
		"cut, compressed":    {gzipped(t, whole)[:len(gzipped(t, whole))-40], 100, "gzip stream is cut short"},
		"wrong sum":          {string(wrong), 200, "zip "},
		"no end":             {whole[:len(whole)-1024], 300, "tar archive has no end"},
		"no end, compressed": {gzipped(t, whole[:len(whole)-1024]), 300, "tar archive has no end"},
		"two archives":       {whole + tarOf(t, []named{{"d.jsonl", lines}}) + strings.Repeat("\x00", 5120), 400, ""},
		"two, compressed":    {zstded(whole + tarOf(t, []named{{"d.jsonl", lines}})), 400, ""},
		"bytes behind":       {whole + strings.Repeat("more", 500), 300, "tar archive is cut short or damaged"},
		"only a header":      {whole[:512], -1, "cut short"},
		"zip cut short":      {deflated[:len(deflated)-30], -1, "copy or download the archive again"},
		"nothing to read":    {tarOf(t, []named{{".a.bin", "x"}}), -1, "the archive has no file"},
		"a workbook": {zipOf(t, []named{{"[Content_Types].xml", ""}, {"xl/workbook.xml", "<x/>"}},
			zip.Deflate), -1, "a workbook of Excel, which is not read: convert it with 'soffice"},
		"an e-book": {
			zipOf(t,
				[]named{{"mimetype", "application/epub+zip"}, {"META-INF/container.xml", "<x/>"}}, zip.Store), -1,
			"an e-book",
		},
		"an archive in one": {
			tarOf(t, []named{{"a.jsonl", whole}}), -1,
			"the file is a tar archive, which is not read",
		},
		"a name that climbs": {tarOf(t, []named{{"../../a.jsonl", lines}}), 100, ""},
		"two of a name":      {tarOf(t, []named{{"a.jsonl", "no"}, {"./a.jsonl", lines}}), 100, ""},
		"flipped, stored":    {string(flipped), 300, ""},
	} {
		path := filepath.Join(t.TempDir(), "all")
		if err := os.WriteFile(path, []byte(test.content), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := documentsUnder(t, path, corpus.Options{}, 1<<20)
		if test.least < 0 {
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("%s: %v, want %q", name, err, test.want)
			}
			continue
		}
		if err != nil || len(got) < test.least || !strings.Contains(strings.Join(got, "\n"), test.want) {
			t.Errorf("%s: %v, %d documents of %d, want %q: %q", name, err, len(got), test.least, test.want,
				got[max(len(got)-2, 0):])
		}
	}
}

// TestArchivesInFolders: archives next to documents are passed over. A folder of nothing else stands for what is in
// them. A text file that is an archive is a reject among texts.
func TestArchivesInFolders(t *testing.T) {
	packed := tarOf(t, []named{{"a.txt", "one"}, {"b.txt", "two"}})
	for _, test := range []struct {
		files     []named
		format    string
		want      string
		documents int
	}{
		{[]named{{"x.tar", packed}, {"y.tar.gz", gzipped(t, packed)}}, "", "x.tar/a.txt:0 one <nil>", 4},
		{[]named{{"x.tar", packed}, {"c.txt", "three"}}, "", "c.txt:0 three <nil>", 1},
		{
			[]named{{"x.zip", zipOf(t, []named{{"a.txt", "one"}}, zip.Deflate)}, {"c.txt", "three"}},
			"text",
			"x.zip:0  the file is a zip archive", 2,
		},
	} {
		folder := t.TempDir()
		for _, f := range test.files {
			if err := os.WriteFile(filepath.Join(folder, f.name), []byte(f.content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got, err := documentsUnder(t, folder, corpus.Options{Format: test.format}, 1<<20)
		if err != nil || len(got) != test.documents || !strings.Contains(strings.Join(got, "\n"), test.want) {
			t.Errorf("%v: %q", err, got)
		}
	}
}

// TestExpandingArchive: an archive that expands beyond the limit is an error while it is listed.
func TestExpandingArchive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "all.tar.zst")
	if err := os.WriteFile(path, []byte(zstded(tarOf(t, []named{{"a.txt", strings.Repeat(" ", 10<<20)}}))),
		0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := documentsUnder(t, path, corpus.Options{MaxExpanded: 1 << 20}, 1); err == nil ||
		!strings.Contains(err.Error(), "raise --max-expanded") {
		t.Errorf("error %v", err)
	}
}

// FuzzArchives: whatever an archive says of itself, reading ends, without a panic.
func FuzzArchives(f *testing.F) {
	files := []named{{"a.jsonl", "{\"text\":\"x\"}\n"}, {"b.txt", "y"}}
	f.Add([]byte(tarOf(f, files)))
	f.Add([]byte(zstded(tarOf(f, files))))
	f.Add([]byte(zipOf(f, files, zip.Deflate)))
	f.Add([]byte(zipOf(f, files, zip.Store)))
	f.Fuzz(func(t *testing.T, content []byte) {
		path := filepath.Join(t.TempDir(), "all")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := documentsUnder(t, path, corpus.Options{MaxExpanded: 1 << 20}, 1)
		if err != nil && strings.Contains(err.Error(), "changed while the job ran") {
			t.Fatalf("%d documents and %v", len(got), err)
		}
	})
}
