package pipeline

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/keep"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/storage/storagetest"
	"mirrorbeam.dev/job"
)

// article is a document that any format can hold.
type article struct {
	ID   string `json:"id" parquet:"id"`
	Text string `json:"text" parquet:"text"`
	Note string `json:"note" parquet:"note"`
}

// annotated is an article with what a job says of it. The names are nil where there is none.
type annotated struct {
	ID          string  `json:"id" parquet:"id"`
	Text        string  `json:"text" parquet:"text"`
	Note        string  `json:"note" parquet:"note"`
	Cluster     *string `json:"cluster" parquet:"cluster,optional"`
	ClusterSize int64   `json:"cluster_size" parquet:"cluster_size"`
	Kept        bool    `json:"kept" parquet:"kept"`
	KeptID      *string `json:"kept_id" parquet:"kept_id,optional"`
}

// article returns the document.
func (a annotated) article() article { return article{a.ID, a.Text, a.Note} }

// String shows what the job has added.
func (a annotated) String() string {
	added, _ := json.Marshal([]any{a.Cluster, a.ClusterSize, a.Kept, a.KeptID})
	return string(added)
}

// articles returns made-up documents, with ids of their own.
func articles(t *testing.T) []article {
	t.Helper()
	var all []article
	for _, l := range oddities(lawSeed) {
		if l.kind == documentLine && strings.Trim(l.text, " \t") != "" {
			all = append(all, article{fmt.Sprintf("d%05d", len(all)), l.text, fmt.Sprint("note ", len(all))})
		}
	}
	if len(all) < 200 {
		t.Fatalf("only %d documents", len(all))
	}
	return all
}

// outputsOf returns the files of some outputs in a folder of any storage.
func outputsOf(t *testing.T, folder string, names ...string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for file, content := range allFiles(t, folder) {
		if name, _, _ := strings.Cut(file, "-"); slices.Contains(names, name) {
			files[file] = []byte(content)
		}
	}
	return files
}

// storedRows returns the rows of an output in a folder of any storage.
func storedRows[Row any](t *testing.T, folder, name string) (rows []Row) {
	t.Helper()
	files := outputsOf(t, folder, name)
	for _, file := range slices.Sorted(maps.Keys(files)) {
		rows = append(rows, decodeRows[Row](t, file, files[file])...)
	}
	return rows
}

// clustered returns the rows of clusters without what depends on the format: refs, and names that are keys of names.
func clustered(t *testing.T, folder string, names map[string]string) []string {
	t.Helper()
	var rows []string
	for _, row := range storedRows[clusterRow](t, folder, output.Clusters) {
		rows = append(rows,
			fmt.Sprint(idOf(names, row.Cluster), idOf(names, cmp.Or(row.ID, row.Ref)), row.Kept, row.Similarity,
				row.Size, row.Mean))
	}
	slices.Sort(rows)
	return rows
}

// idOf returns what a name stands for, or the name.
func idOf(names map[string]string, name string) string { return cmp.Or(names[name], name) }

// whatBecame returns what clusters and removed say of the documents in clusters, by their refs and, where they are not
// ambiguous, their ids.
func whatBecame(t *testing.T, folder string) map[string]annotated {
	t.Helper()
	all, kept := map[string]annotated{}, map[string]*string{}
	for _, row := range storedRows[removedRow](t, folder, output.Removed) {
		kept[row.Ref] = &row.KeptID
	}
	for _, row := range storedRows[clusterRow](t, folder, output.Clusters) {
		all[row.Ref] = annotated{Cluster: &row.Cluster, ClusterSize: row.Size, Kept: row.Kept, KeptID: kept[row.Ref]}
		all[row.ID] = all[row.Ref]
	}
	return all
}

// eachStore calls test for articles in each registered format, in each compression, on the local disk or in another
// storage, so that any two of these meet; other tests read Parquet and Arrow from a disk. The configuration names the
// input, and folders next to it. Names has the ids of articles by what a job calls them, if it is something else.
func eachStore(t *testing.T, all []article,
	test func(t *testing.T, format *corpus.Definition, config job.Config, names map[string]string),
) {
	for i, format := range registeredFormats() {
		for j, ending := range []string{"", ".gz", ".zst"} {
			if format.IsBinary && ending != "" {
				continue // it is compressed inside
			}
			place := []string{"disk", "bucket"}[(i+j)%2]
			t.Run(format.Name+ending+"/"+place, func(t *testing.T) {
				folder := t.TempDir()
				if place == "bucket" {
					_, folder = storagetest.NewMemory(t)
				}
				config := job.Default()
				config.Input, config.Output = []string{storage.Join(folder, "in")}, storage.Join(folder, "out")
				config.Temp, config.State = storage.Join(folder, "temp"), storage.Join(folder, "state")
				if format.Format == corpus.TSV {
					config.Quote = `"`
				}
				if len(format.Endings) == 0 {
					config.Format = format.Name // no name tells it
				}
				old := time.Now().Add(-time.Hour)
				for name, content := range asFiles(t, all, format.Name, ending) {
					path := storage.Join(config.Input[0], name)
					if place == "bucket" {
						if err := storage.WriteFile(path, content); err != nil {
							t.Fatal(err)
						}
					} else if err := os.Chtimes(put(t, path, content, plain), old, old); err != nil {
						t.Fatal(err)
					}
				}
				test(t, format, config, namesOf(format, all))
			})
		}
	}
}

