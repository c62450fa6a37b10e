package pipeline

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/ground/checksum"
	"mirrorbeam/internal/ground/corporatest"
	"mirrorbeam/internal/look/query"
	"mirrorbeam/internal/settle/index"
	"mirrorbeam/internal/start/workspace"
	"mirrorbeam/job"
	"mirrorbeam/sketch"
)

type matchRow struct {
	ID           string  `json:"id"`
	Ref          string  `json:"ref"`
	Match        string  `json:"match"`
	MatchRef     string  `json:"match_ref"`
	Jaccard      float64 `json:"jaccard"`
	ContainmentA float64 `json:"containment_a"`
	ContainmentB float64 `json:"containment_b"`
	Hamming      int     `json:"hamming"`
	Cosine       float64 `json:"cosine"`
	Identical    bool    `json:"identical"`
	Reference    bool    `json:"reference"`
}

// runIndex runs a job that writes an index and opens it.
func runIndex(t testing.TB, config job.Config) *query.Index {
	t.Helper()
	config.Emit = []string{output.Index}
	runJob(t, config)
	x, err := query.Open(config.Output)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return x
}

// indexPath returns the one file of the index in the output folder.
func indexPath(t testing.TB, config job.Config) string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(config.Output, output.Index+"-*"))
	if err != nil || len(paths) != 1 {
		t.Fatalf("files of an index: %q (%v), want one", paths, err)
	}
	return paths[0]
}

// runQuery returns the matches of a query that must succeed.
func runQuery(t testing.TB, x *query.Index, q query.Request) ([]matchRow, query.Counts) {
	t.Helper()
	var out bytes.Buffer
	counts, err := x.Answer(context.Background(), q, &out)
	if err != nil {
		t.Fatal(err)
	}
	rows := decodeRows[matchRow](t, "matches", out.Bytes())
	if counts.Matches != int64(len(rows)) {
		t.Errorf("%d matches are counted, there are %d", counts.Matches, len(rows))
	}
	return rows, counts
}

// matchRows returns the expected answer to a query of all documents.
func (tr *truth) matchRows(threshold float64) (rows []matchRow) {
	for i := range tr.documents {
		a := &tr.documents[i]
		start := len(rows)
		for j := range tr.documents {
			b, jaccard := &tr.documents[j], tr.likeness(i, j)
			if jaccard < threshold {
				continue
			}
			row := matchRow{
				ID: tr.id(i), Ref: a.ref, Match: tr.id(j), MatchRef: b.ref, Jaccard: jaccard,
				ContainmentA: 1, ContainmentB: 1, Identical: jaccard == 1, Reference: j < tr.references,
			}
			if jaccard < 1 {
				shared := float64(tr.shared[max(i, j)][min(i, j)])
				row.ContainmentA, row.ContainmentB = shared/float64(len(a.set)), shared/float64(len(b.set))
			}
			rows = append(rows, row)
		}
		slices.SortStableFunc(rows[start:], func(x, y matchRow) int { return int(1e6*y.Jaccard) - int(1e6*x.Jaccard) })
	}
	return rows
}

// TestQueryFindsAllDocuments looks for all documents of a corpus with everything unusual in its own index, at the
// threshold of the index and above.
func TestQueryFindsAllDocuments(t *testing.T) {
	files, reference := cut(oddities(81), 3), file{"reference.jsonl", oddities(82)[:150]}
	input, known := putCorpus(t, plain, files...), putCorpus(t, plain, reference)
	tr := naiveTruth(3, true, append([]file{reference}, files...)...)
	for range reference.lines {
		if tr.references < len(tr.documents) && strings.HasPrefix(tr.documents[tr.references].ref, reference.name) {
			tr.references++
		}
	}
	for _, threshold := range []float64{1e-300, 0.2, 0.5, 0.8} {
		config := testConfig(t, input)
		config.Reference, config.Threshold = []string{known}, threshold
		x := runIndex(t, config)
		for _, asked := range []float64{0, 0.5, 0.9, 1} {
			if asked > 0 && asked < threshold {
				continue
			}
			want := tr.matchRows(max(asked, threshold))
			rows, counts := runQuery(t, x, query.Request{Input: []string{known}, Threshold: asked})
			more, others := runQuery(t, x, query.Request{Input: []string{input}, Threshold: asked})
			sameRows(t, fmt.Sprintf("index of %g, asked for %g", threshold, asked), append(rows, more...), want)
			if got := counts.Documents + others.Documents; got != int64(len(tr.documents)) {
				t.Errorf("%d documents were looked for, want %d", got, len(tr.documents))
			}
			if got := counts.Rejected + others.Rejected; got != int64(len(tr.rejects)) || !strings.Contains(counts.FirstReject, tr.rejects[0].File) {
				t.Errorf("%d records were rejected, the first %q, want %d", got, counts.FirstReject, len(tr.rejects))
			}
		}
	}
}

