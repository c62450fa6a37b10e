package main

import (
	"os"
	"path/filepath"
	"testing"

	"mirrorbeam.dev/internal/keep/preference"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/util/corporatest"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/pipeline"
)

// TestMirrorSitesOfCorpora plants mirrors among real documents. The job finds them and hardly anything else, all
// mirrors of protected sites are suspects, and no honest site is.
func TestMirrorSitesOfCorpora(t *testing.T) {
	planted := extent{1000, 60}
	if testing.Short() {
		planted = extent{300, 60}
	}
	folder := t.TempDir()
	if err := plant(corporatest.Path(t, "."), folder, planted); err != nil {
		t.Fatal(err)
	}
	config := job.Default()
	config.Input, config.Output = []string{filepath.Join(folder, pagesFile)}, filepath.Join(folder, "out")
	config.Threshold, config.Emit = 0.5, []string{output.Mirrors, output.Sites, output.Suspects}
	config.Rank, config.Protected = filepath.Join(folder, rankFile), filepath.Join(folder, protectedFile)
	config.Keep = preference.Preference("rank:" + config.Rank)
	if _, err := pipeline.Run(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	v, err := judge(config.Output, filepath.Join(folder, truthFile))
	if err != nil {
		t.Fatal(err)
	}
	if v.precision() < 0.95 || v.recall() < 0.95 || v.suspects < v.protected || len(v.honest) > 0 ||
		v.protected != planted.planted/2 {
		v.print(t.Output())
		t.Errorf("precision %.3f, recall %.3f, %d of %d suspects, %d honest ones", v.precision(), v.recall(),
			v.suspects, v.protected, len(v.honest))
	}
}

// TestJudge: rows that were not planted, mirrors that were not found and honest suspects count as faults.
func TestJudge(t *testing.T) {
	folder := t.TempDir()
	for name, content := range map[string]string{
		truthFile:     "m1\to1\tidentical\nm2\to2\thalf\nm3\to3\tedited\nh1\to1\tquotes\n",
		protectedFile: "o1\no3\n",
		"mirrors-00000-of-00001.jsonl": `{"a":"m1","b":"o1"}` + "\n" + `{"a":"h1","b":"o1"}` + "\n" +
			`{"a":"m2","b":"o2"}` + "\n",
		"suspects-00000-of-00001.jsonl": `{"site":"m1","protected":"o1"}` + "\n" + `{"site":"h1","protected":"o1"}` +
			"\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	v, err := judge(folder, filepath.Join(folder, truthFile))
	if err != nil {
		t.Fatal(err)
	}
	if v.rows != 3 || v.right != 2 || len(v.missed) != 1 || len(v.wrong) != 1 || v.protected != 2 || v.suspects != 1 ||
		len(v.honest) != 1 {
		t.Errorf("verdict %+v", v)
	}
	if _, err := judge(t.TempDir(), filepath.Join(folder, truthFile)); err == nil {
		t.Error("no results, yet no fault")
	}
}