// TestFormats: the same documents give the same clusters, and the same deduplicated and annotated corpus in its own
// format, whatever the format, the compression and the storage. What is kept and what is removed is the input, and each
// record says what clusters and removed say. A run with a state that knows the files writes the same without reading
// them.
func TestFormats(t *testing.T) {
	t.Parallel()
	all := articles(t)
	byID := map[string]article{}
	for _, d := range all {
		byID[d.ID] = d
	}
	var clusters []string
	eachStore(t, all, func(t *testing.T, format *corpus.Definition, config job.Config, names map[string]string) {
		config.Emit = []string{output.Clusters, output.Pairs, output.Unique, output.Removed, output.Sketches}
		if format.HasFields {
			config.Emit = append(config.Emit, output.Annotated)
		}
		whole := config
		whole.State = ""
		summary, err := Run(t.Context(), whole)
		if err != nil {
			t.Fatal(err)
		}
		if summary.Counts.Documents != int64(len(all)) || summary.Counts.Rejected != 0 {
			t.Fatalf("counts %+v", summary.Counts)
		}
		got := clustered(t, config.Output, names)
		if clusters == nil {
			clusters = got
		}
		if !slices.Equal(got, clusters) || len(got) < 20 {
			t.Errorf("%d rows of clusters, want %d: %.300v", len(got), len(clusters), got)
		}
		known, removed := whatBecame(t, config.Output), map[string]bool{}
		for _, row := range storedRows[removedRow](t, config.Output, output.Removed) {
			removed[idOf(names, cmp.Or(row.ID, row.Ref))] = true
		}
		var want, kept []string
		for _, d := range all {
			if !removed[d.ID] {
				want = append(want, d.ID)
			}
		}
		for _, d := range nameInOrder(t, recordsIn(t, outputsOf(t, config.Output, output.Unique)), want) {
			expected := heldBy(format, byID[d.ID])
			if kept = append(kept, d.ID); d.article() != expected || known[d.ID].KeptID != nil {
				t.Errorf("document %s has changed, or is no kept one: %.100q", d.ID, d)
			}
		}
		if slices.Sort(kept); !slices.Equal(kept, want) || len(kept)+len(removed) != len(all) {
			t.Errorf("unique has %d documents, want %d; %d of %d are removed", len(kept), len(want), len(removed),
				len(all))
		}
		if format.HasFields {
			for i, a := range recordsIn(t, outputsOf(t, config.Output, output.Annotated)) {
				want, is := known[a.ID]
				if !is {
					want = annotated{ClusterSize: 1, Kept: true}
				}
				if a.article() != all[i] || a.String() != want.String() {
					t.Errorf("record %d, %s: %v, want %v", i, a.ID, a, want)
				}
			}
		}
		checkRecalled(t, format, config)
	})
}

