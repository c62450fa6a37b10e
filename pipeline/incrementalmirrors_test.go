package pipeline

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/schema/output"
)

// TestPhishingKitGrows: a kit on very many sites keeps all of its suspects as one more site comes, and as pages come
// that have nothing to do with it.
func TestPhishingKitGrows(t *testing.T) {
	n := newIncrementalJob(t, 43)
	page := func(to *bytes.Buffer, site, text string) {
		fmt.Fprintf(to, "{\"id\":%q,\"text\":%q,\"url\":\"http://%s/\",\"password_input\":true}\n", site, text, site)
	}
	words := make([]string, 60)
	for i := range words {
		words[i] = fmt.Sprint("word", i)
	}
	words[59] = "bank"
	kits := func(name string, first, sites, others int) {
		var b bytes.Buffer
		for i := range sites {
			words := slices.Clone(words)
			words[n.random.IntN(59)] = fmt.Sprint("x", first+i)
			page(&b, fmt.Sprintf("kit%d.example", first+i), strings.Join(words, " "))
		}
		for i := range others {
			page(&b, fmt.Sprintf("other%d-%d.example", first, i),
				fmt.Sprint("a page like no other ", n.random.Uint64(), " ", n.random.Uint64(), " ", n.random.Uint64()))
		}
		n.put(t, name, b.Bytes())
	}
	var original bytes.Buffer
	page(&original, "bank.example", strings.Join(words, " "))
	n.put(t, "bank.jsonl", original.Bytes())
	kits("m.jsonl", 0, 200, 4000)
	config := testConfig(t, n.folder)
	config.Emit, config.Audit = []string{output.Mirrors, output.Suspects}, "off"
	config.Protected = put(t, filepath.Join(t.TempDir(), "protected"), []byte("bank.example\n"), plain)
	config.State = filepath.Join(t.TempDir(), "state")
	for run, more := range []func(){func() {}, func() { kits("a.jsonl", 1000, 1, 0) }, func() {
		kits("z.jsonl", 2000, 0, 1)
	}} {
		more()
		s := n.run(t, config)
		if want := int64(200 + min(run, 1)); s.Mirrors.Suspects != want ||
			s.State.Changes[output.Suspects][output.Gone] > 0 {
			t.Errorf("run %d: %d suspects, want %d; changes %v", run, s.Mirrors.Suspects, want, s.State.Changes)
		}
	}
}
