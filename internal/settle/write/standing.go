package write

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/checksum"
	"mirrorbeam/internal/ground/storage"
	"mirrorbeam/internal/settle/clusters"
	"mirrorbeam/internal/settle/standing"
)

// Standing says what a task copies of the last results, and what it notes for the next run.
type Standing struct {
	// Notes says that components of this run may stand in the next one.
	Notes bool
	// List is the path of the components of the last run, "" if none of them stands. Results is the folder of its results.
	List, Results work.Path
}

// shardStanding is what stands in an output shard, and what is noted of it.
type shardStanding struct {
	Standing
	list      *standing.List
	firsts    []int // of the components of each shard of the list
	stretches []standing.Stretch
	noted     [][len(standing.Outputs)]standing.Rows // of each component that was made
}

// open reads what stands in the shard of a task. It returns nil if nobody wants to know.
func (s Standing) open(w *work.Desk, shard *clusters.Shard) (*shardStanding, error) {
	if !s.Notes {
		return nil, nil
	}
	shard.FindComponents()
	of := &shardStanding{Standing: s, noted: make([][len(standing.Outputs)]standing.Rows, shard.Components())}
	if s.List == "" {
		return of, nil
	}
	packed, err := w.Read(1, records.Stretches)
	if err != nil {
		return nil, err
	}
	for ; len(packed) > 0; packed = packed[standing.StretchSize:] {
		of.stretches = append(of.stretches, standing.GetStretch(packed))
	}
	if len(of.stretches) == 0 {
		return of, nil
	}
	slices.SortFunc(of.stretches, func(a, b standing.Stretch) int { return cmp.Compare(a.From, b.From) })
	if of.list, err = standing.Read(string(s.List)); err != nil {
		return nil, err
	}
	w.Hold(of.list)
	first := 0
	for _, n := range of.list.Shards {
		of.firsts = append(of.firsts, first)
		first += n
	}
	of.firsts = append(of.firsts, first)
	return of, nil
}

// following follows the rows of an output of a shard: it copies rows of the last results between them, and measures the rows of each component.
type following struct {
	*shardStanding
	shard *clusters.Shard
	of    int // number of the output
	rows  rowFile

	stretches []standing.Stretch // that are left
	component int                // whose rows are next or under way
	isBegun   bool
	last      lastRows
}

// rowFile is a file of rows.
type rowFile interface {
	// Copy writes rows that are packed already.
	Copy(rows int64, packed []byte) error
	// Mark returns how many bytes were written since it was called last, and their check sum.
	Mark() (bytes int64, sum uint32)
}

// follow has the rows of an output followed, which are written to a file. Whoever has them followed must close what is returned.
func (s *shardStanding) follow(shard *clusters.Shard, of string, rows rowFile) *following {
	f := &following{shardStanding: s, shard: shard, of: slices.Index(standing.Outputs[:], of), rows: rows, stretches: s.stretches}
	f.last = lastRows{shardStanding: s, of: f.of}
	shard.Follow(f.reached)
	return f
}

// reached says that the rows of a component are next, or that there are no more.
func (f *following) reached(component int) error {
	if !f.isBegun {
		f.isBegun = true
		if err := f.copy(); err != nil {
			return err
		}
		f.rows.Mark() // from now on they are summed up
	}
	for f.component < component {
		r := &f.noted[f.component][f.of]
		r.Bytes, r.Sum = f.rows.Mark()
		f.component++
		if err := f.copy(); err != nil {
			return err
		}
	}
	return nil
}

// copy copies the rows that stand before the next component.
func (f *following) copy() error {
	for next := f.shard.Start(f.component); len(f.stretches) > 0 && f.stretches[0].Before <= next; f.stretches = f.stretches[1:] {
		if err := f.last.copy(f.stretches[0], f.rows); err != nil {
			return fmt.Errorf("copy rows of the last results: %w", err)
		}
		f.rows.Mark()
	}
	return nil
}

