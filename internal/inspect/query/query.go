package query

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/input/formats"
	"mirrorbeam.dev/internal/input/listing"
	"mirrorbeam.dev/internal/inspect/index"
	"mirrorbeam.dev/internal/records/sketchblock"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/util/quoting"
	"mirrorbeam.dev/internal/util/setting"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/lshbands"
	"mirrorbeam.dev/sketch"
)

// Request says which documents to look for in an index, and how.
type Request struct {
	// Input holds files, folders and patterns, as in [job.Config]; "-" is Stdin.
	Input []string
	Stdin io.Reader
	// Format is the format of the files, as in [job.Config]; empty: each file's own. Stdin is lines of JSON.
	Format string
	// IDField and TextField are the fields of the records, as in [job.Config]; empty: as in the job.
	IDField, TextField string
	// Fingerprints is the field of fingerprints, as in [job.Config]; empty: as in the job.
	Fingerprints string
	// Threshold is the least similarity, not below the index's; 0: the index's.
	Threshold float64
	// Top is the largest number of matches of a document, the most similar ones; 0: all.
	Top int
	// Add also compares each document with earlier ones, of which the last Window are held; 0: all.
	Add    bool
	Window int
	// Progress, if not nil, gets a line now and then during a long step.
	Progress func(line string)
}

// Counts is what a query counted.
type Counts struct {
	// Documents counts the documents that were looked for, Matched those with a match, Matches all matches.
	Documents, Matched, Matches int64
	// Rejected counts the records that could not be read. FirstReject names the first of them and its fault.
	Rejected    int64
	FirstReject string
}

// Answer looks for the documents of a request and writes their matches to out, one row of JSON each. Documents come in
// the order of the input. The matches of a document come by similarity, then in document order. Answer is exact: it
// finds every document of the index with at least the similarity of the threshold. Errors are of the kinds of package
// failure; the counts so far come with them.
func (x *Index) Answer(ctx context.Context, q Request, out io.Writer) (Counts, error) {
	config := x.config
	switch {
	case x.isDistance && q.Threshold != 0:
		return Counts{}, failure.New(failure.Usage,
			setting.Errorf("{threshold} %g: the state has SimHash fingerprints within {hamming} %d; leave it out",
				q.Threshold, config.Hamming))
	case q.Threshold == 0:
		q.Threshold = config.Threshold
	case q.Threshold < config.Threshold:
		return Counts{}, failure.New(failure.Usage,
			setting.Errorf(
				"{threshold} %g: the state was made for %g or more: give at least that, "+
					"or make a state with {threshold} %g", q.Threshold, config.Threshold, q.Threshold))
	}
	reading, err := q.reading(config)
	if err != nil {
		return Counts{}, failure.New(failure.Usage, err)
	}
	run := query{Request: q, index: x, sketching: reading.Sketching(reading.Sizing(0).WindowBytes)}
	if !x.isDistance {
		run.sketching.Options.SimHashBits = 0
	}
	if err := run.list(ctx); ctx.Err() != nil {
		return Counts{}, ctx.Err()
	} else if err != nil {
		return Counts{}, failure.New(failure.Input, err)
	}
	counts, err := run.run(ctx, out)
	if err == nil && counts.Documents == 0 && counts.Rejected > 0 {
		hint := ""
		if len(run.files) > 0 && q.isAuto() && corpus.IsGuessed(run.files[0].Name) {
			hint = corpus.FormatHint
		}
		err = failure.New(failure.Input,
			setting.Errorf("no document in the input, %s: %s"+hint, failure.Unreadable(counts.Rejected),
				counts.FirstReject))
	}
	return counts, err
}

func (q *Request) isAuto() bool { return q.Format == "" || q.Format == corpus.AutoFormat }

// reading returns the configuration of the job with the fields of the request. The error is one of usage.
func (q *Request) reading(config job.Config) (job.Config, error) {
	if slices.Contains(q.Input, corpus.Stdin) && !q.isAuto() && q.Format != corpus.JSONLines.String() {
		return config, setting.Errorf("{format} %s: the standard input is read as lines of JSON: give a file", q.Format)
	}
	config.IDField = cmp.Or(q.IDField, config.IDField)
	if config.Fingerprints == "" && q.Fingerprints != "" {
		return config, setting.Errorf("{fingerprints} %s: the state has none: leave it out", q.Fingerprints)
	}
	config.Fingerprints = cmp.Or(q.Fingerprints, config.Fingerprints)
	if q.TextField == "" {
		return config, nil
	}
	if len(config.Weight) > 0 {
		return config, setting.Errorf("{text_field} %s: the state has the fields of {weight}: leave it out",
			q.TextField)
	}
	if !config.HasTexts() {
		return config, setting.Errorf(
			"{text_field} %s: the state has {features} or {fingerprints}, not texts: leave it out", q.TextField)
	}
	config.TextField = q.TextField
	return config, nil
}

