package corpus

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// inputBytes is the read-ahead on a compressed file.
const inputBytes = 128 << 10

const (
	// MaxWindow is the largest possible zstd window in bytes: the one of zstd --long=31.
	MaxWindow = 1 << 31
	// DefaultWindow is the largest zstd window that is held unless more is allowed: the one of zstd
	// --long=27. Beyond that the zstd command, too, wants to be told.
	DefaultWindow = 128 << 20
)

// Fault is damage in the data of a compressed stream. A failure to read the stream is no Fault.
type Fault struct {
	// Message says what is damaged.
	Message string
	// Warning says that no document is lost.
	Warning bool
	// Last says that nothing more can be decoded.
	Last bool
}

// Error returns the message.
func (f *Fault) Error() string { return f.Message }

// reject returns the fault as a reject.
func (f *Fault) reject(position int64) Reject {
	return Reject{Position: position, Message: f.Message, Warning: f.Warning}
}

// input reads a compressed file ahead. When a decoder fails, input knows the cause: bad bytes in the file, or
// a failure to read it.
type input struct {
	*bufio.Reader
	counted counted
	size    int64
	member  int64 // where the current member or frame begins in the file
}

// counted counts the bytes read from a file and keeps its read error.
type counted struct {
	file io.Reader
	n    int64
	err  error
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.file.Read(p)
	c.n += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}

// reset starts over on a file of the given size.
func (in *input) reset(file io.Reader, size int64) {
	in.counted = counted{file: file}
	in.size = size
	if in.Reader == nil {
		in.Reader = bufio.NewReaderSize(&in.counted, inputBytes)
	} else {
		in.Reader.Reset(&in.counted)
	}
}

// offset returns the position of the next byte in the file.
func (in *input) offset() int64 { return in.counted.n - int64(in.Buffered()) }

// damage says what a decoder's error means.
func (in *input) damage(format Compression, err error) error {
	switch {
	case in.counted.err != nil:
		return in.counted.err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return &Fault{Last: true, Message: fmt.Sprintf("%v stream is cut short: %v; documents after this point are lost", format, io.ErrUnexpectedEOF)}
	}
	return &Fault{Last: true, Message: fmt.Sprintf("%v stream is damaged: %v; documents after this point are lost", format, err)}
}

// mismatch is the fault of a part that was decoded to its end but does not match its stored checksum.
func mismatch(format Compression, part string) *Fault {
	return &Fault{Message: fmt.Sprintf("%v checksum does not match: documents of the %s that ends here may be damaged", format, part)}
}

// junk is the fault of bytes behind a part that do not belong to the format. If that part had a fault of its
// own, the bytes may be the rest of it.
func (in *input) junk(format Compression, part string, wasWhole bool) *Fault {
	left := in.size - in.offset()
	if wasWhole {
		return &Fault{Warning: true, Last: true, Message: fmt.Sprintf("%d bytes after the last whole %v %s are not %v data and were not used", left, format, part, format)}
	}
	return &Fault{Last: true, Message: fmt.Sprintf("%d bytes after a damaged %v %s are not %v data; documents in them are lost", left, format, part, format)}
}

// gzipStream decodes gzip members one after the other. It sees the end of each member itself. So it can tell
// junk behind a whole member from a damaged header.
type gzipStream struct {
	input    input
	decoder  gzip.Reader
	inMember bool
	wasWhole bool
}

// reset starts over on a file of the given size.
func (g *gzipStream) reset(file io.Reader, size int64) {
	g.input.reset(file, size)
	g.inMember, g.wasWhole = false, true
}

// Read decodes. Its error is io.EOF, a *Fault, or an error of the file.
func (g *gzipStream) Read(p []byte) (int, error) {
	for {
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
			if n > 0 {
				return n, nil
			}
		case errors.Is(err, gzip.ErrChecksum):
			g.inMember, g.wasWhole = false, false
			return n, mismatch(Gzip, "member")
		default:
			return n, g.input.damage(Gzip, err)
		}
	}
}

