package transforms

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/klauspost/compress/zstd"

	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/input/listing"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/result/write"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/storage/storagetest"
	"mirrorbeam.dev/internal/util/racetest"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/job"
)

// newConfig is a job by exact keys over a file of some lines, with the outputs that are named.
func newConfig(t *testing.T, lines string, outputs ...string) job.Config {
	t.Helper()
	config := job.Default()
	config.Input, config.Output = []string{filepath.Join(t.TempDir(), "in.jsonl")}, "out"
	config.Keys, config.Audit, config.Emit = methods.Exact, "off", outputs
	if err := os.WriteFile(config.Input[0], []byte(lines), 0o666); err != nil {
		t.Fatal(err)
	}
	return config
}

// runIn runs the graph of a job, with temporary files and results in a folder of any storage. SplitBytes are the bytes
// of a split; 0: as many as usual. Changes are made to the parameters of the stages.
func runIn(t *testing.T, config job.Config, folder string, splitBytes int64,
	changes ...func(*Job),
) (result write.Result, size int64, err error) {
	t.Helper()
	inputs, size, err := listing.Inputs(t.Context(), &config)
	if err != nil {
		t.Fatal(err)
	}
	if splitBytes > 0 {
		inputs.Splits = corpus.Splits(inputs.Files, splitBytes)
	}
	scheme, err := config.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	if err := documents.WriteInputs(InputsPath(folder), inputs); err != nil {
		return write.Result{}, 0, err
	}
	p, s := beam.NewPipelineWithRoot()
	made := NewJob(&config, Extent{Scheme: scheme, Bytes: size, Splits: len(inputs.Splits)}).In(folder, folder)
	for _, change := range changes {
		change(made)
	}
	LayOut(s, made)
	if _, err := beam.Run(t.Context(), job.LocalRunner, p); err != nil {
		return write.Result{}, 0, err
	}
	result, err = write.ReadResult(folder)
	return result, size, err
}

// TestJobWithoutRoom: when its storage is full, a job fails for that reason, at any point of its work.
func TestJobWithoutRoom(t *testing.T) {
	if racetest.On {
		t.Skip("the job fails, and Beam's harness has a race of its own then")
	}
	var lines strings.Builder
	for _, d := range handedOver() {
		fmt.Fprintf(&lines, "{\"text\":%q}\n", d.Text)
	}
	config := newConfig(t, lines.String(), output.Clusters, output.Pairs, output.Removed, output.Unique)
	all := int64(1 << 30)
	for _, quarter := range []int64{4, 0, 1, 2, 3} { // the first run has room for all
		m, folder := storagetest.NewMemory(t)
		room := 1 + all*quarter/4
		var writes atomic.Int64
		m.Ask = func(operation, _ string) error {
			if operation == "commit" && writes.Add(1) > room {
				return syscall.ENOSPC
			}
			return nil
		}
		_, _, err := runIn(t, config, folder, 1<<13)
		if quarter == 4 {
			if all = writes.Load(); err != nil || all < 20 {
				t.Fatalf("%d files (%v)", all, err)
			}
			continue
		}
		if err != nil {
			err = failure.OfTask(&config, err)
		}
		if !errors.Is(err, failure.Storage) || !strings.Contains(fmt.Sprint(err), "memory") {
			t.Errorf("room for %d of %d files: %v", room, all, err)
		}
	}
}

