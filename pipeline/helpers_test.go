package pipeline

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/result/workspace"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/storage/storagetest"
	"mirrorbeam.dev/internal/util/racetest"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/pipeline/workerpool"
)

// workerUmask is set in worker processes only, so that their files differ from files of the test's own process.
const (
	workerUmask = 0o062
	workerMode  = 0o666 &^ workerUmask
)

// pooled makes this process a worker of a pool. It holds the id of the worker and the addresses that it works for.
var pooled = flag.String("pooled", "", "work for a pool")

// TestMain starts Beam, which never returns if this binary runs as a worker of its own. A worker of a pool does not
// know the folder in which the driver works.
func TestMain(m *testing.M) {
	flag.Parse()
	err := storagetest.FoldersInMemory()
	if *pooled != "" || flag.Lookup("worker").Value.String() == "true" {
		syscall.Umask(workerUmask)
	}
	beam.Init()
	// What Beam logs as errors comes back from Run, too.
	slog.SetDefault(slog.New(slog.DiscardHandler))
	if e := strings.Split(*pooled, " "); len(e) == 4 {
		err = errors.Join(err, os.Chdir("/"), workerpool.Work(context.Background(), workerpool.Endpoints{
			ID:        e[0],
			Control:   e[1],
			Logging:   e[2],
			Provision: e[3],
		}, os.Stdin))
		if err != nil {
			panic(err)
		}
		return
	}
	cache, made := os.MkdirTemp("", "cache")
	if err = errors.Join(err, made, os.Setenv("XDG_CACHE_HOME", cache)); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(cache)
	os.Exit(code)
}

// testConfig is a job with the defaults, except that no pair may be missed and all outputs are written.
func testConfig(t testing.TB, input ...string) job.Config {
	config := job.Default()
	config.Input, config.Output = input, filepath.Join(t.TempDir(), "out")
	config.Keys = methods.Exact
	config.Emit = []string{output.Clusters, output.Pairs, output.Unique, output.Removed}
	return config
}

// byKeys returns the configuration with other keys.
func byKeys(config job.Config, keys methods.Name) job.Config {
	config.Keys = keys
	return config
}

// runJob runs a job that must succeed and leave nothing but its results.
func runJob(t testing.TB, config job.Config) Summary {
	t.Helper()
	summary, err := Run(context.Background(), config)
	if err != nil {
		t.Fatalf("run: %v", err)
	}
	checkNoLeftovers(t, config)
	for _, name := range []string{workspace.SuccessName, workspace.SummaryName, workspace.ManifestName} {
		if _, err := os.Stat(filepath.Join(config.Output, name)); err != nil {
			t.Errorf("after success: %v", err)
		}
	}
	return summary
}

// checkNoLeftovers fails if a run has left folders of its own.
func checkNoLeftovers(t testing.TB, config job.Config) {
	t.Helper()
	temp := config.Temp
	if temp == "" {
		temp = config.Output + ".temp"
		if _, err := os.Stat(temp); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the temporary folder is still there (%v)", err)
		}
	}
	for _, pattern := range []string{filepath.Join(temp, "run-*"), filepath.Join(config.Output, ".partial-*")} {
		if left, _ := filepath.Glob(pattern); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

// The rows of the outputs.
type (
	pairRow struct {
		A            string  `json:"a"`
		B            string  `json:"b"`
		Jaccard      float64 `json:"jaccard"`
		ContainmentA float64 `json:"containment_a"`
		ContainmentB float64 `json:"containment_b"`
		Exact        bool    `json:"exact"`
		Identical    bool    `json:"identical"`
		Hamming      int     `json:"hamming"`
		Cosine       float64 `json:"cosine"`
	}
	clusterRow  = output.Member
	removedRow  = output.Removal
	rejectedRow = output.Reject
)

// readOutput returns the uncompressed bytes of all files of an output, in the order of their names.
func readOutput(t testing.TB, dir, name string) []byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, name+"-[0-9]*-of-[0-9]*.jsonl*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no %s in %s (%v)", name, dir, err)
	}
	slices.Sort(files)
	var all []byte
	for _, file := range files {
		all = append(all, readFile(t, file)...)
	}
	return all
}