// nextMember reads the header of the next member.
func (g *gzipStream) nextMember() error {
	head, err := g.input.Peek(len(magicGzip))
	switch {
	case g.input.counted.err != nil:
		return g.input.counted.err
	case len(head) == 0:
		return err
	case string(head) != magicGzip[:len(head)]:
		return g.input.junk(Gzip, "member", g.wasWhole)
	}
	g.input.member = g.input.offset()
	if err := g.decoder.Reset(g.input.Reader); err != nil {
		return g.input.damage(Gzip, err)
	}
	g.decoder.Multistream(false)
	g.inMember = true
	return nil
}

// zstdStream decodes zstd frames one after the other.
type zstdStream struct {
	frames  zstdFrames
	decoder *zstd.Decoder
}

// reset starts over on a file of the given size.
func (z *zstdStream) reset(file io.Reader, size, window int64) (err error) {
	z.frames.input.reset(file, size)
	z.frames.window = window
	z.frames.wasWhole = true
	if z.decoder == nil {
		// A decoder with a concurrency of 1 is the fastest per core, and starts no goroutines.
		z.decoder, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(MaxWindow))
		if err != nil {
			return err
		}
	}
	z.frames.restart()
	return z.decoder.Reset(&z.frames)
}

// Read decodes. Its error is io.EOF, a *Fault, or an error of the file.
func (z *zstdStream) Read(p []byte) (int, error) {
	n, err := z.decoder.Read(p)
	if err == nil || n > 0 {
		return n, nil // the decoder repeats its error
	}
	if errors.Is(err, io.EOF) {
		if z.frames.hasNext {
			z.frames.hasNext = false
			if err := z.decoder.Reset(&z.frames); err != nil {
				return 0, err
			}
			return z.Read(p)
		}
		if z.frames.refused != nil {
			return 0, z.frames.refused
		}
		if z.frames.hasJunk {
			return 0, z.frames.input.junk(Zstd, "frame", z.frames.wasWhole)
		}
		return 0, io.EOF
	}
	// If a fault ends a frame, the decoder still holds its last block.
	if n, _ := z.decoder.Read(p); n > 0 {
		return n, nil
	}
	if errors.Is(err, zstd.ErrCRCMismatch) {
		z.frames.wasWhole = false
		if err := z.decoder.Reset(&z.frames); err != nil {
			return 0, err
		}
		return 0, mismatch(Zstd, "frame")
	}
	return 0, z.frames.input.damage(Zstd, err)
}

// close frees the decoder.
func (z *zstdStream) close() {
	if z.decoder != nil {
		z.decoder.Close()
		z.decoder = nil
	}
}

// zstdFrames passes a zstd file to the decoder. It follows the frames and blocks by their headers. So it can
// end the stream after a frame that no other frame follows. The decoder alone cannot tell one to three bytes
// of junk from a frame that is cut short.
type zstdFrames struct {
	input    input
	piece    int64 // bytes left to pass of the current header, block or checksum
	inFrame  bool
	hasBegun bool  // a frame has been passed or begun
	isLast   bool  // the last block of the frame has been passed or begun
	checksum bool  // the frame ends with a checksum
	hasJunk  bool  // the stream was ended before bytes that are no frame
	wasWhole bool  // no frame so far had a wrong checksum
	window   int64 // the largest window that a frame may need
	single   bool  // each frame is a stream of its own
	hasNext  bool  // a single frame was ended before another frame
	refused  error // the fault of a frame that needs a larger window
}

// restart expects a frame next.
func (f *zstdFrames) restart() {
	f.piece, f.inFrame, f.isLast, f.checksum, f.hasJunk, f.refused = 0, false, false, false, false, nil
	f.hasBegun, f.hasNext = false, false
}

// Read passes bytes of the current piece only.
func (f *zstdFrames) Read(p []byte) (int, error) {
	for f.piece == 0 {
		if err := f.nextPiece(); err != nil {
			return 0, err
		}
	}
	n, err := f.input.Read(p[:min(int64(len(p)), f.piece)])
	f.piece -= int64(n)
	return n, err
}

