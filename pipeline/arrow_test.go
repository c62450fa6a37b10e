package pipeline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/input/formats"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/job"
)

// arrowFiles are where pyarrow has written the rows of rows.json in several forms.
const arrowFiles = "../internal/input/arrowfile/testdata"

// readArrow returns a file of arrowFiles.
func readArrow(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(arrowFiles, name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// linesOfRows returns rows.json as lines of JSON.
func linesOfRows(t *testing.T) []byte {
	t.Helper()
	var rows []map[string][]string
	if err := json.Unmarshal(readArrow(t, "rows.json"), &rows); err != nil {
		t.Fatal(err)
	}
	var lines bytes.Buffer
	for _, row := range rows {
		object := map[string]any{}
		for _, field := range []string{"text", "lang"} {
			if len(row[field]) > 0 {
				object[field] = row[field][0]
			}
		}
		if len(row["id"]) > 0 {
			object["id"] = json.Number(row["id"][0])
		}
		line, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(line, '\n'))
	}
	return lines.Bytes()
}

// TestArrow: the documents of Arrow's files and streams, and of a data set that Hugging Face's library has saved, give
// the clusters that they give as lines of JSON, wherever they lie. What describes a data set is no document.
func TestArrow(t *testing.T) {
	run := func(t *testing.T, input string) (rows []string, counts string) {
		t.Helper()
		config := job.Default()
		config.Input = []string{input}
		config.Output = filepath.Join(t.TempDir(), "out")
		config.Shingle = 1
		config.Threshold = .6
		config.Within = "lang"
		config.Emit = []string{output.Clusters, output.Removed}
		summary, err := Run(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range storedRows[clusterRow](t, config.Output, output.Clusters) {
			rows = append(rows, fmt.Sprint(row.Kept, row.Similarity, row.Size, row.Mean))
		}
		slices.Sort(rows)
		return rows, fmt.Sprint(summary.Counts.Documents, summary.Counts.Rejected, summary.Counts.Kept,
			summary.Counts.IntegerIDs)
	}
	places := inPlaces(t)
	want, counts := run(t, places["disk"]("rows.jsonl", linesOfRows(t)))
	if len(want) < 20 {
		t.Fatalf("%d rows: %s", len(want), counts)
	}
	for place, put := range places {
		t.Run(place, func(t *testing.T) {
			inputs := map[string]string{}
			for _, name := range []string{"stream.arrow", "lz4.arrow", "zstd.arrow", "default.feather"} {
				inputs[name] = put(name, readArrow(t, name))
			}
			saved := put("saved/train/data-00000-of-00001.arrow", readArrow(t, "stream.arrow"))
			for _, name := range []string{
				"saved/dataset_dict.json", "saved/train/dataset_info.json",
				"saved/train/state.json",
			} {
				put(name, []byte(`{"splits": ["train"]}`))
			}
			if place != "https" {
				inputs["a data set"] = strings.TrimSuffix(saved, "/train/data-00000-of-00001.arrow")
			}
			for name, input := range inputs {
				got, counted := run(t, input)
				if !slices.Equal(got, want) || counted != counts {
					t.Errorf("%s from %s: %d rows, %s; want %d, %s", name, place, len(got), counted, len(want), counts)
				}
			}
		})
	}
}

// TestArrowIsCopied: unique, annotated and trimmed of files and streams of Arrow are of the same kind, with the rows
// that they have as lines of JSON. A format that they cannot have is refused.
func TestArrowIsCopied(t *testing.T) {
	t.Parallel()
	run := func(input string, format corpus.Format) (ids map[string][]string) {
		ids = map[string][]string{}
		for _, name := range output.Copies {
			config := job.Default()
			config.Input = []string{input}
			config.Output = filepath.Join(t.TempDir(), "out")
			config.Shingle = 1
			config.Threshold = .6
			config.Emit = []string{name}
			if name == output.Trimmed {
				config.PassageWords = 20
			}
			if _, err := Run(t.Context(), config); err != nil {
				t.Fatal(name, err)
			}
			copies, err := filepath.Glob(filepath.Join(config.Output, name+"-*"))
			if err != nil || len(copies) != 1 {
				t.Fatal(name, copies, err)
			}
			info, err := os.Stat(copies[0])
			if err != nil {
				t.Fatal(err)
			}
			wanted := corpus.Wanted{Fields: corpus.Fields{ID: "id", Texts: []string{"text"}}}
			file, decoder := corpus.File{Path: copies[0], Size: info.Size(), Format: format}, formats.NewDecoder(wanted)
			for batch, err := range formats.Batches(file, 0, corpus.Limits{Line: 1 << 20}, wanted) {
				if err != nil {
					t.Fatal(name, err)
				}
				for position, record := range batch.Records() {
					if document, err := decoder.Decode(&file, &batch, position, record); err == nil {
						ids[name] = append(ids[name], string(document.ID)+" "+string(document.Texts[0]))
					}
				}
			}
		}
		return ids
	}
	folder := t.TempDir()
	want := run(put(t, filepath.Join(folder, "in.jsonl"), linesOfRows(t), plain), corpus.JSONLines)
	for _, name := range []string{"stream.arrow", "zstd.arrow", "default.feather"} {
		if diff := cmp.Diff(want,
			run(put(t, filepath.Join(folder, name), readArrow(t, name), plain), corpus.Arrow)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	config := job.Default()
	config.Input, config.Output = []string{filepath.Join(folder, "stream.arrow")}, filepath.Join(folder, "out")
	config.Emit, config.OutputFormat = []string{output.Unique}, output.Parquet
	if _, err := Run(t.Context(), config); !errors.Is(err, failure.Input) ||
		!strings.Contains(err.Error(), "output_format parquet: unique has the records") {
		t.Errorf("rows of Arrow as Parquet: %v", err)
	}
}

// TestDamagedArrow: what is damaged of a batch is a reject, and the batches behind it are read and copied. Of a file
// that is cut short, a reject says where.
func TestDamagedArrow(t *testing.T) {
	t.Parallel()
	content := readArrow(t, "stream.arrow")
	hurt := bytes.Clone(content)
	text := bytes.Index(hurt, []byte("text number 0 "))
	copy(hurt[text-8:], "\xff\xff\xff\xff\xff\xff\xff\xff") // of the last offset
	for name, test := range map[string]struct {
		content   []byte
		documents int64
		rejects   int64
	}{
		"whole": {content, 91, 9}, "a row": {hurt, 90, 10}, "cut": {content[:len(content)-100], 73, 9},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			config := job.Default()
			config.Input, config.Output = []string{filepath.Join(folder, "in.arrow")}, filepath.Join(folder, "out")
			config.Emit = []string{output.Annotated}
			if err := os.WriteFile(config.Input[0], test.content, 0o600); err != nil {
				t.Fatal(err)
			}
			summary, err := Run(t.Context(), config)
			if err != nil || summary.Counts.Documents != test.documents || summary.Counts.Rejected != test.rejects {
				t.Errorf("%s: %+v, %v", name, summary.Counts, err)
			}
		})
	}
}