// TestQueryOfStream asks the standard input, line by line, for the best match.
func TestQueryOfStream(t *testing.T) {
	files := cut(synthetic(83), 2)
	x := runIndex(t, testConfig(t, putCorpus(t, plain, files...)))
	in, lines := io.Pipe()
	answers, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		_, err := x.Answer(context.Background(), query.Request{Input: []string{"-"}, Stdin: in, Top: 1}, out)
		done <- errors.Join(err, out.Close())
	}()
	position := 0
	for _, l := range files[0].lines[:20] {
		if _, err := io.WriteString(lines, l.raw+"\n"); err != nil {
			t.Fatal(err)
		}
		answer := make([]byte, 4096)
		n, err := answers.Read(answer)
		if err != nil {
			t.Fatal(err)
		}
		rows := decodeRows[matchRow](t, "matches", answer[:n])
		if want := fmt.Sprintf("-:%d", position); len(rows) != 1 || rows[0].Jaccard != 1 || rows[0].Ref != want {
			t.Errorf("%s: %+v, want one match with itself, of %s", l.id, rows, want)
		}
		position += len(l.raw) + 1
	}
	lines.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestQueryOfStreamIsThatOfFile: a file and the standard input are read alike, with everything unusual: a byte order
// mark, lines that are too long, no line feed at the end.
func TestQueryOfStreamIsThatOfFile(t *testing.T) {
	config := testConfig(t, put(t, filepath.Join(t.TempDir(), "known.jsonl"), []byte(`{"id":"known","text":"one two three four"}`), plain))
	config.MaxDocument = 1000
	x := runIndex(t, config)
	known := `{"id":"asked","text":"One two, three four!"}`
	for _, content := range []string{
		"",
		"\n",
		"\xef\xbb\xbf",
		"\xef\xbb\xbf" + known + "\n",
		known + "\n" + strings.Repeat("x", 3<<20) + "\n" + known,
		strings.Repeat("x", 3<<20) + "\r\n" + strings.Repeat("y", 2<<20) + "\n" + known + "\n\n",
		known + "\n" + strings.Repeat("x", 3<<20),
	} {
		of := func(q query.Request) (string, query.Counts, error) {
			var out strings.Builder
			counts, err := x.Answer(context.Background(), q, &out)
			return strings.ReplaceAll(out.String(), "asked.jsonl:", "-:"), counts, err
		}
		fromFile, inFile, err := of(query.Request{Input: []string{put(t, filepath.Join(t.TempDir(), "asked.jsonl"), []byte(content), plain)}})
		if err != nil {
			t.Fatal(err)
		}
		inFile.FirstReject = strings.ReplaceAll(inFile.FirstReject, "asked.jsonl:", "-:")
		if got, counts, err := of(query.Request{Input: []string{"-"}, Stdin: strings.NewReader(content)}); err != nil || got != fromFile || counts != inFile {
			t.Errorf("%.60q: %+v %v\n%s\nin a file %+v\n%s", content, counts, err, got, inFile, fromFile)
		}
	}
}

// TestQueryOfCorpora compares the answers for all documents of real corpora with all pairs that an independent program
// found.
func TestQueryOfCorpora(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("real corpora take a minute")
	}
	for _, c := range []struct {
		corpus, pairs string
		cjk           bool
	}{
		{"licenses/all.jsonl.zst", "licenses/exact_w3_j0.5.tsv.zst", false},
		{"tang/tang.jsonl.zst", "tang/exact_w3cjk_j0.5.tsv.zst", true},
	} {
		t.Run(filepath.Dir(c.corpus), func(t *testing.T) {
			input := corporatest.Path(t, c.corpus)
			config := testConfig(t, input)
			config.Threshold, config.Tokens, config.Audit = 0.5, measureOf(c.cjk), "off"
			x := runIndex(t, config)
			want := map[string]float64{}
			for _, pair := range readTruePairs(t, corporatest.Path(t, c.pairs)) {
				want[min(pair.a, pair.b)+"\t"+max(pair.a, pair.b)] = pair.jaccard
			}
			rows, _ := runQuery(t, x, query.Request{Input: []string{input}})
			times := map[string]int{}
			for _, row := range rows {
				if row.ID == row.Match {
					continue
				}
				pair := min(row.ID, row.Match) + "\t" + max(row.ID, row.Match)
				times[pair]++
				// The truth has five digits, and no documents without words.
				jaccard, found := want[pair]
				if difference := jaccard - row.Jaccard; (!found && row.ContainmentA > 0 && !row.Identical) || found && (difference > 1e-5 || difference < -1e-5) {
					t.Fatalf("%+v; the truth has %g", row, jaccard)
				}
			}
			for pair := range want {
				if times[pair] != 2 {
					t.Fatalf("%s is found %d times, want once from each side", pair, times[pair])
				}
			}
			t.Logf("%d pairs, each found from both sides", len(want))
		})
	}
}