type query struct {
	Request

	index     *Index
	sketching documents.Sketching
	files     []corpus.File
	stdin     bool
}

func (q *query) list(ctx context.Context) error {
	inputs := slices.Clone(q.Input)
	inputs = slices.DeleteFunc(inputs, func(input string) bool { return input == "-" })
	q.stdin = len(inputs) < len(q.Input)
	if len(inputs) == 0 {
		return nil
	}
	// The input may be of another format than the job's.
	config := job.Config{Measure: job.Measure{Format: q.Format, Records: q.sketching.Records}, Progress: q.Progress}
	found, err := listing.Corpus(ctx, inputs, "input", &config, nil)
	if err == nil {
		q.files, err = formats.Prepare(ctx, found.Files, q.sketching.Wanted())
	}
	if err != nil {
		return err
	}
	var given job.Config
	for name, field := range map[string]string{"id_field": q.IDField, "text_field": q.TextField} {
		if field != "" && !q.stdin {
			given.Give(name)
		}
	}
	if err := given.CheckEffects(q.files); err != nil {
		return err
	}
	wanted, limits := q.sketching.Wanted(), q.sketching.LineLimits()
	if err := formats.Probe(q.files, wanted, limits); err != nil {
		return formats.WithAdvice(err, listing.LikelyText(q.files, wanted, limits))
	}
	return nil
}

type portion struct {
	documents.Portion
	rows             []byte
	matched, matches int64
	questions        []question // with Add, the documents, which have no rows yet
	holds            bool       // the right to hold a long line
	ends             bool       // with a blank line, which is answered by one
}

// release frees a long line, and gives the right to hold one back.
func (p *portion) release() {
	if p.holds {
		p.Batch, p.holds = corpus.Batch{}, false
		documents.ReleaseLongLine()
	}
}

func (p *portion) add(matches []output.Match) {
	if len(matches) > 0 {
		p.matched++
	}
	p.matches += int64(len(matches))
	for i := range matches {
		p.rows = matches[i].AppendJSON(p.rows, output.Names{})
	}
}

func (q *query) run(ctx context.Context, out io.Writer) (sum Counts, err error) {
	var tables *lshbands.Permuted
	if c := &q.index.config; q.index.isDistance {
		if tables, err = lshbands.PlanTables(c.Bits, c.Hamming, c.Blocks...); err != nil {
			return sum, err
		}
	}
	held := newAdded(q.Threshold, tables, q.Window)
	pool := documents.Pool[*portion]{
		New: func() *portion { return new(portion) },
		End: (*portion).release,
		Readers: []documents.Reader[*portion]{func(ctx context.Context, put func(func(*portion) error) error) error {
			r := rights{ctx: ctx}
			defer r.release()
			return q.read(&r, func(file *corpus.File, batch corpus.Batch) error {
				return put(func(p *portion) error {
					*p = portion{
						Portion:   documents.Portion{File: file, Batch: batch},
						rows:      p.rows[:0],
						questions: p.questions[:0],
						holds:     r.transfer(),
						ends: file.Name == corpus.Stdin &&
							(string(batch.Data) == "\n" || bytes.HasSuffix(batch.Data, []byte("\n\n"))),
					}
					return nil
				})
			})
		}},
		Worker: func() (func(context.Context, *portion, func() error) error, error) {
			worker, err := q.newWorker()
			if err != nil {
				return nil, err
			}
			return worker.work, nil
		},
		Write: func(p *portion) error {
			for i := range p.questions {
				if err := held.answer(p, &p.questions[i], q.Top); err != nil {
					return failure.New(failure.Usage, err)
				}
			}
			sum.add(p)
			if p.ends {
				p.rows = append(p.rows, '\n')
			}
			if len(p.rows) == 0 {
				return nil
			}
			if _, err := out.Write(p.rows); err != nil {
				return failure.New(failure.Storage, fmt.Errorf("write matches: %w", err))
			}
			return nil
		},
	}
	_, err = pool.Run(ctx)
	return sum, err
}

func (c *Counts) add(p *portion) {
	c.Documents += p.Documents
	c.Matched += p.matched
	c.Matches += p.matches
	if c.Rejected == 0 {
		c.FirstReject = p.FirstReject
	}
	c.Rejected += p.Rejected
}

// rights are what a reader waits for before it holds much. It is not for concurrent use.
type rights struct {
	ctx     context.Context
	holds   bool // the right to hold a long line, until a portion has it
	windows documents.Windows
}

func (r *rights) hold() error {
	err := documents.HoldLongLine(r.ctx)
	r.holds = err == nil
	return err
}