// readFile returns the decoded content of a file.
func readFile(t testing.TB, path string) []byte {
	t.Helper()
	return decoded(t, path, path)
}

// decoded returns the content of a file that is compressed as a name says.
func decoded(t testing.TB, path, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(name, ".gz") && !strings.HasSuffix(name, ".zst") {
		return content
	}
	return unpressed(t, content)
}

// readRows decodes the rows of an output. It refuses unknown fields.
func readRows[Row any](t testing.TB, dir, name string) []Row {
	t.Helper()
	return decodeRows[Row](t, name, readOutput(t, dir, name))
}

func decodeRows[Row any](t testing.TB, name string, b []byte) []Row {
	t.Helper()
	var rows []Row
	for line := range bytes.Lines(b) {
		var row Row
		decoder := json.NewDecoder(bytes.NewReader(line))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&row); err != nil || line[len(line)-1] != '\n' {
			t.Fatalf("row of %s: %v: %q", name, err, line)
		}
		rows = append(rows, row)
	}
	return rows
}

// lawful returns the bytes that must not depend on how a job is run.
func lawful(t testing.TB, dir string) string {
	t.Helper()
	return "clusters\n" + string(readOutput(t, dir, output.Clusters)) + "pairs\n" +
		string(readOutput(t, dir, output.Pairs))
}

// sameText fails with the first line in which two texts differ.
func sameText(t testing.TB, what, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	gots, wants := strings.Split(got, "\n"), strings.Split(want, "\n")
	i := 0
	for i < len(gots)-1 && i < len(wants)-1 && gots[i] == wants[i] {
		i++
	}
	t.Errorf("%s: %d lines, want %d; line %d differs:\n got %s\nwant %s", what, len(gots), len(wants), i+1, gots[i],
		wants[i])
}

// sameRows fails with the first row in which two lists differ.
func sameRows[Row comparable](t testing.TB, what string, got, want []Row) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d rows, want %d", what, len(got), len(want))
	}
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Errorf("%s: row %d is\n%+v, want\n%+v", what, i, got[i], want[i])
			return
		}
	}
}

// tree lists the files below a folder with their content.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		files[name] = string(b)
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return files
}

// compression is how a test writes its input.
type compression string

const (
	plain   compression = ""
	gzipped compression = ".gz"
	zstded  compression = ".zst"
)

// put writes a file, and the folders it needs, and returns its path.
func put(t testing.TB, path string, content []byte, how compression) string {
	t.Helper()
	path += string(how)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, press(t, string(how), content), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// file is an input file of a test: its name below the input folder, and lines.
type file struct {
	name  string
	lines []line
}

// content returns the bytes of the file.
func (f file) content() []byte {
	var b []byte
	for _, l := range f.lines {
		b = append(append(b, l.raw...), '\n')
	}
	return b
}

// putCorpus writes files to a folder of the test's own and returns it.
func putCorpus(t testing.TB, how compression, files ...file) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "corpus")
	for _, f := range files {
		put(t, filepath.Join(dir, filepath.FromSlash(f.name)), f.content(), how)
	}
	return dir
}

// cut spreads lines over n files, whose names sort in the order of the lines.
// The last one is in a folder of its own.
func cut(lines []line, n int) []file {
	names := []string{"a.jsonl", "b.ndjson", "c.json", "d/e.jsonl"}[4-n:]
	files := make([]file, n)
	for i, name := range names {
		files[i] = file{name, lines[len(lines)*i/n : len(lines)*(i+1)/n]}
	}
	return files
}

// failing marks a test whose job fails or is cancelled. Beam's harness then closes a channel on which it may still
// send. The race detector reports that as ours, so these tests run only without it.
func failing(t *testing.T) {
	if racetest.On {
		t.Skip("the job fails, and Beam's harness has a race of its own then")
	}
}

// copyOf copies a folder, and returns the path of the copy.
func copyOf(t *testing.T, folder string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(path, os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	return path
}
