package inflate

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"

	"github.com/klauspost/compress/zstd"
)

const (
	zstdName = "zstd"
	// zstdMagic is what each frame begins with, unless it is skippable.
	zstdMagic = "\x28\xb5\x2f\xfd"
	// skippableMagic follows a byte from 0x50 to 0x5f at the beginning of a skippable frame.
	skippableMagic = "\x2a\x4d\x18"
)

const (
	// MaxWindow is the largest possible zstd window in bytes: the one of zstd --long=31.
	MaxWindow = 1 << 31
	// DefaultWindow is the largest zstd window that is held unless more is allowed: the one of zstd
	// --long=27. Beyond that the zstd command, too, wants to be told.
	DefaultWindow = 128 << 20
	// SmallWindow is the largest zstd window that needs no right, in bytes: RFC 8878 wants every decoder to have it.
	SmallWindow = 8 << 20
)

// zstdStream decodes zstd frames one after the other. Each is a stream of its own for the decoder.
type zstdStream struct {
	frames  zstdFrames
	decoder *zstd.Decoder
	between bool // the next Read begins a frame
	isFirst bool // and that is the first one of the file
	window  right
	ended   error // nothing follows
}

func (z *zstdStream) reset(file io.Reader, about Options) (err error) {
	z.letGo()
	z.ended, z.window.take = nil, about.HoldWindow
	z.frames.input.reset(file, about.Size)
	z.frames = zstdFrames{
		input:    z.frames.input,
		window:   cmp.Or(about.Window, DefaultWindow),
		hold:     z.hold,
		wasWhole: true,
	}
	if z.decoder == nil {
		// A decoder with a concurrency of 1 is the fastest per core, and starts no goroutines.
		z.decoder, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(MaxWindow))
	}
	z.between, z.isFirst = true, true
	return err
}

// learn gives the decoder the dictionary that the file begins with, and takes the one of another file from it. A
// dictionary that is none is passed over as other skippable frames are.
func (z *zstdStream) learn() error {
	dictionary, err := z.frames.dictionary()
	if err != nil {
		return err
	}
	options := []zstd.DOption{zstd.WithDecoderDictDelete()}
	if _, err := zstd.InspectDictionary(dictionary); err == nil {
		options = append(options, zstd.WithDecoderDicts(dictionary))
	}
	return z.decoder.ResetWithOptions(nil, options...)
}

func (z *zstdStream) stored() *input { return &z.frames.input }

func (z *zstdStream) hold() error { return z.window.hold() }

// letGo frees the decoder if it may hold a large window, and gives the right back.
func (z *zstdStream) letGo() {
	if z.window.release != nil {
		z.close()
	}
}

// Read decodes. At the end of a frame that another one follows it returns, with or without bytes.
func (z *zstdStream) Read(p []byte) (int, error) {
	if z.ended != nil {
		return 0, z.ended
	}
	n, err := z.read(p)
	if fault, isFault := errors.AsType[*Fault](err); n == 0 && err != nil && (!isFault || fault.Last) {
		z.ended = err
		z.letGo()
	}
	return n, err
}

func (z *zstdStream) read(p []byte) (int, error) {
	if z.isFirst {
		z.isFirst = false
		if err := z.learn(); err != nil {
			return 0, err
		}
	}
	if z.between {
		z.between = false
		if err := z.decoder.Reset(&z.frames); err != nil {
			return 0, err
		}
	}
	n, err := z.decoder.Read(p)
	if err == nil || n > 0 {
		return n, nil // the decoder repeats its error
	}
	if errors.Is(err, io.EOF) {
		switch f := &z.frames; {
		case f.hasNext:
			f.hasNext, z.between = false, true
			return 0, nil
		case f.refused != nil:
			return 0, f.refused
		case f.hasJunk:
			return 0, f.input.junk(zstdName, "frame", f.wasWhole)
		}
		return 0, io.EOF
	}
	// If a fault ends a frame, the decoder still holds its last block.
	if n, _ := z.decoder.Read(p); n > 0 {
		return n, nil
	}
	if errors.Is(err, zstd.ErrCRCMismatch) {
		z.frames.wasWhole, z.between = false, true
		return 0, mismatch(zstdName, "frame")
	}
	if errors.Is(err, zstd.ErrUnknownDictionary) {
		return 0, LastFault("zstd frame needs a dictionary that the file does not begin with: " +
			"decompress the file with zstd -D DICTIONARY; documents after this point are lost")
	}
	return 0, z.frames.input.damage(zstdName, err)
}

func (z *zstdStream) close() {
	if z.decoder != nil {
		z.decoder.Close()
		z.decoder = nil
	}
	z.window.giveBack()
}

const (
	blockHeaderBytes     = 3
	checksumBytes        = 4
	skippableHeaderBytes = 8
)

