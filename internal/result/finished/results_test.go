package finished

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/storage/storagetest"
	"mirrorbeam.dev/job"
)

// writeFolder writes results as a job does: two shards of pairs and one of
// clusters, over an input of the given lines.
func writeFolder(t *testing.T, format output.Format, input string) string {
	t.Helper()
	folder := t.TempDir()
	corpus := filepath.Join(t.TempDir(), "in.jsonl")
	write := func(path, content string) {
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write(corpus, input)
	var files []output.File
	pairs := []output.Pair{
		output.NewPair("a", `b "\ é`, output.Overlap{Shared: 3, Union: 4, SizeA: 3, SizeB: 4}),
		output.NewPair("é", "in.jsonl:0", output.Overlap{Identical: true}),
	}
	for i, pair := range pairs {
		files = append(files, writeShard(t, folder, output.ShardName(output.Pairs, i, 2, format), format, pair))
	}
	member := output.Member{ID: "a", Ref: "in.jsonl:9", Cluster: "a", Kept: true, Similarity: 1, Size: 2}
	files = append(files, writeShard(t, folder, output.ShardName(output.Clusters, 0, 1, format), format, member))
	config := job.Default()
	config.Input = []string{corpus}
	config.MaxDocument = 1 << 20
	config.Threshold = 0.75
	config.Emit = []string{output.Clusters, output.Pairs}
	for name, value := range map[string]any{
		"manifest.json": map[string]any{"files": files},
		"summary.json": Summary{
			Config: config,
			Totals: findings.Totals{Counts: findings.Counts{Documents: 7, Pairs: 2, Clusters: 1}},
		},
	} {
		b, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		write(filepath.Join(folder, name), string(b))
	}
	write(filepath.Join(folder, "_SUCCESS"), "")
	return folder
}

// writeShard writes a file of one row.
func writeShard[T output.Row](t *testing.T, folder, name string, format output.Format, row T) output.File {
	t.Helper()
	of, _, _ := strings.Cut(name, "-")
	w, err := output.NewRows[T](folder, output.File{Name: name, Output: of}, format, output.Names{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	if err := w.Write(row); err != nil {
		t.Fatal(err)
	}
	file, err := w.Close()
	if err == nil {
		err = os.Rename(filepath.Join(folder, file.Temporary), filepath.Join(folder, file.Name))
	}
	if err != nil {
		t.Fatal(err)
	}
	file.Temporary = ""
	return file
}

func TestReadsBackWhatIsWritten(t *testing.T) {
	for _, format := range output.Formats {
		path := writeFolder(t, format, "")
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if f.Summary.Counts.Documents != 7 || f.Summary.Config.Threshold != 0.75 || !f.Has(output.Pairs) ||
			f.Has("removed") {
			t.Errorf("%s: %+v", format, f)
		}
		var got []string
		for p, err := range Rows[output.Pair](t.Context(), f, output.Pairs) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprintf("%s|%s|%g|%v", p.A, p.B, p.Jaccard, p.Identical))
		}
		for m, err := range Rows[output.Member](t.Context(), f, output.Clusters) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprintf("%+v", m))
		}
		const want = `a|b "\ é|0.75|false; é|in.jsonl:0|1|true; {Cluster:a ID:a Ref:in.jsonl:9 URL: Date: Kept:true Similarity:1 Size:2 Least:0 Mean:0 Reference:false}`
		if rows := strings.Join(got, "; "); rows != want {
			t.Errorf("%s: %s, want %s", format, rows, want)
		}
	}
}

