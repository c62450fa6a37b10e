package scoring

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/internal/work/worktest"
	"mirrorbeam.dev/sketch"
)

const shingle = 5

// prose returns a text of the words numbered from first to before end. Texts of another name have none of these words.
func prose(name string, first, end int) string {
	var words []string
	for i := first; i < end; i++ {
		words = append(words, fmt.Sprint(name, i))
	}
	return strings.Join(words, " ")
}

// newProse makes documents of texts.
func newProse(t *testing.T, contents ...string) (texts []text) {
	t.Helper()
	sequencer, err := sketch.NewSequencer(sketch.Options{Measure: sketch.Measure{Shingle: shingle}}, false)
	if err != nil {
		t.Fatal(err)
	}
	for i, content := range contents {
		d, sequence := sequencer.Sequence([]byte(content))
		texts = append(texts, text{
			Want:     records.Want{Ref: newRef(t, false, i)},
			set:      slices.Clone(d.Set),
			sequence: sketchblock.AppendSequence(nil, sketchblock.Sequence(sequence)),
		})
	}
	return texts
}

// writtenSpan is a span of two documents, with what is written about their other spans.
type writtenSpan struct {
	a, b docref.Ref
	sketch.Span
	more uint32
}

// readSpans returns the spans of a part in the order in which they were written.
func readSpans(t *testing.T, o work.Outcome, number int) (spans []writtenSpan) {
	t.Helper()
	part := records.DecodePart(graphs.Part{}, worktest.Read(t, records.EdgeNodes, o.Run)[number])
	for packed := worktest.Read(t, records.Spans, o.Run)[number]; len(packed) > 0; packed = packed[records.SpanSize:] {
		s := records.Get[records.Span[graphs.Node]](packed)
		spans = append(spans, writtenSpan{part.Refs[s.A], part.Refs[s.B], s.Span, s.More})
	}
	return spans
}

// TestPassages: a page of a book is in the book, wherever it is there. A short passage
// counts if it is long enough for an excerpt.
func TestPassages(t *testing.T) {
	contents := []string{
		prose("book", 0, 300),
		prose("before", 0, 10) + " " + prose("book", 50, 150),
		prose("before", 20, 100) + " " + prose("book", 200, 220),
		prose("other", 0, 100),
	}
	texts := newProse(t, contents...)
	const book, page, excerpt, other = 0, 1, 2, 3
	runs := worktest.Runs(t)
	const place = 2
	path := writePlace(t, runs, place, texts,
		[][2]int{{book, page}, {page, book}, {excerpt, book}, {book, other}, {page, excerpt}})
	for _, c := range []struct {
		name      string
		threshold float64
		excerpt   int
		want      []int    // texts that are like the book
		common    []string // what each shares with it
	}{
		{"containment", .8, 0, []int{page}, []string{prose("book", 50, 150)}},
		{"less containment", .1, 0, []int{page, excerpt}, []string{prose("book", 50, 150), prose("book", 200, 220)}},
		{"short excerpts", .8, 15, []int{page, excerpt}, []string{prose("book", 50, 150), prose("book", 200, 220)}},
		{"long excerpts", .95, 25, []int{page}, []string{prose("book", 50, 150)}},
		{"no such containment", .95, 0, nil, nil},
	} {
		p := Passages{Threshold: c.threshold, Excerpt: c.excerpt, Shingle: shingle, FirstPart: firstPart}
		o := worktest.Do(t, runs, worktest.Tasks(t, runs, Delivery(), path), p.Task)[0]
		var want []edge
		for _, i := range c.want {
			shared, union := jaccard(texts[book].set, texts[i].set)
			want = append(want, newEdge(texts[book].Ref, texts[i].Ref, shared, union))
		}
		const number = firstPart + 3*place
		if got := readEdges(t, o, number); !slices.Equal(got, want) || o.Counts.Candidates != 4 {
			t.Errorf("%s: edges %v of %d candidates, want %v of 4", c.name, got, o.Counts.Candidates, want)
		}
		spans := readSpans(t, o, number)
		if len(spans) != len(c.want) {
			t.Fatalf("%s: spans %+v", c.name, spans)
		}
		for i, s := range spans {
			of := contents[c.want[i]]
			if s.a != texts[book].Ref || s.b != texts[c.want[i]].Ref || s.more != 0 ||
				contents[book][s.StartA:s.EndA] != c.common[i] || of[s.StartB:s.EndB] != c.common[i] {
				t.Errorf("%s: span %+v, want all of %q", c.name, s, c.common[i])
			}
		}
	}
}

// TestManySpans: for a pair with very many spans the longest are listed, and the number of others.
func TestManySpans(t *testing.T) {
	var a, b []string
	const spans = mostSpans + 4
	for i := range spans {
		common := prose(fmt.Sprint("common", i, "word"), 0, 20+i)
		a = append(a, common, prose(fmt.Sprint("a", i, "word"), 0, 30))
		b = append(b, common, prose(fmt.Sprint("b", i, "word"), 0, 30))
	}
	slices.Reverse(b) // so that no passage continues another
	texts := newProse(t, strings.Join(a, " "), strings.Join(b, " "))
	runs := worktest.Runs(t)
	path := writePlace(t, runs, 0, texts, [][2]int{{0, 1}})
	p := Passages{Threshold: .1, Shingle: shingle, FirstPart: firstPart}
	got := readSpans(t, worktest.Do(t, runs, worktest.Tasks(t, runs, Delivery(), path), p.Task)[0], firstPart)
	if len(got) != mostSpans {
		t.Fatalf("%d spans, want %d", len(got), mostSpans)
	}
	for i, s := range got {
		if words := uint32(20 + spans - 1 - i); s.Words != words || s.more != spans-mostSpans {
			t.Errorf("span %d: %+v, want %d words", i, s, words)
		}
	}
}

// TestPassagesFaults: a missing or damaged sequence is reported.
func TestPassagesFaults(t *testing.T) {
	texts := newProse(t, prose("a", 0, 50), prose("b", 0, 50))
	damaged := texts[1]
	damaged.sequence = []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
	for _, c := range []struct {
		name, want string
		texts      []text
	}{
		{"missing", "the sequence of document 1099511627776 or 1099511627777 is missing", texts[:1]},
		{"damaged", "document 1099511627777: sequence of a document is damaged", []text{texts[0], damaged}},
	} {
		runs := worktest.Runs(t)
		path := worktest.Write(t, runs, func(run *runfile.Writer) error {
			for i := range c.texts {
				if err := c.texts[i].write(run); err != nil {
					return err
				}
			}
			return records.WriteFixed(run, records.PlacePairs, 0, records.Pair{A: texts[0].Ref, B: texts[1].Ref})
		})
		p := Passages{Threshold: .8, Shingle: shingle}
		if _, err := worktest.Try(t, runs, worktest.Tasks(t, runs, Delivery(), path)[0], p.Task); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}
