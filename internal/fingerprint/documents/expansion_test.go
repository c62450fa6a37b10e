package documents

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestExpandingFiles: a compressed file that becomes very long is counted, and its empty lines are no records. A limit
// for all files of the job ends it.
func TestExpandingFiles(t *testing.T) {
	content := slices.Concat(someLines(20), bytes.Repeat([]byte("\n\r\n"), leastExpanded/3), someLines(20))
	for name, stored := range map[string][]byte{
		"usual.jsonl":    someLines(20),
		"usual.jsonl.gz": zipped(t, someLines(20)),
		"long.jsonl.zst": compressed(t, content),
	} {
		inputs := listed(t, map[string][]byte{name: stored}, 1<<30)
		got := stage(t, inputs, nil).all(t)
		want := int64(strings.Count(name, "long"))
		if got.counts.Expanding != want || got.counts.Documents != 20+20*want {
			t.Errorf("%s: %d documents, %d files that expand", name, got.counts.Documents, got.counts.Expanding)
		}
		limited := stage(t, inputs, func(f *Fingerprinting) { f.MaxExpanded = 1 << 20 })
		_, err := limited.run(t.Context(), t.TempDir(), 0)
		if isLong := want > 0; isLong != (err != nil) ||
			isLong && !strings.Contains(fmt.Sprint(err), "raise --max-expanded") {
			t.Errorf("%s: with a limit of 1 MiB: error %v", name, err)
		}
	}
}

// TestExpansionOfAll: the limit is for all files of a job together.
func TestExpansionOfAll(t *testing.T) {
	files := map[string][]byte{}
	for i := range 3 {
		files[fmt.Sprint(i, ".jsonl.gz")] = zipped(t, someLines(2000))
	}
	inputs := listed(t, files, 1)
	length := int64(len(someLines(2000)))
	for limit, want := range map[int64]int{3 * length: 0, 2*length + 1: 1, length: 2} {
		limited := stage(t, inputs, func(f *Fingerprinting) { f.MaxExpanded = limit })
		failed := 0
		for split := range inputs.Splits {
			if _, err := limited.run(t.Context(), t.TempDir(), split); err != nil {
				failed++
			}
		}
		if failed != want || len(inputs.Splits) != 3 {
			t.Errorf("%d bytes allowed of %d: %d of %d splits fail, want %d", limit, 3*length, failed,
				len(inputs.Splits), want)
		}
	}
}
