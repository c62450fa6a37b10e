package pipeline

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsnet/compress/bzip2"
	"github.com/pierrec/lz4/v4"
	"github.com/ulikunitz/xz"
	"golang.org/x/text/encoding/unicode"

	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/storage/storagetest"
	"mirrorbeam.dev/internal/storage/web"
	"mirrorbeam.dev/job"
)

// pressed compresses content as an ending says that press does not know.
func pressed(t *testing.T, ending string, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	var err error
	switch ending {
	case ".bz2":
		w, err = bzip2.NewWriter(&b, nil)
	case ".xz":
		w, err = xz.NewWriter(&b)
	case ".lz4":
		w = lz4.NewWriter(&b)
	default:
		return press(t, ending, content)
	}
	if err == nil {
		_, err = w.Write(content)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// archived returns files as an archive of tar or zip.
func archived(t *testing.T, kind string, files map[string][]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	var fault error
	if kind == "tar" {
		w := tar.NewWriter(&b)
		for _, name := range slices.Sorted(maps.Keys(files)) {
			err := w.WriteHeader(&tar.Header{
				Name:     name,
				Mode:     0o600,
				Size:     int64(len(files[name])),
				Typeflag: tar.TypeReg,
			})
			_, wrote := w.Write(files[name])
			fault = errors.Join(fault, err, wrote)
		}
		fault = errors.Join(fault, w.Close())
	} else {
		w := zip.NewWriter(&b)
		for _, name := range slices.Sorted(maps.Keys(files)) {
			file, err := w.Create(name)
			if err == nil {
				_, err = file.Write(files[name])
			}
			fault = errors.Join(fault, err)
		}
		fault = errors.Join(fault, w.Close())
	}
	if fault != nil {
		t.Fatal(fault)
	}
	return b.Bytes()
}

// cellsOf returns articles as CSV with a delimiter.
func cellsOf(t *testing.T, all []article, comma rune) []byte {
	t.Helper()
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Comma = comma
	rows := [][]string{{"note", "text", "id"}}
	for _, d := range all {
		rows = append(rows, []string{d.Note, d.Text, d.ID})
	}
	if err := w.WriteAll(rows); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// forms returns the same articles in many forms, by the names of their files.
func forms(t *testing.T, all []article) map[string][]byte {
	t.Helper()
	lines := asFiles(t, all, "jsonl", "")["all.jsonl"]
	half := len(all) / 2
	parts := map[string][]byte{
		"a.jsonl": asFiles(t, all[:half], "jsonl", "")["all.jsonl"],
		"b.csv":   cellsOf(t, all[half:], ';'),
	}
	texts := archived(t, "tar", asFiles(t, all, "text", ""))
	forms := map[string][]byte{
		"semicolons.csv": cellsOf(t, all, ';'),
		"pipes.csv":      cellsOf(t, all, '|'),
		"tabs.csv":       cellsOf(t, all, '\t'),
		"texts.tar":      texts,
		"texts.tar.gz":   press(t, ".gz", texts),
		"texts.tzst":     press(t, ".zst", texts),
		"texts.tar.xz":   pressed(t, ".xz", texts),
		"texts.zip":      archived(t, "zip", asFiles(t, all, "text", "")),
		"parts.tar":      archived(t, "tar", parts),
		"parts.zip":      archived(t, "zip", parts),
		"parts.tar.bz2":  pressed(t, ".bz2", archived(t, "tar", parts)),
	}
	for _, format := range []string{"tsv", "parquet", "warc"} {
		forms["all."+format] = asFiles(t, all, format, "")["all."+format]
	}
	forms["all.warc.gz"] = asFiles(t, all, "warc", ".gz")["all.warc.gz"]
	for _, ending := range []string{".gz", ".zst", ".bz2", ".xz", ".lz4"} {
		forms["lines.jsonl"+ending] = pressed(t, ending, lines)
	}
	var err error
	if forms["array.json"], err = json.Marshal(all); err != nil {
		t.Fatal(err)
	}
	if forms["pretty.json"], err = json.MarshalIndent(all, "", "  "); err != nil {
		t.Fatal(err)
	}
	for _, d := range all {
		object, err := json.MarshalIndent(d, "", "\t")
		if err != nil {
			t.Fatal(err)
		}
		forms["objects.json"] = append(append(forms["objects.json"], object...), '\n')
	}
	if forms["wide.csv"], err = unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().Bytes(cellsOf(t, all,
		',')); err != nil {
		t.Fatal(err)
	}
	return forms
}

// inPlaces returns what puts a file where a job reads it from, by the places: it returns the name of the file there.
func inPlaces(t *testing.T) map[string]func(name string, content []byte) string {
	t.Helper()
	disk := t.TempDir()
	_, memory := storagetest.NewMemory(t)
	site, roots := storagetest.ServeWeb(t)
	t.Cleanup(storage.Register("https", web.New(hasty(), roots)))
	t.Cleanup(storage.Register("hf", web.NewHub(hasty(), roots)))
	t.Setenv("HF_ENDPOINT", "https://"+site.Host)
	for _, service := range services {
		service.serve(t)
	}
	in := func(written, read string) func(string, []byte) string {
		return func(name string, content []byte) string {
			if storage.Scheme(written) == "" {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(written, name)), 0o777); err != nil {
					t.Fatal(err)
				}
			}
			if err := storage.WriteFile(storage.Join(written, name), content); err != nil {
				t.Fatal(err)
			}
			return storage.Join(read, name)
		}
	}
	return map[string]func(string, []byte) string{
		"disk":   in(disk, disk),
		"memory": in(memory, memory),
		"gs":     in("gs://corpora/in", "gs://corpora/in"),
		"s3":     in("s3://corpora/in", "s3://corpora/in"),
		"https":  in(site.Folder, "https://"+site.Host),
		"hf":     in(storage.Join(site.Folder, "owner/name"), "hf://datasets/owner/name@v1"),
	}
}

// TestForms: the same documents give the same clusters, in whatever form they come, from the disk, from buckets and
// from the web. What is removed is removed from the copies in unique.
func TestForms(t *testing.T) {
	all := articles(t)
	var want []string
	found := forms(t, all)
	names := append([]string{"lines.jsonl"}, slices.Sorted(maps.Keys(found))...)
	found[names[0]] = asFiles(t, all, "jsonl", "")["all.jsonl"]
	places := inPlaces(t)
	for i, name := range names {
		if testing.Short() && i%6 > 0 {
			continue // the forms differ in what reads them, not in what runs beside it
		}
		for place, put := range places {
			t.Run(name+"/"+place, func(t *testing.T) {
				config := job.Default()
				config.Input, config.Output = []string{put(name, found[name])}, filepath.Join(t.TempDir(), "out")
				config.Emit = []string{output.Clusters, output.Unique, output.Removed}
				if name == "all.tsv" {
					config.Quote = `"`
				}
				summary, err := Run(t.Context(), config)
				if err != nil {
					t.Fatal(err)
				}
				if summary.Counts.Documents != int64(len(all)) || summary.Counts.Rejected != 0 {
					t.Fatalf("counts %+v", summary.Counts)
				}
				got := clustered(t, config.Output, nil)
				for i := range got {
					got[i] = strings.NewReplacer("texts.tar/", "", "texts.zip/", "", "texts.tzst/", "", ".txt",
						"").Replace(got[i])
				}
				if slices.Sort(got); want == nil {
					want = got
				}
				if !slices.Equal(got, want) || len(got) < 20 {
					t.Errorf("%d rows of clusters, want %d: %.300v", len(got), len(want), got)
				}
				if copied := copies(t, outputsOf(t, config.Output, output.Unique)); copied != summary.Counts.Kept {
					t.Errorf("unique has %d documents, and %d are kept", copied, summary.Counts.Kept)
				}
			})
		}
	}
}

// copies counts the documents in files of unique.
func copies(t *testing.T, files map[string][]byte) (n int64) {
	t.Helper()
	for name, content := range files {
		_, format, _ := strings.Cut(name, ".")
		switch {
		case strings.HasPrefix(format, "json") && !strings.HasPrefix(format, "jsonl"):
			var all []article
			if err := json.Unmarshal(content, &all); err != nil {
				t.Fatal(err)
			}
			n += int64(len(all))
		case strings.HasPrefix(format, "csv"):
			r := csv.NewReader(bytes.NewReader(content))
			r.Comma = map[bool]rune{true: ';', false: ','}[bytes.HasPrefix(content, []byte("note;"))]
			if line, _, _ := bytes.Cut(content, []byte("\n")); !bytes.ContainsAny(line, ",;") {
				r.Comma = rune(line[len("note")])
			}
			rows, err := r.ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			n += int64(len(rows)) - 1
		default:
			n += int64(len(recordsIn(t, map[string][]byte{name: content})))
		}
	}
	return n
}
