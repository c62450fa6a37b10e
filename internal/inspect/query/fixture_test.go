package query

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/inspect/index"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/sketch"
)

// text is a document of a test.
type text struct {
	id, content string
	// file and position say where it is. Files before firstInput are the reference.
	file     int
	position int64
}

// files are the names of the files of a library, the reference first.
var files = []string{"old.jsonl", "new.jsonl", "newer.jsonl"}

// ref returns path:position of the document.
func (x *text) ref() string { return fmt.Sprintf("%s:%d", files[x.file], x.position) }

// name returns the id or, without one, the ref.
func (x *text) name() string {
	if x.id == "" {
		return x.ref()
	}
	return x.id
}

// line returns the document as a line of input.
func (x *text) line() string {
	record := map[string]string{"text": x.content}
	if x.id != "" {
		record["id"] = x.id
	}
	b, _ := json.Marshal(record)
	return string(b) + "\n"
}

// newTexts makes texts. Some are near-copies of earlier ones, some equal to them, some have no words, and some no id.
func newTexts(seed uint64, n int) (texts []text) {
	random := rand.New(rand.NewPCG(seed, 1))
	words := func(n int) (words []string) {
		for range n {
			words = append(words, fmt.Sprintf("w%d", random.IntN(400)))
		}
		return words
	}
	for i := range n {
		x := text{id: fmt.Sprintf("d%d\"", i), file: i * len(files) / n, position: int64(1000 * i)}
		if random.IntN(5) == 0 {
			x.id = ""
		}
		content := words(3 + random.IntN(30))
		switch kind := random.IntN(10); {
		case kind == 0:
			content = []string{strings.Repeat("?!", random.IntN(3))}
		case kind < 7 && i > 0:
			content = strings.Fields(texts[random.IntN(i)].content)
			for range random.IntN(4) {
				if len(content) > 0 {
					content[random.IntN(len(content))] = words(1)[0]
				}
			}
		}
		x.content = strings.Join(content, " ")
		texts = append(texts, x)
	}
	return texts
}

// library is what a job knows of texts: its configuration, and the index that it left in a folder.
type library struct {
	config job.Config
	texts  []text
	prints []sketch.Fingerprint
	// header is the header of each file of the index, before it is written. A test may change it.
	header func(file int) index.Header
	// write writes the content of a file of the index. A test may damage it.
	write func(path string, content []byte) error
}

// newLibrary fingerprints texts as a job of the configuration does.
func newLibrary(t *testing.T, texts []text, change func(*job.Config)) *library {
	t.Helper()
	config := job.Default()
	config.Input, config.Output = []string{"in"}, t.TempDir()
	if change != nil {
		change(&config)
	}
	l := &library{
		config: config,
		texts:  texts,
		write:  func(path string, content []byte) error { return os.WriteFile(path, content, 0o666) },
	}
	l.prints = fingerprints(t, &config, texts)
	l.header = func(file int) index.Header {
		return index.Header{
			Threshold:  config.Threshold,
			References: 1,
			FirstFile:  file,
			Files:      files[file : file+1],
		}
	}
	return l
}

// fingerprints returns the fingerprints of texts under a configuration.
func fingerprints(t *testing.T, config *job.Config, texts []text) (prints []sketch.Fingerprint) {
	t.Helper()
	sketching := config.Sketching(0)
	sketching.Options.SimHashBits = config.Bits
	sketcher, err := documents.NewSketcher(sketching, documents.Kept{}, "")
	if err != nil {
		t.Fatal(err)
	}
	for i := range texts {
		_, f, err := sketcher.Sketch(&documents.Portion{}, 0, []byte(texts[i].line()))
		if err != nil {
			t.Fatal(err)
		}
		f.Set, f.SimHash = slices.Clone(f.Set), slices.Clone(f.SimHash)
		prints = append(prints, f.Fingerprint)
	}
	return prints
}

// publish writes an index file for each input file, and returns their paths.
func (l *library) publish(t *testing.T) (paths []string) {
	t.Helper()
	for file := range files {
		path := filepath.Join(l.config.Output, fmt.Sprint("index-", file))
		if err := l.write(path, l.indexOf(t, file)); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

// indexOf returns the index of the texts of a file.
func (l *library) indexOf(t *testing.T, file int) []byte {
	t.Helper()
	var content bytes.Buffer
	header := l.header(file)
	if l.config.Scoring() == methods.Hamming {
		header.Bits, header.Distance, header.Blocks = l.config.Bits, l.config.Hamming, l.config.Blocks
	}
	b, err := index.New(header, l.config.Seed.Number, func(b []byte) error { content.Write(b); return nil })
	if err != nil {
		t.Fatal(err)
	}
	for i := range l.texts {
		x, f := &l.texts[i], &l.prints[i]
		if x.file != file {
			continue
		}
		d := index.Document{ID: []byte(x.id), Digest: f.Digest, Set: sketchblock.AppendPacked(nil, f.Set)}
		if len(f.Set) > 0 {
			d.Fingerprint = f.SimHash
		}
		if d.Ref, err = docref.New(x.file, x.position); err == nil {
			err = b.Add(d)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	return content.Bytes()
}

// open publishes the library and opens its index.
func (l *library) open(t *testing.T) *Index {
	t.Helper()
	x := newIndex(l.config)
	if err := x.openFiles(l.publish(t)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return x
}

// match is a row of an answer.
type match struct {
	ID           string  `json:"id"`
	Ref          string  `json:"ref"`
	Match        string  `json:"match"`
	MatchRef     string  `json:"match_ref"`
	Jaccard      float64 `json:"jaccard"`
	ContainmentA float64 `json:"containment_a"`
	ContainmentB float64 `json:"containment_b"`
	Hamming      int     `json:"hamming"`
	Identical    bool    `json:"identical"`
	Reference    bool    `json:"reference"`
	Added        bool    `json:"added"`
}

// parse returns the rows of an answer.
func parse(t *testing.T, answer string) (rows []match) {
	t.Helper()
	for line := range strings.Lines(answer) {
		var row match
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		rows = append(rows, row)
	}
	return rows
}

// store writes lines to a file of a folder of its own and returns its path.
func store(t *testing.T, name string, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}
