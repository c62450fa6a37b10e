package formats

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/util/corporatest"
)

// TestCorpora reads all archives: positions ascend, and each record is a document, passed over, or a reject.
func TestCorpora(t *testing.T) {
	var paths []string
	err := filepath.WalkDir(corporatest.Path(t, "warc"), func(path string, entry fs.DirEntry, err error) error {
		name := strings.ToLower(entry.Name())
		if isArchive := strings.Contains(name, ".warc") || strings.Contains(name, ".arc"); isArchive &&
			!strings.HasSuffix(name, ".lz4") && !entry.IsDir() {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	listing, err := corpus.List(t.Context(), paths, corpus.Options{Format: "warc"})
	if err != nil {
		t.Fatal(err)
	}
	documents, passed, rejects := 0, map[string]int{}, 0
	for number, file := range listing.Files {
		last := int64(-1)
		decoder := NewDecoder(wanted(idAndText))
		for batch, err := range Batches(file, number, corpus.Limits{Line: 1 << 30}, wanted(idAndText)) {
			if err != nil {
				t.Fatal(err)
			}
			rejects += len(batch.Rejects)
			for position, record := range batch.Records() {
				if position <= last {
					t.Errorf("%s: position %d after %d", file.Path, position, last)
				}
				last = position
				content, err := decoder.Decode(&file, &batch, position, record)
				if reason, is := errors.AsType[corpus.PassedOver](err); is {
					passed[string(reason)]++
				} else if err != nil {
					rejects++
				} else {
					documents++
					if len(content.Texts) != 1 {
						t.Errorf("%s:%d has %d texts", file.Path, position, len(content.Texts))
					}
				}
			}
		}
	}
	t.Logf("%d archives: %d documents, %d rejects, passed over %v", len(listing.Files), documents, rejects, passed)
	if documents < 900 || rejects < 10 || passed["request"] < 10 || passed["other type"] < 100 {
		t.Errorf("%d documents, %d rejects, passed over %v", documents, rejects, passed)
	}
}