// TestOpenIndexSaysWhatIsWrong opens folders with no index, or with a bad one.
func TestOpenIndexSaysWhatIsWrong(t *testing.T) {
	config := testConfig(t, putCorpus(t, plain, cut(synthetic(84), 2)...))
	runIndex(t, config)
	path := indexPath(t, config)
	good := readFile(t, path)
	refused := func(want string) {
		t.Helper()
		x, err := query.Open(config.Output)
		if err == nil {
			x.Close()
		}
		if err == nil || !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error of the input about %q", err, want)
		}
	}
	rewrite := func(content []byte) {
		t.Helper()
		os.Remove(path) // a mapped file stays as it is
		put(t, path, content, plain)
	}
	for _, at := range []int{len(good) - 1, len(good) - 20, len(good) / 2, len(good) * 3 / 4} {
		bad := bytes.Clone(good)
		bad[at] ^= 4
		rewrite(bad)
		x, err := query.Open(config.Output)
		if err == nil {
			// The damage is in a set, so it is found when the set is read.
			_, err = x.Answer(context.Background(), query.Request{Input: config.Input}, io.Discard)
			x.Close()
		}
		if err == nil || !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), "run the job again") {
			t.Errorf("with another byte %d of %d: %v", at, len(good), err)
		}
	}
	for _, version := range [][2]string{{fmt.Sprintf(`"sketch":%d`, sketch.Version), `"sketch":1`}, {`"unicode":"1`, `"unicode":"2`}} {
		rewrite(reseal(t, good, version[0], version[1]))
		refused("made with version")
	}
	rewrite(good[:len(good)-100])
	refused("not whole")
	rewrite(good)
	summary := filepath.Join(config.Output, workspace.SummaryName)
	told := readFile(t, summary)
	for _, other := range []string{`"seed": 7`, `"shingle": 2`, `"threshold": 0.1`} {
		name, _, _ := strings.Cut(other, ":")
		changed := regexp.MustCompile(name+`: [0-9.]+`).ReplaceAll(told, []byte(other))
		if bytes.Equal(changed, told) {
			t.Fatalf("%s is not in the summary", name)
		}
		os.Remove(summary)
		put(t, summary, changed, plain)
		refused("other choices")
	}
	os.Remove(summary)
	put(t, summary, told, plain)
	os.Remove(filepath.Join(config.Output, workspace.SuccessName))
	refused("_SUCCESS")

	config = testConfig(t, config.Input...)
	runJob(t, config)
	refused("emit index")
	config.Output = filepath.Join(t.TempDir(), "nowhere")
	refused("there is no folder")
}

// reseal changes the header of an index and corrects its checksum.
func reseal(t *testing.T, file []byte, before, after string) []byte {
	t.Helper()
	footer := len(file) - 20
	start := footer - int(binary.LittleEndian.Uint64(file[footer:]))
	header := bytes.Replace(file[start:footer], []byte(before), []byte(after), 1)
	if bytes.Equal(header, file[start:footer]) || len(before) != len(after) {
		t.Fatalf("the header has no %s: %s", before, header)
	}
	changed := append(bytes.Clone(file[:start]), header...)
	changed = append(changed, file[footer:footer+8]...)
	changed = binary.LittleEndian.AppendUint32(changed, checksum.Of(header))
	return append(changed, file[footer+12:]...)
}

// TestQueryOfDamagedSet looks for a copy of a document whose set in the index is
// damaged.
func TestQueryOfDamagedSet(t *testing.T) {
	config := testConfig(t, putCorpus(t, plain, cut(synthetic(85), 2)...))
	runIndex(t, config)
	path := indexPath(t, config)
	bad := readFile(t, path)
	header, _, err := index.Open(bad)
	if err != nil {
		t.Fatal(err)
	}
	elements := header.Segments[0].Columns[0]
	for at := elements.Offset + 4; at < elements.Offset+elements.Length; at += 12 {
		bad[at] ^= 1
	}
	os.Remove(path)
	put(t, path, bad, plain)
	x, err := query.Open(config.Output)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	_, err = x.Answer(context.Background(), query.Request{Input: config.Input}, io.Discard)
	if err == nil || !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), "are damaged: run the job again") {
		t.Errorf("a query that reads damaged sets: %v", err)
	}
}

func TestQuerySaysWhatIsWrong(t *testing.T) {
	config := testConfig(t, putCorpus(t, plain, cut(synthetic(86), 2)...))
	x := runIndex(t, config)
	rejects := put(t, filepath.Join(t.TempDir(), "bad.jsonl"), []byte("{\n[]\n"), plain)
	for _, c := range []struct {
		query query.Request
		kind  error
		want  string
	}{
		{query.Request{Input: config.Input, Threshold: 0.7}, ErrUsage, "threshold 0.7: the index was made for 0.8"},
		{query.Request{Input: []string{"/nowhere/at/all"}}, ErrInput, "no file matches"},
		{query.Request{Input: []string{rejects}}, ErrInput, "2 records could not be read: bad.jsonl:0: "},
	} {
		_, err := x.Answer(context.Background(), c.query, io.Discard)
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.query, err, c.want)
		}
	}
	full, out := io.Pipe()
	full.CloseWithError(errors.New("disk full"))
	if _, err := x.Answer(context.Background(), query.Request{Input: config.Input}, out); !errors.Is(err, ErrStorage) {
		t.Errorf("an output that takes nothing: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := x.Answer(ctx, query.Request{Input: config.Input}, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("a query that is cancelled: %v", err)
	}
}
