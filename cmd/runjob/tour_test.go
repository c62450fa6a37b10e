package main

import (
	"strings"
	"testing"

	"mirrorbeam.dev/internal/result/finished"
	"mirrorbeam.dev/internal/util/quoting"
)

// TestSamplesShowHostileNames: the demo prints names and texts from files of others.
func TestSamplesShowHostileNames(t *testing.T) {
	s := newScene(t)
	row := string(quoting.AppendString(nil, hostile))
	text := "a stitch in time saves nine, they say, and \\u001b[2J too many cooks spoil the broth that one has made"
	s.write("in.jsonl",
		[]byte(`{"id":`+row+`,"text":"`+text+` \u009b2J"}`+"\n"+`{"id":"b","text":"`+text+` today"}`+"\n"))
	s.runjob("--emit", "clusters,pairs").succeeds(2)
	t.Chdir(s.dir)
	folder, err := finished.Open("out")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := showSamples(t.Context(), &b, folder); err != nil {
		t.Fatal(err)
	}
	shown := b.String()
	if strings.IndexFunc(strings.ReplaceAll(shown, "\n", ""), quoting.IsControl) >= 0 ||
		strings.Contains(shown, "\nrunjob:") {
		t.Errorf("%q", shown)
	}
	if !strings.Contains(shown, `a\x1b[31m\u009b2J\u202eb\nrunjob: results deleted`) ||
		!strings.Contains(shown, `[-\u009b2J-]`) {
		t.Errorf("the names and texts are not shown:\n%s", shown)
	}
}
