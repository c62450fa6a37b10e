// Package boilerplate finds the passages that very many documents share, such as menus and licences, and the passages of base texts.
//
// It knows which shingles are boilerplate: the ones of base texts, and the common ones. Stages before it have counted, for each
// part of the corpus, the documents that have each of them. [Summing] adds these counts up and finds the first document that
// has a shingle, its holder. [Finding] reads the holders again, where their shingles stand in the order of the text, and makes
// passages of them. [Writing] writes the most frequent ones.
//
// A shingle has one holder. So no two passages are the same, or parts of each other.
package boilerplate

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/docref"
	"mirrorbeam/internal/ground/quoting"
	"mirrorbeam/internal/ground/runfile"
	"mirrorbeam/internal/measure/common"
	"mirrorbeam/internal/measure/documents"
	"mirrorbeam/internal/settle/write"
	"mirrorbeam/sketch"
)

const (
	// mostRows is the largest number of rows of an output.
	mostRows = 4096
	// mostText is the length of the longest text of a row, in bytes.
	mostText = 1000
)

// Finding makes the passages of the documents of a split that are the first to have some shingles.
type Finding struct {
	// Inputs is the path of the list of inputs.
	Inputs work.Path
	// Sketching is how the input was read first.
	Sketching documents.Sketching
	// Counts says that common shingles are only counted, and not left out.
	Counts bool

	layout  documents.Layout // read in Setup, like the next one
	ignored *sketch.Shingles
	options sketch.Options
}

// Setup reads the list of inputs.
func (f *Finding) Setup() error {
	if err := f.layout.Read(string(f.Inputs)); err != nil {
		return err
	}
	s, err := f.Sketching.WithLists(f.layout.Inputs)
	if err != nil {
		return err
	}
	f.ignored, f.options = s.Options.Ignored, s.Options
	// All shingles of a text are wanted. A passage lies in one text.
	f.options.Ignored, f.options.LeastShingles, f.options.Weights = nil, 0, nil
	return nil
}

// Task writes the most frequent passages of one split, in the order of the corpus.
func (f *Finding) Task(ctx context.Context, t work.Task, w *work.Desk) error {
	list, err := common.ReadList(t.Catalog)
	if err != nil {
		return err
	}
	w.Hold(list)
	sequencer, err := sketch.NewSequencer(f.options, false)
	if err != nil {
		return err
	}
	held, err := readHolders(w)
	if err != nil {
		return err
	}
	o := &finder{Finding: f, common: list.Shingles, sequencer: sequencer, held: held}
	err = f.layout.EachAgain(ctx, f.Sketching.Reading, "searched for boilerplate", w, t.Number, held.refs(), func(ref docref.Ref, r *documents.Record) error {
		w.Figures.Records++
		w.Figures.Bytes += r.Bytes
		o.document(ref, r)
		return nil
	})
	if err != nil {
		return err
	}
	w.Outcome.Counts.Boilerplate = o.found
	var rows []byte
	for _, row := range o.rows.best() {
		rows = output.AppendRow(rows, row)
	}
	if len(rows) == 0 {
		return nil
	}
	return w.Run.Section(records.Passages, 0, rows)
}

// holder is a document that is the first to have some shingles.
type holder struct {
	ref docref.Ref
	// documents are the numbers of documents that have each of its shingles, by the cause.
	documents [2]map[uint64]int64
}

// holders are in document order.
type holders []holder

// readHolders reads the documents of a split that have enough shingles first for a passage.
func readHolders(w *work.Desk) (all holders, err error) {
	packed, err := w.Read(0, records.FirstHolders)
	if err != nil {
		return nil, err
	}
	held := slices.SortedStableFunc(records.All[records.Holder](packed), func(a, b records.Holder) int { return cmp.Compare(a.Ref, b.Ref) })
	for len(held) > 0 {
		h := holder{ref: held[0].Ref, documents: [2]map[uint64]int64{{}, {}}}
		for len(held) > 0 && held[0].Ref == h.ref {
			h.documents[held[0].Cause][held[0].Shingle] = held[0].Documents
			held = held[1:]
		}
		if max(len(h.documents[0]), len(h.documents[1])) >= leastNew {
			all = append(all, h)
		}
	}
	return all, nil
}

func (h holders) refs() []docref.Ref {
	refs := make([]docref.Ref, len(h))
	for i := range h {
		refs[i] = h[i].ref
	}
	return refs
}

type finder struct {
	*Finding
	common    *sketch.Shingles
	sequencer *sketch.Sequencer
	held      holders // still to come
	places    []place
	rows      ranking
	found     int64
}