// zstdFrames passes a zstd file to the decoder and follows the headers, so it can end the stream after each frame. The
// decoder alone cannot tell one to three bytes of junk from a frame that is cut short.
type zstdFrames struct {
	input    input
	piece    int64 // bytes left to pass of the current header, block or checksum
	inFrame  bool
	hasBegun bool         // a frame has been passed or begun
	isLast   bool         // the last block of the frame has been passed or begun
	checksum bool         // the frame ends with a checksum
	hasJunk  bool         // the stream was ended before bytes that are no frame
	wasWhole bool         // no frame so far had a wrong checksum
	window   int64        // the largest window that a frame may need
	hold     func() error // waits before a frame that needs a large one
	hasNext  bool         // the stream was ended before another frame
	refused  error        // the fault of a frame that needs a larger window, or ends within its first four bytes
}

// dictionaryMagic begins the skippable frame at the beginning of a web archive that holds the dictionary of its
// records. mostDictionary is how long one may be, in bytes.
const (
	dictionaryMagic = "\x5d" + skippableMagic
	mostDictionary  = 16 << 20
)

// dictionary reads the frame that a file begins with, if that holds a dictionary: as it is, or in a frame of zstd. It
// returns nil if there is none.
func (f *zstdFrames) dictionary() ([]byte, error) {
	head, _ := f.input.Peek(skippableHeaderBytes) // the next read meets the same error
	if f.input.offset() != 0 || len(head) < skippableHeaderBytes ||
		string(head[:len(dictionaryMagic)]) != dictionaryMagic {
		return nil, nil
	}
	size := int64(binary.LittleEndian.Uint32(head[len(dictionaryMagic):]))
	if size > mostDictionary {
		return nil, nil // of some other use
	}
	f.input.Discard(skippableHeaderBytes) // no error: it was peeked
	stored, err := io.ReadAll(io.LimitReader(f.input.Reader, size))
	if err == nil && int64(len(stored)) < size {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, f.input.damage(zstdName, err)
	}
	if !bytes.HasPrefix(stored, []byte(zstdMagic)) {
		return stored, nil
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(mostDictionary))
	if err != nil {
		return nil, err
	}
	defer decoder.Close()
	if stored, err = decoder.DecodeAll(stored, nil); err != nil {
		return nil, f.input.damage(zstdName, fmt.Errorf("its dictionary: %v", err))
	}
	return stored, nil
}

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
			f.piece = checksumBytes
		}
		return nil
	}
	f.piece = blockHeaderBytes
	head, err := f.input.Peek(blockHeaderBytes)
	if err != nil {
		return f.input.counted.err
	}
	f.piece, f.isLast = zstdBlock(head)
	return nil
}

func (f *zstdFrames) nextFrame() error {
	if f.hasBegun && f.wasWhole {
		f.input.skipZeros()
	}
	head, err := f.input.Peek(zstd.HeaderMaxSize)
	switch {
	case f.input.counted.err != nil:
		return f.input.counted.err
	case len(head) == 0:
		return err
	case IsSkippable(head):
		f.piece = int64(len(head))
		if f.piece >= skippableHeaderBytes {
			f.piece = skippableHeaderBytes + int64(binary.LittleEndian.Uint32(head[4:]))
		}
		return nil
	case len(head) < len(zstdMagic) && string(head) == zstdMagic[:len(head)]:
		f.refused = f.input.damage(zstdName, io.ErrUnexpectedEOF)
		return io.EOF
	case len(head) < 4 || string(head[:4]) != zstdMagic:
		f.hasJunk = true
		return io.EOF
	}
	if f.hasBegun {
		f.hasBegun, f.hasNext = false, true
		return io.EOF
	}
	f.hasBegun = true
	f.input.member = f.input.offset()
	f.inFrame, f.isLast = true, false
	f.piece = int64(len(head))
	var header zstd.Header
	if header.Decode(head) != nil {
		return nil // the decoder will report it
	}
	f.piece, f.checksum = int64(header.HeaderSize), header.HasCheckSum
	if header.SingleSegment { // it needs a window as large as its content
		return f.checkWindow(header.FrameContentSize)
	}
	return f.checkWindow(header.WindowSize)
}

// checkWindow ends the stream before a frame that needs too large a window.
func (f *zstdFrames) checkWindow(window uint64) error {
	if window > uint64(f.window) {
		f.refused = LastFault("zstd frame needs a window of %d MiB, and at most %d MiB are held: "+
			"recompress the file with zstd --long=%d, or give a --memory of eight times that window; "+
			"documents after this point are lost",
			(window+1<<20-1)>>20, f.window>>20, bits.Len64(uint64(f.window))-1)
		return io.EOF
	}
	if window > SmallWindow {
		f.input.counted.err = f.hold()
		return f.input.counted.err
	}
	return nil
}

// IsSkippable reports whether a zstd skippable frame starts here.
func IsSkippable(head []byte) bool {
	return len(head) >= 4 && head[0]&0xf0 == 0x50 && string(head[1:4]) == skippableMagic
}

// zstdBlock returns the length of a block with its header, and whether it is the last one of a frame.
func zstdBlock(head []byte) (length int64, isLast bool) {
	const runLength = 1
	header := uint32(head[0]) | uint32(head[1])<<8 | uint32(head[2])<<16
	if header>>1&3 == runLength {
		return blockHeaderBytes + 1, header&1 != 0
	}
	return blockHeaderBytes + int64(header>>3), header&1 != 0
}