// checkRecalled runs a job with a state: over new files, when nothing has changed, and when the results are wanted
// again. Each time it writes what is there, and it reads no file again.
func checkRecalled(t *testing.T, format *corpus.Definition, config job.Config) {
	t.Helper()
	names := append(config.Emit, output.Rejects)
	want := outputsOf(t, config.Output, names...)
	config.Overwrite = true
	for run := range 3 {
		config.Republish = run == 2
		summary, err := Run(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		if summary.State.IsKept != (run == 1) {
			t.Errorf("run %d: kept %v", run, summary.State.IsKept)
		}
		if run > 0 && summary.State.Files.New+summary.State.Files.Changed > 0 {
			t.Errorf("files are read again: %+v", summary.State.Files)
		}
		got := outputsOf(t, config.Output, names...)
		for name, content := range want {
			if format.IsWhole && (strings.HasPrefix(name, output.Unique) || strings.HasPrefix(name, output.Trimmed)) {
				continue // an archive for each file
			}
			if !bytes.Equal(got[name], content) {
				t.Errorf("run %d: %s has %d bytes, want %d", run, name, len(got[name]), len(content))
			}
		}
	}
}

// TestFormatsInPieces: files that are damaged, cut short or of another format than their name says are rejects or
// faults, and what can be read is.
func TestFormatsInPieces(t *testing.T) {
	all := articles(t)
	for _, format := range registeredFormats() {
		if format.IsWhole || format.Format == corpus.PlainLines {
			continue // a part of a text is a text
		}
		t.Run(format.Name, func(t *testing.T) {
			folder := t.TempDir()
			for name, content := range asFiles(t, all, format.Name, "") {
				if err := os.WriteFile(filepath.Join(folder, name), content[:len(content)*3/5], 0o666); err != nil {
					t.Fatal(err)
				}
			}
			config := job.Default()
			config.Input, config.Output = []string{folder}, filepath.Join(t.TempDir(), "out")
			if format.Format == corpus.TSV {
				config.Quote = `"`
			}
			summary, err := Run(t.Context(), config)
			if format.Format == corpus.Parquet { // its end says what is where
				if !errors.Is(err, ErrInput) || !strings.Contains(fmt.Sprint(err), "all.parquet") {
					t.Errorf("a file without its end: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if n := summary.Counts.Documents; n < int64(len(all))/3 || n >= int64(len(all)) ||
				summary.Counts.Rejected == 0 || summary.Counts.FilesDamaged == 0 {
				t.Errorf("counts %+v", summary.Counts)
			}
		})
	}
}

// TestAnnotatedKeepsBytes: lines of JSON stay as they are but for the fields at their end, whatever else is in the
// files, and documents of a reference have no record. So it is for every split of the clusters.
func TestAnnotatedKeepsBytes(t *testing.T) {
	files := cut(oddities(7), 3)
	input, reference := putCorpus(t, plain, files...), putCorpus(t, plain, cut(oddities(8), 3)...)
	for _, split := range []keep.Split{keep.Component, keep.Star} {
		t.Run(string(split), func(t *testing.T) {
			for _, references := range [][]string{nil, {reference}} {
				config := testConfig(t, input)
				config.Threshold, config.Reference, config.Split = .6, references, split
				config.Emit = []string{output.Annotated, output.Clusters, output.Removed}
				summary := runJob(t, config)
				known, rows := whatBecame(t, config.Output), int64(0)
				for i, f := range files {
					got := readFile(t,
						filepath.Join(config.Output, output.ShardName(output.Annotated, i, len(files), output.JSONL)))
					lines, position := bytes.SplitAfter(got, []byte("\n")), 0
					for _, l := range f.lines {
						at := position
						position += len(l.raw) + 1
						if l.kind != documentLine {
							continue
						}
						line := string(lines[0])
						lines, rows = lines[1:], rows+1
						start := strings.LastIndex(line, `,"cluster":`)
						if start < 0 || line[:start]+line[strings.LastIndex(line, "}"):] != l.raw+"\n" {
							t.Fatalf("%q has become %q", l.raw, line)
						}
						var a annotated
						if err := json.Unmarshal([]byte("{"+line[start+1:]), &a); err != nil {
							t.Fatal(err)
						}
						want, is := known[refOf(input, references, f.name, at)]
						if !is {
							want = annotated{ClusterSize: 1, Kept: true}
						}
						if a.String() != want.String() {
							t.Errorf("%s:%d: %v, want %v", f.name, at, a, want)
						}
					}
				}
				if rows != summary.Counts.Documents || summary.Counts.Removed == 0 {
					t.Errorf("%d records, counts %+v", rows, summary.Counts)
				}
			}
		})
	}
}

// refOf returns the ref of a document: with a reference of files of the same names it has the whole path.
func refOf(input string, references []string, name string, position int) string {
	if references != nil {
		name = filepath.Join(input, name)
	}
	return fmt.Sprintf("%s:%d", name, position)
}

// TestAnnotatedIsRefused: files that cannot be annotated are found before the job starts, or when they are met.
func TestAnnotatedIsRefused(t *testing.T) {
	all := articles(t)
	var columns bytes.Buffer
	if err := parquet.Write(&columns, []annotated{{ID: "x", Text: "y"}}); err != nil {
		t.Fatal(err)
	}
	many := strings.Repeat("{\"text\":\"some words and more\"}\n", 1200)
	for name, test := range map[string]struct{ content, want string }{
		"all.warc": {
			string(asFiles(t, all, "warc", "")["all.warc"]),
			"all.warc: records of the format warc have no fields",
		},
		"all.txt": {"some text", "records of the format text have no fields"},
		"a.jsonl": {
			"{\"text\":\"x\"}\n{\"text\":\"y\",\"k\\u0065pt\":1}\n",
			"a.jsonl: there is a field kept already",
		},
		"b.jsonl": {
			many + "{\"text\":\"y\",\"cluster_size\":{}}\n",
			fmt.Sprintf("b.jsonl:%d: the record has a field cluster_size already", len(many)),
		},
		"c.csv":     {"id,text,cluster\n1,x,2\n", "c.csv: there is a field cluster already"},
		"c.parquet": {columns.String(), "c.parquet: the file has a column cluster already"},
		"d.jsonl":   {"{\"text\":\"x\",\"in\":{\"kept\":1},\"list\":[{\"kept\":2}]}\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			if err := os.WriteFile(filepath.Join(folder, name), []byte(test.content), 0o666); err != nil {
				t.Fatal(err)
			}
			config := testConfig(t, folder)
			config.Emit = []string{output.Annotated}
			if name != "b.jsonl" {
				config.Temp = "/dev/null/none" // the job must not come so far
			}
			_, err := Run(t.Context(), config)
			if test.want == "" {
				if err == nil || errors.Is(err, ErrInput) {
					t.Errorf("%s: %v, want the fault of the temporary folder", name, err)
				}
				return
			}
			if !errors.Is(err, ErrInput) || !strings.Contains(fmt.Sprint(err), test.want) {
				t.Errorf("%s: %v, want %q", name, err, test.want)
			}
		})
	}
}
