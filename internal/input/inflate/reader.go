// Package inflate decodes files of gzip members or zstd frames, and of bzip2, xz and lz4.
//
// One core decodes zstd, which is fast enough, a gzip file of a single member, and what libraries decode: bzip2, xz and lz4. A gzip file of many is cut into chunks
// of whole members. [Workers] decode these side by side, ahead of the caller, and [Reader] hands out their bytes in order.
// What it returns is what one decoder would return that goes through the file alone, faults included.
//
// # How a file is cut
//
// A gzip member does not tell where it ends. So a chunk ends before bytes that look like the header of a member, and it is
// tried. It was cut rightly if it ends with the end of a member, and no fault is in it. Then the next member can only begin
// there. If a chunk fails in any way, the workers ahead are thrown away, and the one decoder of the Reader goes through that
// chunk again. This decoder alone finds faults and junk. It also reads what the workers cannot: members that are too long to
// be held, and everything if no worker is free.
package inflate

import "io"

// Options say how a file is read.
type Options struct {
	// Size is the length of the stored file in bytes.
	Size int64
	// Window is the largest zstd window in bytes. A frame that needs a larger one is a fault. 0 stands for
	// [DefaultWindow].
	Window int64
	// Workers decode members of gzip ahead. Nil stands for none.
	Workers *Workers
	// HoldWindow, if it is not nil, is called before a window of more than [SmallWindow] is held. It may wait. Release is called when
	// the window is free again, at the end of the file or when the reader leaves it.
	HoldWindow func() (release func(), err error)
}

// decoder decodes members or frames one after the other.
type decoder interface {
	// reset starts over on what a file stores from a position on. A member begins there.
	reset(stored io.Reader, at int64, about Options) error
	// Read decodes bytes of one member. It may return nothing and no error. Its error is io.EOF, a *Fault, or an
	// error of the file.
	Read(p []byte) (int, error)
	// stored returns the stored bytes.
	stored() *input
	// hold waits for the right to hold a large window, see [Options].
	hold() error
	close()
}

// Reader decodes a file. It is not for concurrent use.
type Reader struct {
	options Options
	ahead   readAhead
	decoder decoder
	member  int64 // where the member of the last Read begins
	skip    int64 // decoded bytes that a worker has delivered, and that the decoder has yet to pass

	workers  workers // those at work
	next     int64   // the workers are not tried before this position in the file
	failures int     // chunks of the file that had to be decoded again
}

// NewGzip returns a reader of gzip. Reset must be called first.
func NewGzip() *Reader { return &Reader{decoder: new(gzipStream)} }

// NewZstd returns a reader of zstd. Reset must be called first.
func NewZstd() *Reader { return &Reader{decoder: new(zstdStream)} }

// Reset goes on to another file. It keeps the decoders.
func (r *Reader) Reset(stored io.Reader, options Options) error {
	r.workers.stop()
	r.options = options
	r.ahead = readAhead{file: stored}
	r.skip, r.next, r.failures = 0, 0, 0
	return r.decoder.reset(&r.ahead, 0, options)
}

// Close frees the decoders. It must be called in the end, and ends the workers of the reader.
func (r *Reader) Close() {
	r.workers.stop()
	r.decoder.close()
}

// HoldWindow waits for the right to hold a large window, for the rest of the file. A file of gzip needs none.
func (r *Reader) HoldWindow() error { return r.decoder.hold() }

// Member returns where in the stored file the member or frame begins that the bytes of the last Read come from.
func (r *Reader) Member() int64 { return r.member }

// Read decodes bytes of one member or frame. The error is io.EOF at the end of the file, and a *[Fault] where the file is
// damaged. Reading may go on after a fault that is not the last. Any other error is one of the file.
func (r *Reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		if err := r.tryWorkers(); err != nil {
			return 0, err
		}
		if r.workers.isIdle() {
			if n, err := r.decode(p); n > 0 || err != nil {
				return n, err
			}
			continue
		}
		n, member := r.workers.read(p)
		if n > 0 {
			r.member = member
			return n, nil
		}
		if err := r.endChunk(); err != nil {
			return 0, err
		}
	}
}

// decode reads from the decoder.
func (r *Reader) decode(p []byte) (int, error) {
	n, err := r.decoder.Read(p)
	r.member = r.decoder.stored().member
	if r.skip > 0 {
		again := min(r.skip, int64(n))
		n = copy(p, p[again:n])
		r.skip -= again
	}
	return n, err
}

// tryWorkers passes the file from the decoder to the workers, if it is between two members, and a chunk can be cut off
// there.
func (r *Reader) tryWorkers() error {
	gzip, isGzip := r.decoder.(*gzipStream)
	if r.options.Workers == nil || !r.workers.isIdle() || !isGzip || gzip.inMember || !gzip.wasWhole {
		return nil
	}
	stored := gzip.stored()
	at := stored.offset()
	if at < r.next || r.skip > 0 || r.options.Size-at < 2*r.options.Workers.least {
		return nil
	}
	r.next = at + r.options.Workers.least
	if len(r.options.Workers.free) == 0 {
		return nil
	}
	unread, _ := stored.Peek(stored.Buffered()) // no error: it is there
	r.ahead.putBack(unread)
	r.workers.end = at
	r.fillWorkers()
	if r.workers.isIdle() {
		r.next = at + r.longestChunk()
		return r.decoder.reset(&r.ahead, at, r.options)
	}
	return nil
}

// fillWorkers cuts chunks off what follows, and gives each to a worker, until no worker is free.
func (r *Reader) fillWorkers() {
	most := r.longestChunk()
	least := int(max(min(r.options.Workers.least, most/2), 1))
	for r.options.Workers.take() {
		chunk := r.ahead.cut(least, int(most), !r.workers.isIdle())
		if chunk == nil {
			r.options.Workers.put()
			return
		}
		r.workers.start(chunk, r.options)
	}
}

// longestChunk is how many bytes of the file a worker may hold, and about how many decoded bytes as well. Where
// the window is smaller than usual, memory is scarce.
func (r *Reader) longestChunk() int64 {
	share := r.options.Workers.share
	if window := r.options.Window; window > 0 && window < DefaultWindow {
		share = share * window / DefaultWindow
	}
	return share
}

// endChunk ends the first chunk, whose bytes are all delivered. If it failed, the decoder goes through it again.
func (r *Reader) endChunk() error {
	first := r.workers.running[0]
	if first.isWhole {
		r.workers.drop()
		r.fillWorkers()
		if r.workers.isIdle() {
			return r.decoder.reset(&r.ahead, r.workers.end, r.options)
		}
		return nil
	}
	r.skip = first.delivered
	r.next = first.at + r.longestChunk()<<min(r.failures, 20)
	r.failures++
	r.ahead.putBack(r.workers.stop())
	return r.decoder.reset(&r.ahead, first.at, r.options)
}
