package warc

import (
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/util/corporatest"

	"github.com/klauspost/compress/zstd"
)

// limited are the options of tests with real archives.
var limited = Options{Limit: 64 << 20}

// byWarcio has, for each archive, how many records of each type Python's warcio finds. scripts/warc/counts.py writes
// it.
//
//go:embed testdata/warcio.tsv
var byWarcio string

// beside are the archives from which this package gives something else than warcio, with what it gives: records by
// type, then faults. docs/reference/warc.md says why.
var beside = map[string]string{
	"aut/badexample.arc.gz":                  "response=2 warcinfo=1; 3",
	"copycat/*small-sample-1213893279526_0*": "response=145 warcinfo=1; 0",
	"copycat/*small-sample-1262850551027_8*": "response=8 warcinfo=1; 0",
	"copycat/*en0000__00.warc.gz":            "response=23 warcinfo=1; 0",
	"copycat/*en0001__00.warc.gz":            "response=23 warcinfo=1; 0",
	"copycat/*0000tw-00.warc.gz":             "response=3 warcinfo=1; 0",
	"resiliparse/block-sized*.lz4":           "unknown=3; 0",
	"resiliparse/clipped.warc.gz":            "; 1, then unexpected EOF",
	"resiliparse/warcfile.warc.lz4":          "metadata=16 request=17 response=16 warcinfo=1; 0",
	"warcio/bad.arc":                         "; 5",
	"warcio/example-bad-non-chunked.warc.gz": "request=2 response=1 revisit=1 warcinfo=2; 0",
	"warcio/example-bad.warc.gz.bad":         "request=2 response=2 revisit=1 warcinfo=1; 0",
	"warcio/example-space-in-url.arc":        "warcinfo=1; 1",
	"warcio/example-trunc.warc":              "request=1 response=1 warcinfo=2; 1",
	"warcio/example-wrong-chunks.warc.gz":    "request=1 response=1; 0",
}

// archive returns the stored bytes of the shared archives, by their names in the folder.
func realArchives(t testing.TB) map[string][]byte {
	t.Helper()
	archives := corporatest.Path(t, "warc")
	names, err := filepath.Glob(filepath.Join(archives, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, name := range names {
		if extension := filepath.Ext(name); extension == ".json" || extension == ".txt" {
			continue
		}
		file, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.ToSlash(strings.TrimPrefix(name, archives+string(filepath.Separator)))] = file
	}
	if len(files) == 0 {
		t.Fatalf("no archives in %s", archives)
	}
	return files
}

// counted tells what frames hold: records by type, then faults.
func counted(frames []Frame, end error) string {
	p := Parser{Limit: limited.Limit}
	types, faults := map[string]int{}, 0
	for _, f := range frames {
		r, err := p.Parse(f.Raw)
		if f.Fault != "" || err != nil {
			faults++
			continue
		}
		types[r.Type]++
	}
	var told []string
	for _, name := range slices.Sorted(maps.Keys(types)) {
		told = append(told, fmt.Sprintf("%s=%d", name, types[name]))
	}
	text := fmt.Sprintf("%s; %d", strings.Join(told, " "), faults)
	if end != io.EOF {
		text += ", then " + end.Error()
	}
	return text
}

// TestCorpora compares the records of real archives with those that Python's warcio finds.
func TestCorpora(t *testing.T) {
	files := realArchives(t)
	want := map[string]string{}
	for line := range strings.Lines(byWarcio) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		// warcio has a type of its own for the first record of an ARC file.
		types := strings.Fields(strings.Replace(fields[1], "arc_header=", "warcinfo=", 1))
		slices.Sort(types)
		want[fields[0]] = strings.Join(types, " ") + "; 0"
	}
	if len(files) != 55 {
		t.Errorf("%d archives", len(files))
	}
	for pattern, instead := range beside {
		found := 0
		for name := range files {
			if matches, err := filepath.Match(pattern, name); err != nil {
				t.Fatal(err)
			} else if matches {
				found++
				if want[name] == instead {
					t.Errorf("%s: warcio finds the same", name)
				}
				want[name] = instead
			}
		}
		if found != 1 {
			t.Errorf("%d archives are %s", found, pattern)
		}
	}
	for name, file := range files {
		source, member := open(file)
		options := limited
		options.Member = member
		if got := counted(readAll(t, source, options)); got != want[name] {
			t.Errorf("%s: %s, want %s", name, got, want[name])
		}
	}
}

// TestStoresOfCorpora: an archive gives the same records plain, in one gzip member or many, and in zstd frames, and the
// records of one without faults are the whole of it. Positions ascend.
func TestStoresOfCorpora(t *testing.T) {
	for name, file := range realArchives(t) {
		source, member := open(file)
		options := limited
		options.Member = member
		asStored, _ := readAll(t, source, options)
		var decoded []byte
		source, _ = open(file)
		decoded, _ = io.ReadAll(source) // some are cut short
		asPlain, _ := readAll(t, bytes.NewReader(decoded), limited)
		equalFrames(t, name+", as it is", asPlain, asStored)
		whole, isGood := 0, true
		for _, f := range asPlain {
			whole += len(f.Raw)
			isGood = isGood && f.Fault == ""
		}
		if isGood && whole < len(decoded)-len("\r\n") || whole > len(decoded) {
			t.Errorf("%s: the records have %d of %d bytes", name, whole, len(decoded))
		}
		if !isGood || len(decoded) > 1<<20 {
			continue // packing takes its time
		}
		var raws []string
		for _, f := range asPlain {
			raws = append(raws, string(f.Raw))
		}
		packed, _ := pack(t, raws...)
		m := newMembers(packed)
		inMembers, _ := readAll(t, m, Options{Limit: limited.Limit, Member: m.Member})
		equalFrames(t, name+", in gzip members", asPlain, inMembers)
		framed := newFrames(t, raws)
		inFrames, _ := readAll(t, framed, Options{Limit: limited.Limit, Member: framed.Member})
		equalFrames(t, name+", in zstd frames", asPlain, inFrames)
	}
}

// newFrames packs each content into a zstd frame.
func newFrames(t *testing.T, contents []string) *frames {
	t.Helper()
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	f := &frames{decoder: decoder}
	for _, content := range contents {
		before := len(f.file)
		f.file = encoder.EncodeAll([]byte(content), f.file)
		f.lengths = append(f.lengths, len(f.file)-before)
	}
	return f
}

// equalFrames compares all but positions, which must ascend.
func equalFrames(t *testing.T, name string, want, got []Frame) {
	t.Helper()
	last := int64(-1)
	for i, f := range got {
		if f.Position <= last {
			t.Errorf("%s: frame %d is at %d after %d", name, i, f.Position, last)
		}
		last = f.Position
	}
	if len(want) != len(got) {
		t.Errorf("%s: %d frames, want %d", name, len(got), len(want))
		return
	}
	for i := range want {
		if want[i].Fault != got[i].Fault || !bytes.Equal(want[i].Raw, got[i].Raw) {
			t.Errorf("%s: frame %d: %.80q %q, want %.80q %q", name, i, got[i].Raw, got[i].Fault, want[i].Raw,
				want[i].Fault)
		}
	}
}