func (f *finder) document(ref docref.Ref, r *documents.Record) {
	for f.held[0].ref != ref {
		f.held = f.held[1:] // of a document that is left out
	}
	h := f.held[0]
	f.held = f.held[1:]
	for i, text := range r.Content.Texts {
		_, sequence := f.sequencer.Sequence(text)
		for cause, list := range []*sketch.Shingles{records.OfBaseText: f.ignored, records.OfCorpus: f.common} {
			if len(h.documents[cause]) == 0 {
				continue
			}
			f.places = f.places[:0]
			for _, hash := range sequence.Shingles {
				f.places = append(f.places, place{list.Has(hash), h.documents[cause][hash]})
				delete(h.documents[cause], hash) // it is known from here on
			}
			for _, s := range passagesOf(f.places) {
				f.found++
				row := f.row(text, &sequence, s)
				row.LeftOut = f.leftOut(records.Cause(cause))
				row.Ref = quoting.Text(f.layout.Inputs.RefText(nil, ref))
				if row.ID = row.Ref; len(r.Content.ID) > 0 {
					row.ID = quoting.Text(r.Content.ID)
				}
				row.URL, row.Date = documents.CaptureOf(&r.Content)
				if fields := f.Sketching.Fields.Texts; len(fields) > 1 {
					row.Field = quoting.Text(fields[i])
				}
				f.rows.add(row)
			}
		}
	}
}

// row returns the row of a passage without the names of its document.
func (f *finder) row(text []byte, sequence *sketch.Sequence, s stretch) output.Passage {
	begin, end := sequence.Starts[s.from], sequence.Ends[s.to-1]
	shown := text[begin:end]
	if len(shown) > mostText {
		cut := mostText
		for cut > mostText-utf8.UTFMax && !utf8.RuneStart(shown[cut]) {
			cut--
		}
		shown = shown[:cut]
	}
	return output.Passage{
		Documents: s.documents, Text: quoting.Text(shown), Begin: int64(begin), End: int64(end),
		// A text that is shorter than a shingle has one, which is no passage.
		Tokens: int64(sequence.Tokens[s.to-1]-sequence.Tokens[s.from]) + int64(f.options.Measure.Shingle),
	}
}

// leftOut returns the name of the setting that leaves shingles of a cause out, empty if they count.
func (f *finder) leftOut(cause records.Cause) string {
	switch {
	case cause == records.OfBaseText:
		return "ignore"
	case f.Counts:
		return ""
	}
	return "common"
}

// SummingDelivery makes a task of [Summing] for each range of hashes that has shingles.
func SummingDelivery() work.Delivery {
	return work.Delivery{Needed: []runfile.Kind{records.BoilerplateSeen}}
}

// NewListing returns the step that lists the common shingles for the tasks of [Finding], and makes these: one for each split
// that holds the first document of a shingle.
func NewListing() common.Listing {
	return common.Listing{
		Found: work.Boilerplate, Reads: work.Boilerplate, Delivery: work.Delivery{Needed: []runfile.Kind{records.FirstHolders}},
	}
}