func (r *rights) holdWindow() (func(), error) { return r.windows.Hold(r.ctx) }

// transfer reports whether the reader had the right to hold a long line. From now on it is the caller's.
func (r *rights) transfer() (had bool) {
	had, r.holds = r.holds, false
	return had
}

func (r *rights) release() {
	if r.transfer() {
		documents.ReleaseLongLine()
	}
}

func (q *query) read(r *rights, pass func(file *corpus.File, batch corpus.Batch) error) error {
	limits := q.sketching.Limits(r.hold, r.holdWindow)
	for number := range q.files {
		file := &q.files[number]
		for batch, err := range formats.Batches(*file, number, limits, q.sketching.Wanted()) {
			if err != nil {
				return failure.New(failure.Input, err)
			}
			if err := pass(file, batch); err != nil {
				return err
			}
		}
	}
	if q.stdin {
		return readStream(q.Stdin, limits, pass)
	}
	return nil
}

// queryWorker turns portions into rows. It is not for concurrent use.
type queryWorker struct {
	top      int
	add      bool
	sketcher *documents.Sketcher
	stripper *sketch.Stripper // nil: no shingles are common
	searcher *searcher
	matches  []output.Match
}

func (q *query) newWorker() (*queryWorker, error) {
	var header index.Header
	if len(q.index.files) > 0 {
		header = q.index.files[0].Header
	}
	sketching, err := q.sketching.WithIgnored(header.Ignored)
	if err != nil {
		return nil, err
	}
	kept := documents.Kept{Fingerprints: q.index.config.Kind().Name}
	sketcher, err := documents.NewSketcher(sketching, kept, header.StopWords)
	if err != nil {
		return nil, err
	}
	w := &queryWorker{top: q.Top, add: q.Add, sketcher: sketcher, searcher: newSearcher(q.index, q.Threshold)}
	w.stripper, err = header.Stripper(sketching.Options.SimHashBits)
	return w, err
}

func (w *queryWorker) strip(f sketch.Fingerprint) sketch.Fingerprint {
	if w.stripper == nil {
		return f
	}
	if f.Set, f.SimHash = w.stripper.Strip(f.Set); len(f.Set) > 0 {
		f.Digest = w.searcher.digester.Set(f.Set)
	}
	return f
}

func (w *queryWorker) work(ctx context.Context, p *portion, _ func() error) error {
	defer p.release()
	w.sketcher.TakeTurns(ctx)
	for d := range p.Sketch(w.sketcher) {
		if err := ctx.Err(); err != nil {
			return err
		}
		fingerprint := w.strip(d.Fingerprint)
		all, err := w.searcher.search(fingerprint)
		if err != nil {
			return failure.New(failure.Input, err)
		}
		if w.top > 0 {
			all = all[:min(len(all), w.top)]
		}
		if len(all) == 0 && !w.add {
			continue
		}
		name, position := p.File.Place(d.Position)
		ref := quoting.AppendString(nil, fmt.Sprintf("%s:%d", name, position))
		id := ref
		if d.Record.HasID {
			id = nameOf(d.Record.ID, d.Record.IsInteger)
		}
		w.matches = w.matches[:0]
		for i := range all {
			w.matches = append(w.matches, all[i].row(id, ref))
		}
		if w.add {
			p.questions = append(p.questions, newQuestion(id, ref, fingerprint, slices.Clone(w.matches)))
		} else {
			p.add(w.matches)
		}
	}
	return nil
}

// question is a document that is asked about, and then held.
type question struct {
	id, ref     []byte // as JSON
	packed      []byte // its set
	digest      sketch.Digest
	fingerprint []uint64
	matches     []output.Match // in the index
}

func newQuestion(id, ref []byte, f sketch.Fingerprint, matches []output.Match) question {
	a := question{id: id, ref: ref, digest: f.Digest, matches: matches}
	a.packed = sketchblock.AppendPacked(make([]byte, 0, sketchblock.HashSize*len(f.Set)+2), f.Set)
	a.fingerprint = slices.Clone(f.SimHash)
	return a
}

// compareMatches compares two matches of a document. The better one comes first.
func compareMatches(a, b *output.Match) int {
	return cmp.Or(cmp.Compare(a.Hamming, b.Hamming), cmp.Compare(b.Jaccard, a.Jaccard))
}

// answer appends the rows of a document to the rows of a portion, and then holds the document.
func (h *added) answer(p *portion, a *question, top int) error {
	matches := h.search(a.matches, a, top)
	slices.SortStableFunc(matches, func(x, y output.Match) int { return compareMatches(&x, &y) })
	if top > 0 {
		matches = matches[:min(len(matches), top)]
	}
	p.add(matches)
	return h.add(a)
}
