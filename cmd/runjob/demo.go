package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"io"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"

	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/internal/inspect/explain"
	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/pipeline"
)

type demoCommand struct {
	Output string `default:"runjob-demo" placeholder:"DIR"`
}

// demoDocument is a document of the corpus. Its id is the path of the file below its folder.
type demoDocument struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// fables are documents of the demo, some of them near-duplicates, as lines of JSON.
//
//go:embed demo.jsonl
var fables []byte

// maxDemoFiles bounds the demo to some seconds.
const maxDemoFiles = 20_000

func (c *demoCommand) Validate() error { return job.CheckLocal("output", c.Output) }

func (c *demoCommand) Run(ctx context.Context, out io.Writer) error {
	if err := pipeline.CheckRunner(ctx, *runners.Runner); err != nil {
		return err
	}
	corpus := filepath.Join(c.Output, "corpus.jsonl")
	if _, err := os.Lstat(corpus); err == nil && !isDemoCorpus(corpus) {
		return failure.Errorf(failure.Storage,
			"make demo corpus: %s exists and was not made by a demo: name another folder with --output", corpus)
	}
	n, err := writeDemoCorpus(corpus, demoFolders())
	if err != nil {
		return failure.Errorf(failure.Storage, "make demo corpus: %w: name another folder with --output", err)
	}
	output := filepath.Join(c.Output, "results")
	say(os.Stderr, "%d fables, and %s licences and documents of this machine -> %s\n",
		bytes.Count(fables, []byte("\n")), count(n), corpus)
	say(os.Stderr, "$ runjob run --input %s --output %s --emit clusters,pairs --overwrite\n\n", corpus, output)
	config := job.Default()
	config.Input, config.Output = []string{corpus}, output
	config.Emit, config.Overwrite = []string{"clusters", "pairs"}, true
	config.Progress = showProgress
	summary, err := runJob(ctx, config)
	if err != nil {
		return err
	}
	printGrave(ctx, os.Stderr, summary)
	printSummary(os.Stderr, summary)
	folder, err := finished.Open(output)
	if err != nil {
		return err
	}
	if err := showSamples(ctx, out, folder); err != nil {
		return err
	}
	say(out, `
What to try next:
  runjob report %[2]s
  runjob run --input %[1]s --output looser --threshold 0.5 --emit clusters,pairs
  runjob run --input %[1]s --output best --keep longest --emit removed,unique
  runjob run --input 'your/files/*.jsonl.zst' --output out --text-field text --id-field id
`, corpus, output)
	return nil
}

// writeDemoCorpus writes the fables, and the licences and documentation below some folders, to a JSONL file. It returns
// how many of the latter there are.
func writeDemoCorpus(path string, roots []string) (int, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return 0, err
	}
	f, err := storage.Create(path)
	if err != nil {
		return 0, err
	}
	defer f.Abort()
	out := bufio.NewWriter(f)
	if _, err := out.Write(fables); err != nil {
		return 0, err
	}
	encoder := json.NewEncoder(out)
	n := 0
	for _, root := range roots {
		err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !isDocument(entry.Name()) {
				return nil // files that cannot be read are not part of the demo
			}
			text, err := os.ReadFile(file)
			if err != nil || !utf8.Valid(text) {
				return nil
			}
			if n == maxDemoFiles {
				return fs.SkipAll
			}
			n++
			id, err := filepath.Rel(root, file)
			if err != nil {
				return err
			}
			return encoder.Encode(demoDocument{filepath.ToSlash(id), string(text)})
		})
		if err != nil {
			return n, err
		}
	}
	if err := out.Flush(); err != nil {
		return n, err
	}
	return n, f.Commit()
}

func isDemoCorpus(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close() // it was only read
	first, _, _ := bytes.Cut(fables, []byte("\n"))
	begin := make([]byte, len(first))
	_, err = io.ReadFull(f, begin)
	return err == nil && bytes.Equal(begin, first)
}

// demoFolders returns the folders of Go, if there is Go, and those where systems have documentation.
func demoFolders() []string {
	folders := []string{"/usr/share/doc", "/usr/share/licenses"}
	// else the demo goes without
	if out, err := exec.Command("go", "env", "GOMODCACHE", "GOROOT").Output(); err == nil {
		folders = append(strings.Split(strings.TrimSpace(string(out)), "\n"), folders...)
	}
	return folders
}

func isDocument(name string) bool {
	upper := strings.ToUpper(name)
	for _, start := range []string{
		"LICENSE", "LICENCE", "COPYING", "NOTICE", "README", "CONTRIBUTING",
		"CODE_OF_CONDUCT", "CHANGELOG", "COPYRIGHT",
	} {
		if strings.HasPrefix(upper, start) {
			return true
		}
	}
	return filepath.Ext(name) == ".md"
}

// showSamples shows the largest clusters, a pair that is similar but not identical with its difference, and some of the
// documents that would be removed.
func showSamples(ctx context.Context, w io.Writer, results *finished.Folder) error {
	list, err := explain.ListClusters(ctx, results, explain.Page{Order: explain.BySize, Limit: 5})
	if err != nil || list.Of == 0 {
		return err
	}
	say(w, "\nThe largest clusters, each by its first document:\n")
	list.Of = int64(len(list.Clusters)) // the demo has no flag for the others
	printClusters(w, list)
	if err := showNearPair(ctx, w, results); err != nil {
		return err
	}
	return showRemoved(ctx, w, results)
}

func showNearPair(ctx context.Context, w io.Writer, results *finished.Folder) error {
	var near example
	distance := math.Inf(1)
	for pair, err := range finished.Rows[output.Pair](ctx, results, output.Pairs) {
		if err != nil {
			return err
		}
		if d := math.Abs(pair.Jaccard - 0.85); !pair.Identical && d < distance {
			near, distance = example{A: pair.A, B: pair.B, Similarity: &pair.Jaccard}, d
		}
	}
	if near.Similarity == nil {
		return nil
	}
	texts, err := results.Texts(ctx, []string{near.A, near.B}, math.MaxInt)
	if err != nil {
		return err
	}
	near.show(texts)
	printExamples(w, "A pair that is not a copy:", []example{near})
	return nil
}

// showRemoved begins with the documents least similar to the kept one: look at these before you trust a threshold.
func showRemoved(ctx context.Context, w io.Writer, results *finished.Folder) error {
	var rows []output.Member
	for row, err := range finished.Rows[output.Member](ctx, results, output.Clusters) {
		if err != nil {
			return err
		}
		if !row.Kept {
			rows = append(rows, row)
		}
	}
	slices.SortFunc(rows, func(a, b output.Member) int {
		return cmp.Or(cmp.Compare(a.Similarity, b.Similarity), cmp.Compare(a.ID, b.ID))
	})
	say(w, "\n%s would be removed; the ones least similar to the document kept:\n",
		counted(len(rows), "document"))
	for _, row := range rows[:min(4, len(rows))] {
		say(w, "   %.3f   %s\n", row.Similarity, row.ID)
	}
	return nil
}
