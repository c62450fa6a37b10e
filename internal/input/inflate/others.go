package inflate

import (
	"compress/bzip2"
	"errors"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/pierrec/lz4/v4"
	"github.com/therootcompany/xz"
)

// NewBzip2 returns a reader of bzip2. Reset must be called first.
func NewBzip2() *Reader { return &Reader{&byLibrary{name: "bzip2", open: openBzip2}} }

// NewXZ returns a reader of xz. Reset must be called first.
func NewXZ() *Reader { return &Reader{&byLibrary{name: "xz", open: openXZ}} }

// NewLZ4 returns a reader of lz4. Reset must be called first.
func NewLZ4() *Reader { return &Reader{&byLibrary{name: "lz4", open: openLZ4}} }

// byLibrary decodes a file with a library that goes through all its streams, as if they were one member.
type byLibrary struct {
	name    string
	open    func(l *byLibrary, window int64) (io.Reader, error)
	input   input
	about   Options
	decoder io.Reader // nil before the first Read
	window  right
	ended   error // nothing follows
}

func (l *byLibrary) reset(file io.Reader, about Options) error {
	l.close()
	l.input.reset(file, about.Size)
	l.about, l.decoder, l.ended, l.window.take = about, nil, nil, about.HoldWindow
	return nil
}

func (l *byLibrary) stored() *input { return &l.input }

func (l *byLibrary) hold() error { return l.window.hold() }

func (l *byLibrary) close() {
	l.decoder = nil
	l.window.giveBack()
}

// Read decodes. An error comes after all bytes before it.
func (l *byLibrary) Read(p []byte) (n int, err error) {
	if l.ended != nil {
		return 0, l.ended
	}
	if l.decoder == nil {
		window := l.about.Window
		if window == 0 {
			window = DefaultWindow
		}
		l.decoder, err = l.open(l, window)
	}
	if err == nil {
		n, err = l.decoder.Read(p)
	}
	if err == nil {
		return n, nil
	}
	if l.input.skipZeros(); l.input.isOver() && strings.Contains(err.Error(), "continuation file") {
		err = io.EOF // zeros behind a stream of bzip2 fill a block
	}
	if l.ended = err; err != io.EOF && !isFault(err) {
		l.ended = l.input.damage(l.name, err)
	}
	l.close()
	if n > 0 {
		return n, nil
	}
	return 0, l.ended
}

func isFault(err error) bool {
	_, is := errors.AsType[*Fault](err)
	return is
}

func openBzip2(l *byLibrary, _ int64) (io.Reader, error) { return bzip2.NewReader(l.input.Reader), nil }

func openLZ4(l *byLibrary, _ int64) (io.Reader, error) {
	const leastFrame = 11 // magic, descriptor, end mark
	if head, err := l.input.Peek(leastFrame); len(head) > 0 && len(head) < leastFrame && errors.Is(err, io.EOF) {
		return nil, io.ErrUnexpectedEOF // the library would take it for the end
	}
	return lz4.NewReader(l.input.Reader), nil
}

// xzHeader is how many bytes of a file of xz show the dictionary of its first block: the header of the stream, the
// longest one of a block.
const xzHeader = 12 + 1024

// openXZ opens a file of xz. No block may need a larger dictionary than its first one, or than a small one.
func openXZ(l *byLibrary, window int64) (io.Reader, error) {
	head, _ := l.input.Peek(xzHeader) // the decoder meets the same error
	dictionary := max(xzDictionary(head), SmallWindow)
	if dictionary > window {
		return nil, LastFault(
			"xz block needs a dictionary of %d MiB, and at most %d MiB are held: recompress the file with xz -6, "+
				"or give a --memory of eight times that; documents after this point are lost",
			(dictionary+1<<20-1)>>20, window>>20)
	}
	if dictionary > SmallWindow {
		if err := l.hold(); err != nil {
			l.input.counted.err = err
			return nil, err
		}
	}
	return xz.NewReader(l.input.Reader, uint32(dictionary))
}

