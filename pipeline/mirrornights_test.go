package pipeline

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"mirrorbeam/internal/output"
)

// TestMirrorNights: sites, mirrors and suspects are those of a run over everything, whatever files come and go.
func TestMirrorNights(t *testing.T) {
	n := newNight(t, 17)
	config := testConfig(t, n.folder)
	config.State, config.AllowRemoval, config.Threshold = filepath.Join(t.TempDir(), "state"), true, 0.5
	config.Emit = []string{output.Clusters, output.Mirrors, output.Sites, output.Suspects}
	config.Protected = filepath.Join(t.TempDir(), "protected")
	if err := os.WriteFile(config.Protected, []byte("s1.example\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	found := 0
	for night := range 6 {
		var b bytes.Buffer
		for i := range 60 {
			text := n.text()
			n.texts = append(n.texts, text)
			fmt.Fprintf(&b, "{\"id\":\"d%d-%d\",\"text\":%q,\"url\":\"http://s%d.example/p%d\",\"date\":\"2026-11-%02d\"}\n", night, i, text, n.random.IntN(6), i, 1+n.random.IntN(28))
		}
		n.put(t, fmt.Sprintf("%c.jsonl", "mzaq"[night%4]), b.Bytes()) // a file sorts before the others, some change
		s := n.run(t, config)
		if s.Mirrors == nil {
			t.Fatal("the summary knows no sites")
		}
		n.checkSaved(t, s, 60)
		found += int(s.Mirrors.Pairs) + int(s.Mirrors.Suspects)
	}
	if s := n.run(t, config); s.State.Files.Unchanged != 4 {
		t.Errorf("files: %+v", s.State.Files)
	}
	if found == 0 {
		t.Error("no mirrors and no suspects were found")
	}
}
