package pipeline

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"mirrorbeam/internal/corpus"
	"mirrorbeam/internal/documents"
	"mirrorbeam/internal/failure"
	"mirrorbeam/internal/listing"
	"mirrorbeam/internal/methods"
	"mirrorbeam/internal/output"
	"mirrorbeam/internal/setting"
	"mirrorbeam/sketch"
)

// Query says what documents to look for in an index, and how.
type Query struct {
	// Input are files, folders and patterns as in Config; "-" is Stdin.
	Input []string
	Stdin io.Reader
	// Threshold is the least similarity, not below that of the index; 0: that of
	// the index.
	Threshold float64
	// Top is how many matches of a document there are at most, the most similar
	// ones; 0: all.
	Top int
	// Progress, if not nil, is given a line now and then where a step takes long.
	Progress func(line string)
}

// QueryCounts is what a query counted.
type QueryCounts struct {
	// Documents that were looked for, Matched ones of them that have a match, and
	// Matches in all.
	Documents, Matched, Matches int64
	// Rejected records could not be read; FirstReject says which the first one was
	// and why.
	Rejected    int64
	FirstReject string
}

// Query looks for documents and writes their matches to out, a row of JSON each:
// the documents in the order of the input, the matches of one by similarity, then
// in document order. It is exact: every document of the index with at least the
// threshold's similarity is found.
func (x *Index) Query(ctx context.Context, q Query, out io.Writer) (QueryCounts, error) {
	config := x.Summary.Config
	switch {
	case config.Scoring() == methods.Hamming && q.Threshold != 0:
		return QueryCounts{}, failure.New(failure.Usage, setting.Errorf("{threshold} %g: the index is of SimHash fingerprints within {hamming} %d; leave it out", q.Threshold, config.Hamming))
	case q.Threshold == 0:
		q.Threshold = config.Threshold
	case q.Threshold < config.Threshold:
		return QueryCounts{}, failure.New(failure.Usage, setting.Errorf("{threshold} %g: the index was made for %g or more: give at least that, or make an index with {threshold} %g", q.Threshold, config.Threshold, q.Threshold))
	}
	run := query{Query: q, index: x, sketching: config.Sketching(config.Sizing(0).WindowBytes)}
	if config.Scoring() != methods.Hamming {
		run.sketching.Options.SimHashBits = 0
	}
	if err := run.list(ctx); ctx.Err() != nil {
		return QueryCounts{}, ctx.Err()
	} else if err != nil {
		return QueryCounts{}, failure.New(failure.Input, err)
	}
	counts, err := run.run(ctx, out)
	if err == nil && counts.Documents == 0 && counts.Rejected > 0 {
		err = failure.New(failure.Input, fmt.Errorf("no document in the input, %s: %s", failure.Unreadable(counts.Rejected), counts.FirstReject))
	}
	return counts, err
}

// query is one under way.
type query struct {
	Query

	index     *Index
	sketching documents.Sketching
	files     []corpus.File
	stdin     bool
}

// list lists the input.
func (q *query) list(ctx context.Context) error {
	inputs := slices.Clone(q.Input)
	inputs = slices.DeleteFunc(inputs, func(input string) bool { return input == "-" })
	q.stdin = len(inputs) < len(q.Input)
	if len(inputs) == 0 {
		return nil
	}
	found, err := listing.Corpus(ctx, inputs, "input", q.Progress)
	q.files = found.Files
	return err
}

// portion is a part of the input on its way to rows.
type portion struct {
	name   string // of the file
	batch  corpus.Batch
	rows   []byte
	counts QueryCounts
}

