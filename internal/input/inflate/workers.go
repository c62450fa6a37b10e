package inflate

import (
	"bytes"
	"io"
	"sync"
)

const (
	// aheadBytes is how much all workers of a process hold, stored and decoded.
	aheadBytes = 64 << 20
	// mostWorkers is more than one caller can keep busy.
	mostWorkers = 32
	// leastChunk is the length of a usual chunk in stored bytes. Decoded it is some 1 MiB: enough to be worth a
	// goroutine.
	leastChunk = 256 << 10
	// blockBytes is how many decoded bytes a worker delivers at a time.
	blockBytes = 128 << 10
)

// Workers decode chunks of gzip files side by side. All readers of a process share them, so that they bound its memory: they
// hold 64 MiB. A reader that finds no free worker decodes by itself.
type Workers struct {
	free  chan struct{}
	share int64 // stored bytes that a worker may hold, and decoded bytes as well
	least int64 // stored bytes of a usual chunk

	blocks   sync.Pool // of *block
	decoders sync.Pool // of *gzipStream
}

// NewWorkers returns the workers for a number of cores; nil if there is only one core, which needs none.
func NewWorkers(cores int) *Workers {
	if cores < 2 {
		return nil
	}
	n := min(2*cores, mostWorkers)
	l := &Workers{free: make(chan struct{}, n), share: aheadBytes / 2 / int64(n), least: leastChunk}
	for range n {
		l.free <- struct{}{}
	}
	return l
}

// take takes a worker if one is free.
func (l *Workers) take() bool {
	select {
	case <-l.free:
		return true
	default:
		return false
	}
}

// put gives a worker back.
func (l *Workers) put() { l.free <- struct{}{} }

// emptyBlock returns a block to fill.
func (l *Workers) emptyBlock() *block {
	if b, is := l.blocks.Get().(*block); is {
		return b
	}
	return &block{decoded: make([]byte, 0, blockBytes)}
}

// decoder returns a decoder of members.
func (l *Workers) decoder() *gzipStream {
	if d, is := l.decoders.Get().(*gzipStream); is {
		return d
	}
	return new(gzipStream)
}

// block is what a worker delivers: decoded bytes, and the members from which they come.
type block struct {
	decoded []byte
	members []begin
}

type begin struct {
	at     int   // in the decoded bytes of a block
	stored int64 // in the stored file
}

type worker struct {
	stored    []byte
	at        int64       // of the chunk in the file
	blocks    chan *block // closed at the end of the chunk, or at its first fault
	isWhole   bool        // the chunk ends with a member and has no fault; set before blocks is closed
	delivered int64       // decoded bytes that the caller has
}

type workers struct {
	all     *Workers
	running []*worker     // in the order of the file
	end     int64         // where the chunk of the last one ends
	block   *block        // of the first one, which the caller reads
	passed  int           // bytes of the block that the caller has
	quit    chan struct{} // closed to end the workers
	group   sync.WaitGroup
}

func (l *workers) isIdle() bool { return len(l.running) == 0 }

// start starts a worker on the chunk that follows. The caller has taken the worker.
func (l *workers) start(stored []byte, about Options) {
	if l.isIdle() {
		l.all, l.quit = about.Workers, make(chan struct{})
	}
	started := &worker{stored: stored, at: l.end, blocks: make(chan *block, max(about.Workers.share/blockBytes, 1))}
	l.running = append(l.running, started)
	l.end += int64(len(stored))
	quit := l.quit
	l.group.Go(func() {
		defer close(started.blocks)
		decoder := l.all.decoder()
		defer l.all.decoders.Put(decoder)
		if err := decoder.reset(bytes.NewReader(stored), started.at, about); err == nil {
			started.isWhole = l.decode(decoder, started.blocks, quit)
		}
	})
}

// decode delivers the bytes of a chunk. It reports whether the chunk is whole.
func (l *workers) decode(from *gzipStream, blocks chan<- *block, quit <-chan struct{}) bool {
	for {
		b := l.all.emptyBlock()
		err := b.fill(from)
		select {
		case blocks <- b:
		case <-quit:
			l.all.blocks.Put(b)
			return false
		}
		if err != nil {
			return err == io.EOF
		}
	}
}

// fill decodes into an unused block until it is full.
func (b *block) fill(from *gzipStream) error {
	b.decoded, b.members = b.decoded[:0], b.members[:0]
	for len(b.decoded) < cap(b.decoded) {
		end := len(b.decoded)
		n, err := from.Read(b.decoded[end:cap(b.decoded)])
		if n > 0 {
			b.decoded = b.decoded[:end+n]
			if member := from.stored().member; len(b.members) == 0 || b.members[len(b.members)-1].stored != member {
				b.members = append(b.members, begin{end, member})
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// read reads bytes of one member from the first worker, and says where the member begins. It returns 0 at the end of the
// worker's chunk.
func (l *workers) read(p []byte) (n int, member int64) {
	for l.block == nil || l.passed == len(l.block.decoded) {
		l.recycle()
		next, more := <-l.running[0].blocks
		if !more {
			return 0, 0
		}
		l.block = next
	}
	b := l.block
	end := len(b.decoded)
	if len(b.members) > 1 {
		end = b.members[1].at
	}
	member = b.members[0].stored
	n = copy(p, b.decoded[l.passed:end])
	if l.passed += n; l.passed == end {
		b.members = b.members[1:]
	}
	l.running[0].delivered += int64(n)
	return n, member
}

// recycle lets a worker use the block again.
func (l *workers) recycle() {
	if l.block != nil {
		l.all.blocks.Put(l.block)
	}
	l.block, l.passed = nil, 0
}

// drop goes on to the next worker.
func (l *workers) drop() {
	l.running[0] = nil
	l.running = l.running[1:]
	l.all.put()
}

// stop ends all workers and waits for them. It returns the stored bytes of their chunks.
func (l *workers) stop() []byte {
	if l.isIdle() {
		return nil
	}
	close(l.quit)
	l.group.Wait()
	l.recycle()
	var stored []byte
	for !l.isIdle() {
		stored = append(stored, l.running[0].stored...)
		l.drop()
	}
	return stored
}
