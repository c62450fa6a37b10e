package trim

import (
	"bytes"
	"cmp"
	"context"
	"path"
	"slices"
	"unicode"
	"unicode/utf8"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/passages/items"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/schema/findings"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/util/quoting"
	"mirrorbeam.dev/internal/work"
)

// Matching finds the items of the reference in the documents of a split, which it reads again, and says what is cut.
type Matching struct{ Trimming }

// item is an item of a table: a document of the reference, one of its fields, or a part of a long one.
type item struct {
	ref       docref.Ref
	id        string
	part      string // the field, empty if there is only one
	at        int    // its first word in the text
	benchmark string
}

// benchmarks are the items that the tasks of a process look for.
type benchmarks struct {
	table *items.Table
	items []item
	// counts has, by benchmark, how many items there are.
	counts map[string]findings.Benchmark
}

var allBenchmarks work.Shared[benchmarks]

// benchmarks reads the reference, once for all tasks of the process.
func (m *Matching) benchmarks(ctx context.Context) (*benchmarks, error) {
	return allBenchmarks.Get(string(m.Inputs), func(string) (*benchmarks, error) {
		r, err := m.newNumberReader()
		if err != nil {
			return nil, err
		}
		b := &benchmarks{counts: map[string]findings.Benchmark{}}
		var all [][]uint64
		err = m.layout.EachOfReference(ctx, m.Sketching.Reading, func(ref docref.Ref, d *documents.Record) {
			all = b.add(all, m, r, ref, d)
		})
		b.table = items.NewTable(all, m.Rule.Share)
		return b, err
	})
}

func (b *benchmarks) add(all [][]uint64, m *Matching, r *numberReader, ref docref.Ref, d *documents.Record) [][]uint64 {
	one := item{ref: ref, benchmark: m.benchmark(ref)}
	if one.id = quoting.Text(d.Content.ID); len(d.Content.ID) == 0 {
		one.id = quoting.Text(m.layout.Inputs.RefText(nil, ref))
	}
	count := b.counts[one.benchmark]
	for i, text := range d.Content.Texts {
		if len(m.Rule.Fields) > 0 {
			one.part = m.Rule.Fields[i]
		}
		words := slices.Clone(r.hashes(text))
		if len(words) < m.Rule.Words {
			count.Short += findings.Most(min(len(text), 1))
			continue
		}
		count.Items++
		for one.at = 0; one.at < len(words); one.at += items.Longest {
			piece := words[one.at:min(one.at+items.Longest, len(words))]
			if len(piece) >= m.Rule.Words {
				all, b.items = append(all, piece), append(b.items, one)
			}
		}
	}
	b.counts[one.benchmark] = count
	return all
}

// benchmark returns the name of the file that a document is from, or of the folder of a file of one document.
func (m *Matching) benchmark(ref docref.Ref) string {
	file := &m.layout.Inputs.Files[ref.File()]
	name, _ := file.Place(ref.Position())
	if file.Members != nil {
		name = path.Dir(name)
	}
	return quoting.Text(name)
}

// Task looks for items in the documents of one split.
func (m *Matching) Task(ctx context.Context, t work.Task, w *work.TaskContext) error {
	b, err := m.benchmarks(ctx)
	if err != nil {
		return err
	}
	w.Hold(b)
	r, err := m.newNumberReader()
	if err != nil {
		return err
	}
	refs, err := refsOf(ctx, w)
	if err != nil {
		return err
	}
	first, _ := slices.BinarySearch(refs, m.layout.FirstInput)
	o := &matcher{
		cutter:     cutter{Cutting: &Cutting{m.Trimming}, taskContext: w, reader: r.reader},
		benchmarks: b,
		numbers:    r,
		matcher:    items.NewMatcher(b.table),
		places:     map[string]map[string]int64{},
	}
	o.found.Benchmarks = map[string]findings.Benchmark{}
	for name, count := range b.counts {
		o.found.Benchmarks[name] = count
	}
	w.Outcome.Trimmed, w.Outcome.Items = &o.found, o.places
	return m.layout.EachAgain(ctx, m.Sketching.Reading, searched, w, t.Number, refs[first:], o.document)
}

type matcher struct {
	cutter
	*benchmarks
	numbers *numberReader
	matcher *items.Matcher
	places  map[string]map[string]int64 // by benchmark and item: places with it
}

func (o *matcher) document(ref docref.Ref, d *documents.Record) error {
	o.taskContext.Figures.Records++
	o.taskContext.Figures.Bytes += d.Bytes
	text := d.Content.Texts[0]
	hashes := o.numbers.hashes(text)
	all := int64(len(hashes))
	o.found.Of += all
	if o.ByFile {
		o.taskContext.Outcome.Sources.Words.Add(o.layout.Inputs.SourceOf(ref), all)
	}
	found := o.matcher.Match(hashes)
	if len(found) == 0 {
		return nil
	}
	o.reader.read(text)
	trim := records.Trim{Ref: ref, Whole: o.Rule.Window == 0}
	words, bytes := all, int64(len(text))
	if !trim.Whole {
		trim.Cuts, words, bytes = o.windows(found)
		if trim.Whole = all-words < int64(o.Rule.Least); trim.Whole {
			words, bytes, trim.Cuts = all, int64(len(text)), nil
		}
	}
	rows := make([][]byte, len(found))
	for i, one := range found {
		of := &o.items[one.Item]
		at := part{from: one.From, to: one.To, first: records.Place{Ref: of.ref, At: int64(of.at)}}
		row := o.row(ref, d, at, trim.Whole)
		row.FirstID, row.Field, row.Share = of.id, of.part, float64(one.Words)/float64(one.Of)
		rows[i] = output.AppendRow(nil, row)
	}
	if o.found.Documents++; trim.Whole {
		o.found.Gone++
	}
	o.count(found)
	o.found.Words, o.found.Bytes = o.found.Words+words, o.found.Bytes+bytes
	return o.write(rows, &trim, words)
}

