package inflate

import (
	"cmp"
	"errors"
	"io"

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
	// SmallWindow is the largest zstd window that needs no right, in bytes: the one that RFC 8878 wants every decoder
	// to have.
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
		return 0, &Fault{
			Last: true,
			Message: "zstd frame needs a dictionary that the file does not begin with: " +
				"decompress the file with zstd -D DICTIONARY; documents after this point are lost",
		}
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