// nextPiece measures the next header, block or checksum. A piece that is cut short is passed as it is: the
// decoder will report it.
func (f *zstdFrames) nextPiece() error {
	switch {
	case !f.inFrame:
		return f.nextFrame()
	case f.isLast:
		f.inFrame = false
		if f.checksum {
			f.piece = 4
		}
		return nil
	}
	const headerBytes, isRunLength = 3, 1
	f.piece = headerBytes
	head, err := f.input.Peek(headerBytes)
	if err != nil {
		return f.input.counted.err
	}
	header := uint32(head[0]) | uint32(head[1])<<8 | uint32(head[2])<<16
	f.isLast = header&1 != 0
	if header>>1&3 == isRunLength {
		f.piece++
	} else {
		f.piece += int64(header >> 3)
	}
	return nil
}

// nextFrame measures the header of a frame, or a skippable frame.
func (f *zstdFrames) nextFrame() error {
	head, err := f.input.Peek(8)
	switch {
	case f.input.counted.err != nil:
		return f.input.counted.err
	case len(head) == 0:
		return err
	case isSkippable(head):
		f.piece = int64(len(head))
		if len(head) == 8 {
			f.piece += int64(binary.LittleEndian.Uint32(head[4:]))
		}
		return nil
	case len(head) < 4 || string(head[:4]) != magicZstd:
		f.hasJunk = true
		return io.EOF
	}
	if f.single && f.hasBegun {
		f.hasBegun, f.hasNext = false, true
		return io.EOF
	}
	f.hasBegun = true
	f.input.member = f.input.offset()
	f.inFrame, f.isLast = true, false
	f.piece = int64(len(head))
	if len(head) > 4 {
		descriptor := head[4]
		f.checksum = descriptor&4 != 0
		f.piece = zstdHeaderBytes(descriptor)
	}
	return f.checkWindow()
}

// checkWindow ends the stream before a frame that needs too large a window.
func (f *zstdFrames) checkWindow() error {
	header, err := f.input.Peek(int(f.piece))
	if err != nil || len(header) <= 5 {
		return f.input.counted.err // cut short: the decoder will report it
	}
	if window := zstdWindow(header); window > uint64(f.window) {
		f.refused = &Fault{Last: true, Message: fmt.Sprintf(
			"zstd frame needs a window of %d MiB, and at most %d MiB are held: recompress the file with zstd --long=%d, or give a --memory of eight times that window; documents after this point are lost",
			(window+1<<20-1)>>20, f.window>>20, bits.Len64(uint64(f.window))-1)}
		return io.EOF
	}
	return nil
}

// zstdWindow returns how many bytes a decoder must keep, according to the header of a frame.
func zstdWindow(header []byte) uint64 {
	descriptor, fields := header[4], header[5:]
	if isSingleSegment := descriptor>>5&1 == 1; !isSingleSegment {
		exponent, eighths := fields[0]>>3, uint64(fields[0]&7)
		return 1<<(10+exponent) + eighths<<(7+exponent)
	}
	// A single segment needs a window as large as its content.
	if dictionary := descriptor & 3; dictionary > 0 {
		fields = fields[1<<(dictionary-1):]
	}
	var size [8]byte
	copy(size[:], fields)
	content := binary.LittleEndian.Uint64(size[:])
	if len(fields) == 2 {
		content += 256
	}
	return content
}

// zstdHeaderBytes returns the length of a frame's header, according to its descriptor.
func zstdHeaderBytes(descriptor byte) int64 {
	isSingleSegment := descriptor>>5&1 == 1
	length := int64(len(magicZstd)) + 1
	if !isSingleSegment {
		length++ // window
	}
	if dictionary := descriptor & 3; dictionary > 0 {
		length += 1 << (dictionary - 1)
	}
	if contentSize := descriptor >> 6; contentSize > 0 || isSingleSegment {
		length += 1 << contentSize
	}
	return length
}