func TestOpenSaysWhatIsMissing(t *testing.T) {
	for _, c := range []struct {
		harm func(folder string) error
		want string
	}{
		{func(f string) error { return os.Remove(filepath.Join(f, "_SUCCESS")) }, "there is no _SUCCESS in it"},
		{func(f string) error { return os.Remove(filepath.Join(f, "manifest.json")) }, "manifest.json: no such file"},
		{
			func(f string) error { return os.WriteFile(filepath.Join(f, "summary.json"), []byte("{"), 0o666) },
			"are damaged, as a power cut leaves them: summary.json: unexpected end of JSON input: run the job",
		},
		{func(f string) error { return os.Remove(filepath.Join(f, "pairs-00001-of-00002.jsonl")) }, "not whole: stat "},
		{
			func(f string) error { return os.Truncate(filepath.Join(f, "pairs-00000-of-00002.jsonl"), 5) },
			"pairs-00000-of-00002.jsonl has 5 bytes and manifest.json says 93",
		},
		{os.RemoveAll, "there is no folder "},
	} {
		path := writeFolder(t, output.JSONL, "")
		if err := c.harm(path); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	path := writeFolder(t, output.JSONL, "")
	journal := filepath.Join(path, ".partial-run-ABCDEFGHIJKLMNOPQRSTUVWXYZ", "journal.json")
	if err := errors.Join(os.Mkdir(filepath.Dir(journal), 0o700), os.WriteFile(journal, nil, 0o600),
		os.Remove(filepath.Join(path, "_SUCCESS"))); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); err == nil ||
		!strings.Contains(err.Error(), "killed while it published them: run it again") {
		t.Errorf("half published: %v", err)
	}
	path = writeFolder(t, output.JSONL, "")
	if _, err := Open(filepath.Join(path, "_SUCCESS")); err == nil || !strings.Contains(err.Error(), "is no folder") {
		t.Errorf("a file: %v", err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Need("removed", output.Pairs); err != nil {
		t.Error(err)
	}
	if err := f.Need("removed", "unique"); err == nil ||
		!strings.Contains(err.Error(),
			"only clusters, pairs, and removed or unique is required: run it again with emit removed,unique") {
		t.Errorf("needs what is not there: %v", err)
	}
}

// TestOpenRefusesWhatIsNoFile: nobody writes to the pipe, so whoever waited for it
// would wait for ever.
func TestOpenRefusesWhatIsNoFile(t *testing.T) {
	for _, name := range []string{"manifest.json", "summary.json", "pairs-00001-of-00002.jsonl"} {
		for kind, put := range map[string]func(path string) error{
			"a pipe":   func(path string) error { return syscall.Mkfifo(path, 0o666) },
			"a folder": func(path string) error { return os.Mkdir(path, 0o777) },
			"a device": func(path string) error { return os.Symlink("/dev/zero", path) },
		} {
			folder := writeFolder(t, output.JSONL, "")
			path := filepath.Join(folder, name)
			if err := errors.Join(os.Remove(path), put(path)); err != nil {
				t.Fatal(err)
			}
			if _, err := Open(folder); err == nil || !strings.Contains(err.Error(), path+" is "+kind+" and no file") {
				t.Errorf("%s is %s: %v", name, kind, err)
			}
		}
	}
}

// TestTextsOfNamesThatAreNotUTF8: a document is found by what rows call it.
func TestTextsOfNamesThatAreNotUTF8(t *testing.T) {
	f, err := Open(writeFolder(t, output.JSONL,
		"{\"id\":\"\xff\",\"text\":\"one\"}\n{\"id\":\"\xfe\",\"text\":\"two\"}\n"))
	if err != nil {
		t.Fatal(err)
	}
	texts, err := f.Texts(t.Context(), []string{"\ufffdff", "\ufffdfe", "\ufffd"}, math.MaxInt)
	if want := map[string]string{"\ufffdff": "one", "\ufffdfe": "two"}; err != nil || !maps.Equal(texts, want) {
		t.Errorf("%q, %v, want %q", texts, err, want)
	}
}

func TestRowsThatAreNone(t *testing.T) {
	path := writeFolder(t, output.JSONL, "")
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(path, "pairs-00001-of-00002.jsonl")
	if err := os.WriteFile(name, []byte("{\"a\":\"x\",\"b\":\"y\",\"jaccard\":1}\n{\"a\":true}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	rows, last := 0, error(nil)
	for _, err := range Rows[output.Pair](t.Context(), f, output.Pairs) {
		rows, last = rows+1, err
	}
	if rows != 3 || last == nil || !strings.HasPrefix(last.Error(), name+":2 is no row of pairs: ") {
		t.Errorf("%d rows, then %v", rows, last)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range Rows[output.Member](cancelled, f, output.Clusters) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled context: %v", err)
		}
	}
}

func TestTexts(t *testing.T) {
	const input = `{"id":"a","text":"first"}
{"id":7,"text":"number"}
{"id":"twice","text":"x"}
{"id":"twice","text":"y"}
{"text":"nameless"}
no JSON
{"id":"last","text":"the end"}`
	path := writeFolder(t, output.JSONL, input)
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	nameless := fmt.Sprint("in.jsonl:", strings.Index(input, `{"text"`))
	names := []string{"a", "7", "twice", nameless, "last", "nobody", "in.jsonl:1"}
	texts, err := f.Texts(t.Context(), names, math.MaxInt)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"a": "first", "7": "number", nameless: "nameless", "last": "the end"}
	if fmt.Sprint(texts) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", texts, want)
	}

	f.Summary.Config.Weight = map[string]float64{"text": 1, "id": 2}
	if texts, err = f.Texts(t.Context(), []string{"a"}, math.MaxInt); err != nil || texts["a"] != "a\nfirst" {
		t.Errorf("of two fields: %q, %v", texts["a"], err)
	}
	// The same file as input and as reference is an error, as it is in a job.
	f.Summary.Config.Reference = f.Summary.Config.Input
	_, err = f.Texts(t.Context(), nil, math.MaxInt)
	if err == nil || !strings.Contains(err.Error(), "of reference are one file") {
		t.Errorf("with a reference: %v", err)
	}
	f.Summary.Config.Input = []string{filepath.Join(path, "gone.jsonl")}
	f.Summary.Config.Reference = nil
	_, err = f.Texts(t.Context(), nil, math.MaxInt)
	if err == nil || !strings.Contains(err.Error(), "no file matches") {
		t.Errorf("without its input: %v", err)
	}
	f.Summary.Config.Features = "features"
	_, err = f.Texts(t.Context(), nil, math.MaxInt)
	if err == nil || !strings.Contains(err.Error(), "features and no texts") {
		t.Errorf("of features: %v", err)
	}
}

// TestFind: every document of a name is found, and what is where.
func TestFind(t *testing.T) {
	const input = `{"id":"a","text":"first","lang":"en"}
{"id":"twice","text":"x"}
{"id":"twice","text":"y","lang":"de"}
`
	f, err := Open(writeFolder(t, output.JSONL, input))
	if err != nil {
		t.Fatal(err)
	}
	f.Summary.Config.Within = "lang"
	last := fmt.Sprint("in.jsonl:", strings.LastIndex(input, `{"id"`))
	find := func(areRefs bool, names ...string) string {
		var got []string
		err := f.Find(t.Context(), names, areRefs, func(d *Found) error {
			got = append(got, fmt.Sprintf("%s is %s at %s: %s %s", d.Name, d.ID, d.Ref, d.Text(1), d.Record.Others[0]))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(got, "; ")
	}
	for got, want := range map[string]string{
		find(false, "a", "nobody"): "a is a at in.jsonl:0: f en",
		find(false,
			"twice"): "twice is twice at in.jsonl:38: x ; twice is twice at " + last + ": y de",
		find(false, "in.jsonl:0", "a"):  "in.jsonl:0 is a at in.jsonl:0: f en; a is a at in.jsonl:0: f en",
		find(true, last, "other:0"):     last + " is twice at " + last + ": y de",
		find(true, "other.jsonl:0", ""): "",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestNaming: the rows of a name are those that a look at each row finds.
func TestNaming(t *testing.T) {
	for _, format := range output.Formats {
		f, err := Open(writeFolder(t, format, ""))
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]int{"a": 1, "in.jsonl:9": 1, "in.jsonl": 0, "": 0, "b": 0} {
			rows := 0
			for m, err := range f.MembersNaming(t.Context(), "x", name) {
				if rows++; err != nil || m.ID != "a" || m.Size != 2 {
					t.Errorf("%s: %+v, %v", format, m, err)
				}
			}
			if rows != want {
				t.Errorf("%s: %d rows of %q, want %d", format, rows, name, want)
			}
		}
		rows := 0
		for range f.ClusterRows(t.Context(), "a") {
			rows++
		}
		for range f.ClusterRows(t.Context(), "in.jsonl:9") {
			t.Error("a document is no cluster")
		}
		if rows != 1 {
			t.Errorf("%s: %d rows of the cluster", format, rows)
		}
	}
}

// TestOpenInBucket: in a bucket one listing tells whether all files are there in their full length.
func TestOpenInBucket(t *testing.T) {
	memory, folder := storagetest.NewMemory(t)
	local := writeFolder(t, output.JSONL, "")
	entries, err := os.ReadDir(local)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(local, entry.Name()))
		if err == nil {
			err = storage.WriteFile(storage.Join(folder, entry.Name()), content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	counts := map[string]int{}
	memory.Ask = func(operation, _ string) error {
		counts[operation]++
		return nil
	}
	if _, err := Open(folder + "/"); err != nil {
		t.Fatal(err)
	}
	if counts["list"] != 1 || counts["stat"] > 3 {
		t.Errorf("requests %v, want one listing and no more than three for the mark of success", counts)
	}
	memory.Ask = nil
	name := storage.Join(folder, "pairs-00000-of-00002.jsonl")
	if err := storage.WriteFile(name, []byte("short")); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(folder); err == nil || !strings.Contains(err.Error(), "has 5 bytes and manifest.json says") {
		t.Errorf("a file that is cut: %v", err)
	}
	if err := memory.Remove(name); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(folder); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is gone: %v", err)
	}
}