// xzDictionary returns how large a dictionary the first block of a file of xz needs, by its header; 0 if that does not
// say it. The header of a stream has 12 bytes. The one of a block has its length, flags, two numbers that may be
// missing, and the filters, the last of which is LZMA2.
func xzDictionary(head []byte) int64 {
	const stream, lzma2, largest = 12, 0x21, 40
	if len(head) < stream+2 {
		return 0
	}
	block := head[stream:min(len(head), stream+(int(head[stream])+1)*4)]
	at := 2
	number := func() (n uint64) {
		for shift := 0; at < len(block) && shift < 63; shift += 7 {
			c := block[at]
			at++
			n |= uint64(c&0x7f) << shift
			if c < 0x80 {
				break
			}
		}
		return n
	}
	for _, flag := range []byte{0x40, 0x80} {
		if block[1]&flag != 0 {
			number()
		}
	}
	for range block[1]&3 + 1 {
		id, size := number(), number()
		if at >= len(block) || size > uint64(len(block)-at) {
			return 0
		}
		if id == lzma2 && size == 1 {
			bits := min(int64(block[at]), largest)
			return (2 | bits&1) << (bits/2 + 11)
		}
		at += int(size)
	}
	return 0
}

const (
	gzipName  = "gzip"
	gzipMagic = "\x1f\x8b"
	// emptyMember is a member without content. It has one block, with tables of one code each.
	emptyMember = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff" +
		"\x05\xc0\x81\x00\x00\x00\x00\x00\x90\xff\x6b\x00\x00\x00\x00\x00\x00\x00\x00\x00"
)

// gzipStream decodes gzip members one after the other. It sees the end of each member itself. So it can tell
// junk behind a whole member from a damaged header.
type gzipStream struct {
	input    input
	decoder  gzip.Reader
	empty    strings.Reader // of emptyMember
	inMember bool
	wasWhole bool
}

func (g *gzipStream) reset(file io.Reader, about Options) error {
	g.input.reset(file, about.Size)
	g.inMember, g.wasWhole = false, true
	return nil
}

func (g *gzipStream) stored() *input { return &g.input }

func (g *gzipStream) close() {}

// hold waits for nothing: no window of gzip is large.
func (g *gzipStream) hold() error { return nil }

// Read decodes. At the end of a member it returns, with or without bytes.
func (g *gzipStream) Read(p []byte) (int, error) {
	if !g.inMember {
		if err := g.nextMember(); err != nil {
			return 0, err
		}
	}
	n, err := g.decoder.Read(p)
	switch {
	case err == nil:
		return n, nil
	case errors.Is(err, io.EOF):
		g.inMember, g.wasWhole = false, true
		return n, nil
	case errors.Is(err, gzip.ErrChecksum):
		g.inMember, g.wasWhole = false, false
		return n, mismatch(gzipName, "member")
	default:
		return n, g.input.damage(gzipName, err)
	}
}

func (g *gzipStream) nextMember() error {
	if g.wasWhole {
		g.input.skipZeros() // tapes and disks fill their last block with them
	}
	head, err := g.input.Peek(len(gzipMagic))
	switch {
	case g.input.counted.err != nil:
		return g.input.counted.err
	case len(head) == 0:
		return err
	case string(head) != gzipMagic[:len(head)]:
		return g.input.junk(gzipName, "member", g.wasWhole)
	}
	g.input.member = g.input.offset()
	g.forget()
	if err := g.decoder.Reset(g.input.Reader); err != nil {
		return g.input.damage(gzipName, err)
	}
	g.decoder.Multistream(false)
	g.inMember = true
	return nil
}

// forget makes the decoder forget earlier members. Of these it keeps its tables, and damaged data may use them. Without
// forget, what is read of a damaged member would depend on what was read before.
func (g *gzipStream) forget() {
	g.empty.Reset(emptyMember)
	if err := g.decoder.Reset(&g.empty); err == nil {
		g.decoder.Read(nil)
	}
}
