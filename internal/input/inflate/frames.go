package inflate

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"

	"github.com/klauspost/compress/zstd"
)

const (
	blockHeaderBytes     = 3
	checksumBytes        = 4
	skippableHeaderBytes = 8
)

// zstdFrames passes a zstd file to the decoder. It follows the frames and blocks by their headers. So it can
// end the stream after each frame. The decoder alone cannot tell one to three bytes of junk from a frame that is
// cut short.
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
	head, err := f.input.Peek(skippableHeaderBytes)
	switch {
	case f.input.counted.err != nil:
		return f.input.counted.err
	case len(head) == 0:
		return err
	case IsSkippable(head):
		f.piece = int64(len(head))
		if len(head) == skippableHeaderBytes {
			f.piece += int64(binary.LittleEndian.Uint32(head[4:]))
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
	window := zstdWindow(header)
	if window > uint64(f.window) {
		f.refused = &Fault{Last: true, Message: fmt.Sprintf(
			"zstd frame needs a window of %d MiB, and at most %d MiB are held: "+
				"recompress the file with zstd --long=%d, or give a --memory of eight times that window; "+
				"documents after this point are lost",
			(window+1<<20-1)>>20, f.window>>20, bits.Len64(uint64(f.window))-1)}
		return io.EOF
	}
	if window > SmallWindow {
		f.input.counted.err = f.hold()
		return f.input.counted.err
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
	length := int64(len(zstdMagic)) + 1
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
