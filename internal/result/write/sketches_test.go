package write

import (
	"fmt"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/records/digest"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/internal/work/worktest"
)

// sketched holds the documents of threeFiles by split. One has no id, one no shingles, and two are equal.
var sketched = [][]sketchblock.Document{
	{{Ref: at(0, 0), ID: []byte("r"), Digest: digest.Digest{1}, Set: []uint64{1, 2}, Size: 2, SimHash: []uint64{1}}},
	{
		{
			Ref:     at(1, 0),
			ID:      []byte("x\""),
			Digest:  digest.Digest{2},
			Set:     []uint64{3, 5, 7, 9},
			Size:    4,
			SimHash: []uint64{0xab},
		},
		{Ref: at(1, 40), Digest: digest.Digest{3}, SimHash: []uint64{0}},
	},
	{
		{Ref: at(1, 60), ID: []byte("y"), Digest: digest.Digest{1}, Set: []uint64{1, 2}, Size: 2, SimHash: []uint64{1}},
		{
			Ref:     at(2, 9),
			ID:      []byte("z"),
			Digest:  digest.Digest{4},
			Set:     []uint64{1 << 40},
			Size:    1,
			SimHash: []uint64{1 << 63},
		},
	},
}

// writeSketched writes the documents, a block each, and returns a catalog.
func writeSketched(t *testing.T) string {
	t.Helper()
	return worktest.Catalog(t, worktest.Write(t, worktest.Runs(t), func(run *runfile.Writer) error {
		for split, documents := range sketched {
			for _, d := range documents {
				if err := worktest.Block(run, split, d); err != nil {
					return err
				}
			}
		}
		return nil
	}))
}

// TestSketchesOfTheInput: every document of the input has a row, in order, for any number of files. Documents of the
// reference have none.
func TestSketchesOfTheInput(t *testing.T) {
	catalog := writeSketched(t)
	want := `{"id":"x\"","ref":"a:0","shingles":4,"simhash":"00000000000000ab","fingerprint":[3,5,7]}
{"id":"a:40","ref":"a:40","shingles":0,"simhash":"0000000000000000","fingerprint":[]}
{"id":"y","ref":"a:60","shingles":2,"simhash":"0000000000000001","fingerprint":[1,2]}
{"id":"z","ref":"b:9","shingles":1,"simhash":"8000000000000000","fingerprint":[1099511627776]}
`
	for _, shards := range []int{1, 2, 3, 5} {
		s := &Sketches{
			Files:  Files{Partial: work.Path(t.TempDir()), Format: output.JSONL},
			Inputs: listInputs(t, threeFiles),
			Hashes: 3,
			Bits:   64,
		}
		got := ""
		for number := range shards {
			o, contents, err := write(t, s, s.Partial, work.Task{Number: number, Shards: shards, Catalog: catalog})
			if err != nil {
				t.Fatal(err)
			}
			if name := fmt.Sprintf("sketches-%05d-of-%05d.jsonl", number, shards); len(o.Files) != 1 ||
				o.Files[0].Name != name {
				t.Errorf("files %+v, want %s", o.Files, name)
			}
			got += contents[0]
		}
		if got != want {
			t.Errorf("in %d files:\n%swant\n%s", shards, got, want)
		}
	}
}

// TestDamageIsNoticed: a missing catalog is an error of every output.
func TestDamageIsNoticed(t *testing.T) {
	files := Files{Partial: work.Path(t.TempDir()), Format: output.JSONL}
	inputs := listInputs(t, threeFiles)
	for _, s := range []stage{
		&Rows{Files: files, Inputs: inputs}, &Sketches{Files: files, Inputs: inputs, Hashes: 3, Bits: 64},
		&Unique{Output: output.Unique, Partial: files.Partial, Inputs: inputs},
	} {
		_, _, err := write(t, s, files.Partial, work.Task{Shards: 1, Catalog: t.TempDir() + "/none"})
		if err == nil || !strings.Contains(err.Error(), "none") {
			t.Errorf("%T: error %v", s, err)
		}
	}
}
