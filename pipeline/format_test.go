package pipeline

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/schema/output"
)

// A format of the test: a line with "id:", text, and a line feed behind a form feed, for each document. The
// registration here is all there is of it.
func init() {
	corpus.Register(corpus.Definition{
		Format:  200,
		Name:    "sheets",
		Help:    "for a test",
		Endings: []string{".sheets"},
		Magics:  []string{"id:"},
		Source: func(l corpus.Limits, _ corpus.Wanted) corpus.Source {
			return &sheetSource{stream: l.Stream(), window: l.Window}
		},
		Decoder: func(corpus.Wanted) corpus.Decoder { return sheetDecoder{} },
	})
}

// sheetSource reads a file as one batch.
type sheetSource struct {
	stream corpus.Stream
	window int64
	number int
	isRead bool
}

func (s *sheetSource) Reset(file corpus.File, part corpus.Stretch) error {
	s.number, s.isRead = part.File, false
	return s.stream.Reset(file, part.Start, s.window)
}

func (s *sheetSource) Next([]byte) (corpus.Batch, error) {
	if s.isRead {
		return corpus.Batch{}, s.stream.End()
	}
	data, err := io.ReadAll(&s.stream)
	b := corpus.Batch{File: s.number, Format: 200, Data: data}
	for start := 0; start < len(data); {
		end := start + bytes.Index(data[start:], []byte("\f\n")) + 2
		b.Frames = append(b.Frames, corpus.Frame{Position: int64(start), Start: start, End: end})
		start = end
	}
	s.isRead = true
	return b, err
}

func (s *sheetSource) Close() error { return s.stream.Close() }

type sheetDecoder struct{}

func (sheetDecoder) Decode(_, record []byte) (corpus.Record, error) {
	id, text, _ := bytes.Cut(bytes.TrimSuffix(record, []byte("\f\n")), []byte("\n"))
	return corpus.Record{ID: bytes.TrimPrefix(id, []byte("id:")), HasID: true, Texts: [][]byte{text}}, nil
}

// TestRegisteredFormat: files of a format that is registered join a whole job, by their names, by their first bytes,
// and compressed. The job clusters their documents as it does lines of JSON, and copies those that are kept.
func TestRegisteredFormat(t *testing.T) {
	t.Parallel()
	all := articles(t)
	var sheets bytes.Buffer
	for _, d := range all {
		sheets.WriteString("id:" + d.ID + "\n" + d.Text + "\f\n")
	}
	lines := filepath.Join(t.TempDir(), "all.jsonl")
	if err := os.WriteFile(lines, asFiles(t, all, "jsonl", "")["all.jsonl"], 0o666); err != nil {
		t.Fatal(err)
	}
	config := testConfig(t, lines)
	runJob(t, config)
	want := clustered(t, config.Output, nil)
	for _, name := range []string{"all.sheets", "all.sheets.gz", "all"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name)
			if err := os.WriteFile(path, press(t, filepath.Ext(name), sheets.Bytes()), 0o666); err != nil {
				t.Fatal(err)
			}
			config := testConfig(t, path)
			summary := runJob(t, config)
			if got := clustered(t, config.Output, nil); !slices.Equal(got, want) {
				t.Errorf("%s: %d rows of clusters, want %d", name, len(got), len(want))
			}
			copied := output.ShardName(output.Unique, 0, 1,
				output.Format("sheets"+strings.TrimPrefix(filepath.Ext(path), ".sheets")))
			content := readFile(t, filepath.Join(config.Output, copied))
			kept := bytes.Count(content, []byte("\f\n"))
			if int64(kept) != summary.Counts.Kept ||
				!bytes.HasPrefix(sheets.Bytes(), content[:bytes.IndexByte(content, '\f')]) {
				t.Errorf("%s: %d documents, want %d", copied, kept, summary.Counts.Kept)
			}
		})
	}
}