// run passes portions from the input through a worker for each core to out, in order.
func (q *query) run(ctx context.Context, out io.Writer) (sum QueryCounts, err error) {
	pool := documents.Pool[*portion]{
		New: func() *portion { return new(portion) },
		Readers: []documents.Reader[*portion]{func(_ context.Context, put func(func(*portion) error) error) error {
			return q.read(func(name string, batch corpus.Batch) error {
				return put(func(p *portion) error {
					*p = portion{name: name, batch: batch, rows: p.rows[:0]}
					return nil
				})
			})
		}},
		Worker: func() (func(context.Context, *portion) error, error) {
			worker, err := q.newWorker()
			if err != nil {
				return nil, err
			}
			return worker.work, nil
		},
		Write: func(p *portion) error {
			sum.add(p.counts)
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

func (c *QueryCounts) add(other QueryCounts) {
	c.Documents += other.Documents
	c.Matched += other.Matched
	c.Matches += other.Matches
	if c.Rejected == 0 {
		c.FirstReject = other.FirstReject
	}
	c.Rejected += other.Rejected
}

// read passes on the batches of all files, then those of stdin.
func (q *query) read(pass func(name string, batch corpus.Batch) error) error {
	limit := q.sketching.LineLimit()
	for number, file := range q.files {
		if err := readCorpusFile(file, number, limit, pass); err != nil {
			return err
		}
	}
	if q.stdin {
		return readStream(q.Stdin, limit, pass)
	}
	return nil
}

func readCorpusFile(file corpus.File, number int, limit int64, pass func(name string, batch corpus.Batch) error) error {
	reader, err := corpus.Open(file, corpus.Stretch{File: number, End: file.Size}, corpus.Limits{Line: limit})
	if err != nil {
		return failure.New(failure.Input, err)
	}
	defer reader.Close()
	for {
		batch, err := reader.Next(nil)
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return failure.New(failure.Input, err)
		}
		if err := pass(file.Name, batch); err != nil {
			return err
		}
	}
}

// readStream reads lines from a stream, compressed or not. A batch ends where the
// stream makes a pause, so that who writes a line and waits gets the answer.
func readStream(stream io.Reader, limit int64, pass func(name string, batch corpus.Batch) error) error {
	decoded, err := corpus.Decoded(stream)
	if err != nil {
		return failure.New(failure.Input, fmt.Errorf("read -: %w", err))
	}
	defer decoded.Close()
	reader := bufio.NewReaderSize(decoded, corpus.BatchBytes)
	var batch corpus.Batch
	if mark, _ := reader.Peek(len(corpus.ByteOrderMark)); string(mark) == corpus.ByteOrderMark { // an error comes again
		skipped, _ := reader.Discard(len(mark))
		batch.Offset = int64(skipped)
	}
	for {
		start := len(batch.Data)
		data, length, err := appendLine(batch.Data, reader, limit)
		batch.Data = data
		isLong := length > limit
		if isLong {
			batch.Rejects = append(batch.Rejects, corpus.Reject{
				Position: batch.Offset + int64(start),
				Message:  fmt.Sprintf("line of %d bytes is longer than the %d bytes that --max-document allows for", length, limit),
			})
		}
		switch isEnd := errors.Is(err, io.EOF); {
		case err != nil && !isEnd:
			return failure.New(failure.Input, fmt.Errorf("read -: %w", err))
		case !isEnd && !isLong && reader.Buffered() > 0 && len(batch.Data) < corpus.BatchBytes:
			continue
		default:
			if err := pass("-", batch); err != nil || isEnd {
				return err
			}
			batch = corpus.Batch{Offset: batch.Offset + int64(len(batch.Data))}
			if isLong {
				batch.Offset += length + 1
			}
		}
	}
}

// appendLine appends the next line with its line feed, unless it is longer than
// limit: then it reads over it. It returns the length without the line feed.
func appendLine(data []byte, reader *bufio.Reader, limit int64) (_ []byte, length int64, err error) {
	start := len(data)
	for {
		var part []byte
		part, err = reader.ReadSlice('\n')
		length += int64(len(part))
		if err == nil {
			length--
		}
		if length > limit {
			data = data[:start]
		} else {
			data = append(data, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return data, length, err
		}
	}
}

// queryWorker turns portions into rows. It must not be used by two goroutines at a
// time.
type queryWorker struct {
	top      int
	sketcher *documents.Sketcher
	searcher *searcher
}

func (q *query) newWorker() (*queryWorker, error) {
	stopWords := ""
	if len(q.index.files) > 0 {
		stopWords = q.index.files[0].header.StopWords
	}
	sketcher, err := documents.NewSketcher(q.sketching, stopWords)
	if err != nil {
		return nil, err
	}
	return &queryWorker{top: q.Top, sketcher: sketcher, searcher: newSearcher(q.index, q.Threshold)}, nil
}

// work fills in rows and counts.
func (w *queryWorker) work(ctx context.Context, p *portion) error {
	for d := range p.documents(w.sketcher) {
		if err := ctx.Err(); err != nil {
			return err
		}
		all, err := w.searcher.search(d.fingerprint)
		if err != nil {
			return failure.New(failure.Input, err)
		}
		if w.top > 0 {
			all = all[:min(len(all), w.top)]
		}
		if len(all) == 0 {
			continue
		}
		p.counts.Matched++
		p.counts.Matches += int64(len(all))
		ref := output.AppendString(nil, fmt.Sprintf("%s:%d", p.name, d.position))
		id := ref
		if d.record.HasID {
			id = output.AppendString(nil, bytes.Clone(d.record.ID))
		}
		for i := range all {
			p.rows = output.AppendMatch(p.rows, all[i].row(id, ref))
		}
	}
	return nil
}

// document is one of a portion, valid until the next.
type document struct {
	position    int64
	record      corpus.Record
	fingerprint sketch.Fingerprint
}

// documents gives the documents of a portion and counts them, and what cannot be
// read: the first of which is known when a document that follows it is given.
func (p *portion) documents(sketcher *documents.Sketcher) iter.Seq[document] {
	return func(yield func(document) bool) {
		for _, reject := range p.batch.Rejects {
			p.reject(reject.Position, reject.Message)
		}
		for position, line := range p.batch.Lines() {
			if corpus.IsBlank(line) {
				continue
			}
			record, fingerprint, err := sketcher.Sketch(line)
			if err != nil {
				p.reject(position, err.Error())
				continue
			}
			p.counts.Documents++
			if !yield(document{position, record, fingerprint}) {
				return
			}
		}
	}
}

func (p *portion) reject(position int64, fault string) {
	if p.counts.Rejected == 0 {
		p.counts.FirstReject = fmt.Sprintf("%s:%d: %s", p.name, position, fault)
	}
	p.counts.Rejected++
}
