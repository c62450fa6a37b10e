package documents

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/sketch"
)

// expandingLines returns lines of documents. Every fourth one becomes some hundred times its bytes when code is read.
func expandingLines(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		text := fmt.Sprintf("int document%d = %d;", i, i*i)
		if i%4 == 0 {
			text += strings.Repeat("(", 70_000+i)
		}
		fmt.Fprintf(&b, "{\"id\":%d,\"text\":%q}\n", i, text)
	}
	return b.Bytes()
}

// TestExpandingDocuments: a document that becomes too much is a reject that says what to do. One that only is large
// waits for its turn and is written at once, so that blocks and buffers stay small. Documents, their order and counts
// are the same as without a limit.
func TestExpandingDocuments(t *testing.T) {
	const n = 40
	for name, content := range map[string][]byte{
		"x.jsonl":    expandingLines(n),
		"x.jsonl.gz": zipped(t, expandingLines(n)),
	} {
		inputs := listed(t, map[string][]byte{name: content}, 1<<20)
		read := func(limit int64) made {
			return stage(t, inputs, func(f *Fingerprinting) {
				f.Options.Code = sketch.Code{Language: "java", Names: true}
				f.DocumentBytes = limit
			}).all(t)
		}
		free, large, tight := read(0), read(smallDocument), read(1<<20)
		if fmt.Sprint(free.documents) != fmt.Sprint(large.documents) ||
			!reflect.DeepEqual(large.counts, free.counts) || free.counts.Documents != n {
			t.Errorf("%s: %d documents with a limit, %d without", name, large.counts.Documents, free.counts.Documents)
		}
		if tight.counts.Documents != n*3/4 || tight.counts.Rejected != n/4 || len(tight.documents) != n*3/4 {
			t.Errorf("%s: %d documents and %d rejects beyond the limit", name, tight.counts.Documents,
				tight.counts.Rejected)
		}
		if rejects := string(tight.sections[records.Rejects]); strings.Count(rejects,
			"give --memory 70MiB or more, or leave") != n/4 {
			t.Errorf("%s: rejects %.300s", name, rejects)
		}
		if enough := read(DocumentBytes(70 << 20)); !reflect.DeepEqual(enough.counts, free.counts) {
			t.Errorf("%s: %d rejects with the memory that they name", name, enough.counts.Rejected)
		}
	}
}

// TestLargeDocumentsTakeTurns: blocks of large documents are written before the next large one begins, on all cores.
func TestLargeDocumentsTakeTurns(t *testing.T) {
	var b bytes.Buffer
	for i := range 6 {
		fmt.Fprintf(&b, "{\"id\":%d,\"text\":\"x%d %s\"}\n", i, i, strings.Repeat("a b ", 300_000))
	}
	inputs := listed(t, map[string][]byte{"x.jsonl.gz": zipped(t, b.Bytes())}, 1<<30)
	made := stage(t, inputs, func(f *Fingerprinting) {
		f.MaxDocument, f.DocumentBytes = 8<<20, 64<<20
		f.Options.Measure.Shingle = 1
	}).all(t)
	if made.counts.Documents != 6 || made.blocks != 6 {
		t.Errorf("%d documents in %d blocks", made.counts.Documents, made.blocks)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := work.BeginLarge(ctx); err != nil {
		t.Fatal("the right to hold a large document was not given back")
	}
	work.EndLarge()
}