// Summing counts the documents that have each shingle of a range of hashes, and finds the first of them.
func Summing(ctx context.Context, _ work.Task, w *work.Desk) error {
	var seen []records.Sighting
	for _, piece := range w.Pieces {
		packed, err := w.ReadPiece(0, piece)
		if err != nil {
			return err
		}
		seen = slices.AppendSeq(seen, records.All[records.Sighting](packed))
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	w.Figures.Records += int64(len(seen))
	slices.SortFunc(seen, func(a, b records.Sighting) int {
		return cmp.Or(cmp.Compare(a.Shingle, b.Shingle), cmp.Compare(a.Cause, b.Cause), cmp.Compare(a.First, b.First))
	})
	for len(seen) > 0 {
		first, n, documents := seen[0], 0, int64(0)
		for n < len(seen) && seen[n].Shingle == first.Shingle && seen[n].Cause == first.Cause {
			documents += int64(seen[n].Documents)
			n++
		}
		seen = seen[n:]
		if first.Cause == records.OfCorpus {
			if err := records.Write(&w.Run, records.FrequentShingles, 0, &records.Frequent{Shingle: first.Shingle, Documents: documents}); err != nil {
				return err
			}
		}
		h := records.Holder{Ref: first.First, Shingle: first.Shingle, Documents: documents, Cause: first.Cause}
		if err := records.Write(&w.Run, records.FirstHolders, first.Split, &h); err != nil {
			return err
		}
	}
	return nil
}

// ranking holds the first mostRows of the rows that were added: the most frequent passages, then the longest, then those that
// come first.
type ranking []output.Passage

func (r *ranking) add(row output.Passage) {
	if *r = append(*r, row); len(*r) >= 2*mostRows {
		*r = r.best()
	}
}

// best returns the rows in their order.
func (r ranking) best() []output.Passage {
	slices.SortStableFunc(r, func(a, b output.Passage) int {
		return cmp.Or(cmp.Compare(b.Documents, a.Documents), cmp.Compare(b.Tokens, a.Tokens))
	})
	return r[:min(len(r), mostRows)]
}

// Writing writes the rows.
type Writing struct {
	write.Files
}

// WritingDelivery makes the one task of [Writing]. The outcomes of the stages that read documents and cluster them only add to the
// counts.
func WritingDelivery() work.Delivery {
	return work.Delivery{Shards: 1, Extra: []runfile.Kind{records.Passages}, OnlyCounted: []work.Stage{work.Fingerprint, work.Strip, work.Cluster}}
}

// Task writes the one file.
func (o *Writing) Task(_ context.Context, t work.Task, w *work.Desk) error {
	var rows ranking
	for _, piece := range w.Pieces {
		packed, err := w.ReadPiece(0, piece)
		if err != nil {
			return err
		}
		for line := range bytes.Lines(packed) {
			var row output.Passage
			if err := json.Unmarshal(line, &row); err != nil {
				return fmt.Errorf("passages in %s: %w", piece.Path, err)
			}
			rows.add(row)
		}
	}
	return write.Write(o.Files, o.Name(output.Boilerplate, 0, 1), o.Names(t), w, func(row func(output.Passage) error) error {
		for _, passage := range rows.best() {
			if err := row(passage); err != nil {
				return err
			}
		}
		return nil
	})
}

// leastNew is the least number of shingles of a passage that are in no earlier one, and the least number of known ones in a row
// that part two passages. A phrase of everyday language is shorter.
const leastNew = sketch.LeastOwn

// place is a shingle of a text, in the order of the text.
type place struct {
	// isBoilerplate says that the shingle is boilerplate.
	isBoilerplate bool
	// documents is the number of documents that have it if it is new, and 0 if an earlier place or document has it.
	documents int64
}

func (p place) isNew() bool { return p.documents > 0 }

// stretch is a passage: the shingles from one place to another, which is the first after it. Documents is the number of
// documents that have the rarest of its new shingles.
type stretch struct {
	from, to  int
	documents int64
}

// passagesOf returns the passages of a text, in its order. A passage is a run of boilerplate that begins and ends with a new
// shingle and has leastNew of them. As many known ones in a row part two passages. Where so many new ones, next to each
// other but for known ones, are in at least twice as many documents as the rarest of the passage, they are a passage of their own.
func passagesOf(places []place) (all []stretch) {
	for from := 0; from < len(places); from++ {
		if !places[from].isNew() {
			continue
		}
		end, known := from+1, 0 // the end is behind the last new one
		for to := end; to < len(places) && places[to].isBoilerplate && known < leastNew; to++ {
			if known++; places[to].isNew() {
				end, known = to+1, 0
			}
		}
		all = append(all, split(places, from, end)...)
		from = end
	}
	return all
}

// split cuts a run of boilerplate where it is much more frequent than the rarest of its new shingles.
func split(places []place, from, to int) (all []stretch) {
	from, to = trim(places, from, to)
	rarest, fresh := int64(0), 0
	for _, p := range places[from:to] {
		if p.isNew() {
			fresh++
			if rarest == 0 || p.documents < rarest {
				rarest = p.documents
			}
		}
	}
	if fresh < leastNew {
		return nil
	}
	rest := from // what is before it is done
	for at := from; at < to; {
		end, many := at, 0
		for end < to && (!places[end].isNew() || places[end].documents >= 2*rarest) {
			if places[end].isNew() {
				many++
			}
			end++
		}
		if many >= leastNew {
			all = append(append(all, split(places, rest, at)...), split(places, at, end)...)
			rest = end
		}
		at = end + 1
	}
	if rest == from {
		return []stretch{{from, to, rarest}}
	}
	return append(all, split(places, rest, to)...)
}

// trim leaves out the known shingles on both sides.
func trim(places []place, from, to int) (first, end int) {
	for from < to && !places[from].isNew() {
		from++
	}
	for from < to && !places[to-1].isNew() {
		to--
	}
	return from, to
}