// notes packs what the next run is to know of the shard.
func (s *shardStanding) notes(shard *clusters.Shard) []byte {
	var packed []byte
	left := s.stretches
	stand := func(before records.Number) {
		for ; len(left) > 0 && left[0].Before <= before; left = left[1:] {
			packed = standing.AppendStood(packed, left[0])
		}
	}
	shard.Notes(func(component int, c *standing.Component, documents []standing.Document) {
		stand(shard.Start(component))
		c.Rows = s.noted[component]
		packed = standing.AppendMade(packed, c, documents)
	})
	stand(shard.Start(shard.Components()))
	return packed
}

// lastRows reads rows of an output of the last results, from front to back.
type lastRows struct {
	*shardStanding
	of     int // number of the output
	shard  int // where the next component is
	next   int // number of the component
	offset int64
	file   storage.File // of the shard, nil before it is read
	size   int64        // of the file
	window []byte       // of the file, from start on
	start  int64
}

// copyBytes is about how many bytes are read and copied at a time. What lies between stretches is read with them: in a bucket each read is a
// request.
const copyBytes = 1 << 20

// copy copies the rows of a stretch to a file.
func (l *lastRows) copy(s standing.Stretch, to rowFile) error {
	all := l.list.Components
	for ; l.next < int(s.From); l.next++ {
		l.offset += all[l.next].Rows[l.of].Bytes
	}
	for l.next < int(s.To) {
		l.enter()
		end, bytes, rows := l.next, int64(0), int64(0)
		for ; end < min(int(s.To), l.firsts[l.shard+1]) && bytes < copyBytes; end++ {
			bytes += all[end].Rows[l.of].Bytes
			rows += l.list.RowsOf(end, l.of)
		}
		packed, err := l.read(bytes)
		if err == nil {
			err = to.Copy(rows, packed)
		}
		if err != nil {
			return err
		}
		l.next, l.offset = end, l.offset+bytes
	}
	return nil
}

// enter goes to the shard of the next component.
func (l *lastRows) enter() {
	shard := l.shard
	for l.firsts[shard+1] <= l.next {
		shard++
	}
	if shard == l.shard {
		return
	}
	l.close()
	l.shard, l.offset = shard, 0
	for i := l.firsts[shard]; i < l.next; i++ {
		l.offset += l.list.Components[i].Rows[l.of].Bytes
	}
}

// close closes the file.
func (l *lastRows) close() {
	if l.file != nil {
		l.file.Close() // it was only read
		l.file, l.window, l.start = nil, l.window[:0], 0
	}
}

// read reads the rows of the next components, and checks them.
func (l *lastRows) read(bytes int64) ([]byte, error) {
	if bytes == 0 {
		return nil, nil
	}
	name := output.ShardName(standing.Outputs[l.of], l.shard, len(l.list.Shards), output.JSONL)
	path := storage.Join(string(l.Results), name)
	if l.file == nil {
		l.size = 0
		for i := l.firsts[l.shard]; i < l.firsts[l.shard+1]; i++ {
			l.size += l.list.Components[i].Rows[l.of].Bytes
		}
		var err error
		if l.file, err = storage.Reopen(storage.Info{Name: path, Size: l.size}); err != nil {
			return nil, err
		}
	}
	if l.offset+bytes > l.start+int64(len(l.window)) {
		length := min(max(bytes, copyBytes), l.size-l.offset)
		l.window, l.start = slices.Grow(l.window[:0], int(length))[:length], l.offset
		if _, err := l.file.ReadAt(l.window, l.start); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
	}
	packed := l.window[l.offset-l.start:][:bytes]
	rest := packed
	for i := l.next; len(rest) > 0; i++ {
		r := l.list.Components[i].Rows[l.of]
		if checksum.Of(rest[:r.Bytes]) != r.Sum && r.Bytes > 0 {
			return nil, &storage.DamagedError{Op: "read rows of", Path: path, Err: errChanged}
		}
		rest = rest[r.Bytes:]
	}
	return packed, nil
}

// errChanged says that somebody has changed results.
var errChanged = errors.New("they are not as the last run has left them: run the job with --republish, which makes all rows anew")