// TestBlockShare holds the share of the blocks against the temporary files of a job, plain and compressed.
func TestBlockShare(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 1))
	var lines strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&lines, `{"id":"%d","text":"`, i)
		for range 80 {
			fmt.Fprintf(&lines, "word%d ", random.IntN(600))
		}
		lines.WriteString("\"}\n")
	}
	for _, ending := range []string{"", ".zst"} {
		config := newConfig(t, lines.String(), output.Clusters)
		if ending != "" {
			encoder, err := zstd.NewWriter(nil)
			if err != nil {
				t.Fatal(err)
			}
			config.Input[0] += ending
			if err := os.WriteFile(config.Input[0], encoder.EncodeAll([]byte(lines.String()), nil), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		inputs, size, err := listing.Inputs(t.Context(), &config)
		if err != nil {
			t.Fatal(err)
		}
		share := func(config job.Config) float64 {
			j := NewJob(&config, Extent{Bytes: size, Splits: len(inputs.Splits)})
			share, err := j.Fingerprinting.BlockShare(t.Context(), &inputs)
			if err != nil {
				t.Error(err)
			}
			return share
		}
		usual := share(config)
		// Fields that say more of a document change nothing.
		more := config
		more.Within, more.SourceField, more.Keep, more.Emit = "lang", "site", "max:score", []string{output.Mirrors}
		if again := share(more); again != usual {
			t.Errorf("%s: with fields %g, want %g", ending, again, usual)
		}
		folder := t.TempDir()
		result, _, err := runIn(t, config, folder, 0)
		if err != nil {
			t.Fatal(err)
		}
		if took := float64(work.TempBytes(folder)) / float64(result.Counts.Bytes); took < usual/2 || took > 2*usual {
			t.Errorf("%s: the blocks are estimated at %g bytes for a byte of input, the job took %g", ending, usual,
				took)
		}
		if least, text := inputs.LeastTextBytes(),
			inputs.TextBytes(); ending == "" && least != text || ending != "" && least != text/2 {
			t.Errorf("%s: %d bytes at least, %d as usual", ending, least, text)
		}
		if inputs.Splits = nil; share(config) != 0 {
			t.Error("nothing has blocks")
		}
	}
}

// TestOutputShards has more documents than fit into one shard: each has a duplicate far behind it. Shards hold whole
// clusters, in order, and nearly the same number of rows. It is the same if many tasks join the parts of the graph.
func TestOutputShards(t *testing.T) {
	for _, ranges := range []int{0, 6} {
		t.Run(fmt.Sprint(ranges, " ranges"), func(t *testing.T) {
			if testing.Short() && ranges > 0 {
				t.Skip("hundred thousand documents again")
			}
			checkOutputShards(t, func(j *Job) { j.JoinRanges = ranges })
		})
	}
}

func checkOutputShards(t *testing.T, change func(*Job)) {
	const duplicates = 50_100
	var lines strings.Builder
	for i := range 2 * duplicates {
		fmt.Fprintf(&lines, "{\"id\":%d,\"text\":\"number %d\"}\n", i, i%duplicates)
	}
	config, folder := newConfig(t, lines.String(), output.Clusters, output.Pairs, output.Removed), t.TempDir()
	result, _, err := runIn(t, config, folder, 1<<19, change)
	if n := result.Counts; err != nil || n.Documents != 2*duplicates || n.Clusters != duplicates ||
		n.Pairs != duplicates || n.Removed != duplicates {
		t.Errorf("counts %+v (%v)", n, err)
	}
	rows := map[string][]byte{}
	for _, f := range result.Files {
		content, err := storage.ReadFile(filepath.Join(folder, f.Temporary))
		if err != nil {
			t.Fatal(err)
		}
		rows[f.Output] = append(rows[f.Output], content...)
		if want := int64(duplicates / 2); f.Output == output.Clusters && f.Rows != 2*want ||
			f.Output != output.Clusters && f.Rows != want && f.Rows > 0 {
			t.Errorf("%s has %d rows", f.Name, f.Rows)
		}
	}
	for i, row := range parse(t, rows[output.Clusters], func(*output.Member) {}) {
		id := i/2 + i%2*duplicates
		want := output.Member{
			Cluster:    fmt.Sprint(i / 2),
			ID:         fmt.Sprint(id),
			Ref:        row.Ref,
			Kept:       i%2 == 0,
			Similarity: 1,
			Size:       2,
			Least:      1,
			Mean:       1,
		}
		if row != want {
			t.Fatalf("row %d is %+v, want %+v", i, row, want)
		}
	}
	for i, row := range parse(t, rows[output.Pairs], func(*output.Pair) {}) {
		if row.A != fmt.Sprint(i) || row.B != fmt.Sprint(i+duplicates) || !row.Identical {
			t.Fatalf("pair %d is %+v", i, row)
		}
	}
}

// TestTemplatePages runs on 20,000 pages of one template, far more than are compared with each other. The clusters are
// still right, the skipped pairs are counted, and an example is named.
func TestTemplatePages(t *testing.T) {
	if testing.Short() {
		t.Skip("20,000 documents take some seconds")
	}
	const pages = 20_000
	for _, c := range []struct {
		name           string
		common, shared int // number of words common to all pages, and to those of a variant
		variants       int64
		pairs          float64 // the least share of all pairs that must be listed
		keys           methods.Name
	}{
		{"one heap", 120, 0, 1, 0, methods.MinHash},
		{"variants", 60, 60, 100, 0.99, methods.MinHash},
		{"one heap", 120, 0, 1, 0, methods.Exact},
		{"variants", 60, 60, 100, 1, methods.Exact},
	} {
		t.Run(fmt.Sprintf("%s by %s keys", c.name, c.keys), func(t *testing.T) {
			random := rand.New(rand.NewPCG(81, 1))
			words := func(n int) string {
				var b strings.Builder
				for range n {
					fmt.Fprintf(&b, "w%d ", random.IntN(600))
				}
				return b.String()
			}
			common, variants := words(c.common), []string{}
			for range c.variants {
				variants = append(variants, words(c.shared))
			}
			var lines strings.Builder
			for i := range pages {
				fmt.Fprintf(&lines, "{\"id\":\"%d\",\"text\":%q}\n", i, common+variants[i%len(variants)]+words(6))
			}
			config := newConfig(t, lines.String(), output.Clusters)
			config.Keys = c.keys
			result, _, err := runIn(t, config, t.TempDir(), 0)
			if err != nil {
				t.Fatal(err)
			}
			n := result.Counts
			if c.variants == 1 && (result.Skipped.Pairs == 0 || result.Skipped.Example == nil) {
				t.Errorf("skipped %+v: there are too many pairs for all", result.Skipped)
			}
			if n.Clusters != c.variants || n.Clustered < pages-5 {
				t.Errorf("%d documents in %d clusters, want %d in %d", n.Clustered, n.Clusters, pages, c.variants)
			}
			perVariant := pages / c.variants
			if all := float64(c.variants * perVariant * (perVariant - 1) / 2); float64(n.Pairs) < c.pairs*all {
				t.Errorf("%d pairs of %.0f are listed, want a share of %g", n.Pairs, all, c.pairs)
			}
		})
	}
}