func (o *matcher) count(found []items.Found) {
	counted := map[string]bool{}
	for _, one := range found {
		of := &o.items[one.Item]
		if !counted[of.benchmark] {
			counted[of.benchmark] = true
			b := o.found.Benchmarks[of.benchmark]
			b.Documents++
			o.found.Benchmarks[of.benchmark] = b
			if o.places[of.benchmark] == nil {
				o.places[of.benchmark] = map[string]int64{}
			}
		}
		o.places[of.benchmark][string(o.layout.Inputs.RefText(nil, of.ref))+" "+of.part]++
	}
}

// windows returns what is cut around items, in whole words, with the words and bytes of that.
func (o *matcher) windows(found []items.Found) (cuts []corpus.Cut, words, bytes int64) {
	starts, ends, text := o.reader.words.Starts, o.reader.words.Ends, o.reader.text
	var runs []run
	for _, one := range found {
		at := run{one.From, one.To}
		from, to := int(starts[at.from]), int(ends[at.to-1])
		for range o.Rule.Window {
			_, before := utf8.DecodeLastRune(text[:from])
			_, after := utf8.DecodeRune(text[to:])
			from, to = from-before, to+after
		}
		for at.from > 0 && int(ends[at.from-1]) > from {
			at.from--
		}
		for at.to < len(starts) && int(starts[at.to]) < to {
			at.to++
		}
		runs = append(runs, at)
	}
	slices.SortFunc(runs, func(a, b run) int { return cmp.Compare(a.from, b.from) })
	merged := runs[:1]
	for _, next := range runs[1:] {
		if last := &merged[len(merged)-1]; next.from <= last.to {
			last.to = max(last.to, next.to)
		} else {
			merged = append(merged, next)
		}
	}
	for _, at := range merged {
		if cut, is := o.reader.cut(at.from, at.to); is {
			cuts = append(cuts, cut)
			words, bytes = words+int64(at.to-at.from), bytes+cut.End-cut.Begin
		}
	}
	return cuts, words, bytes
}

// numberReader reads words so that a number is the same in the digits of any script.
type numberReader struct {
	reader *reader
	number *reader // of single numbers
	digits []byte
}

func (m *Matching) newNumberReader() (*numberReader, error) {
	r, err := newReader(m.Rule, m.Sketching, m.layout.Inputs)
	if err != nil {
		return nil, err
	}
	number, err := newReader(m.Rule, m.Sketching, m.layout.Inputs)
	return &numberReader{reader: r, number: number}, err
}

// hashes returns the hashes of the words of a text. They are valid until the next call.
func (n *numberReader) hashes(text []byte) []uint64 {
	ascii := slices.IndexFunc(text, func(c byte) bool { return c >= utf8.RuneSelf })
	isForeign := func(r rune) bool { return r >= utf8.RuneSelf && unicode.IsDigit(r) }
	if ascii < 0 || bytes.IndexFunc(text[ascii:], isForeign) < 0 {
		return n.reader.sequencer.Hashes(text)
	}
	n.reader.read(text)
	words := &n.reader.words
	for i := range words.Shingles {
		word := text[words.Starts[i]:words.Ends[i]]
		if len(word) == 0 || word[0] < utf8.RuneSelf {
			continue
		}
		n.digits = n.digits[:0]
		for _, r := range string(word) {
			if digit, is := digitOf(r); is {
				n.digits = append(n.digits, '0'+digit)
			} else {
				n.digits = utf8.AppendRune(n.digits, r)
			}
		}
		if n.digits[0] >= utf8.RuneSelf {
			continue
		}
		n.number.read(n.digits)
		if same := n.number.words.Shingles; len(same) == 1 {
			words.Shingles[i] = same[0]
		}
	}
	return words.Shingles
}

// digitOf returns the value of a decimal digit. The digits of a script follow each other from 0 on.
func digitOf(r rune) (digit byte, is bool) {
	if !unicode.IsDigit(r) {
		return 0, false
	}
	const ten = 10
	for _, in := range unicode.Nd.R16 {
		if rune(in.Lo) <= r && r <= rune(in.Hi) {
			return byte((r - rune(in.Lo)) % ten), true
		}
	}
	for _, in := range unicode.Nd.R32 {
		if rune(in.Lo) <= r && r <= rune(in.Hi) {
			return byte((r - rune(in.Lo)) % ten), true
		}
	}
	return 0, false
}
