// Package inflate decodes files of gzip members or zstd frames, and of bzip2, xz and lz4. One core decodes a file.
package inflate

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Options say how a file is read.
type Options struct {
	Size int64
	// Window is the largest zstd window in bytes; 0: [DefaultWindow]. A frame that needs more is a fault.
	Window int64
	// HoldWindow, if it is not nil, is called before a window of more than [SmallWindow] is held. It may wait. Release
	// is called when the window is free again, at the end of the file or when the reader leaves it.
	HoldWindow func() (release func(), err error)
}

// decoder decodes members or frames one after the other.
type decoder interface {
	reset(stored io.Reader, about Options) error
	// Read decodes bytes of one member, or returns nothing. Its error is io.EOF, a *Fault, or an error of the file.
	Read(p []byte) (int, error)
	stored() *input
	// hold waits for the right to hold a large window, see [Options].
	hold() error
	close()
}

// Reader decodes a file. It is not for concurrent use.
type Reader struct{ decoder decoder }

// NewGzip returns a reader of gzip. Reset must be called first.
func NewGzip() *Reader { return &Reader{new(gzipStream)} }

// NewZstd returns a reader of zstd. Reset must be called first.
func NewZstd() *Reader { return &Reader{new(zstdStream)} }

// Reset goes on to another file. It keeps the decoders.
func (r *Reader) Reset(stored io.Reader, options Options) error {
	return r.decoder.reset(stored, options)
}

// Close frees the decoders. It must be called in the end, and has no error.
func (r *Reader) Close() error {
	r.decoder.close()
	return nil
}

// HoldWindow waits for the right to hold a large window, for the rest of the file. A file of gzip needs none.
func (r *Reader) HoldWindow() error { return r.decoder.hold() }

// Member returns where in the stored file the member or frame begins that the bytes of the last Read come from.
func (r *Reader) Member() int64 { return r.decoder.stored().member }

// Read decodes bytes of one member or frame. The error is io.EOF at the end of the file, and a *[Fault] where the file
// is damaged. Reading may go on after a fault that is not the last. Any other error is one of the file.
func (r *Reader) Read(p []byte) (int, error) {
	for len(p) > 0 {
		if n, err := r.decoder.Read(p); n > 0 || err != nil {
			return n, err
		}
	}
	return 0, nil
}

const inputBytes = 128 << 10

// Fault is damage in a compressed stream, or what a decoder does not read. A failure to read the stream is no Fault.
type Fault struct {
	Message string
	// Warning says that what was decoded is whole, and what follows is not of the format.
	Warning bool
	// Last says that nothing more can be decoded.
	Last bool
}

func (f *Fault) Error() string { return f.Message }

// LastFault returns a fault behind which nothing more can be decoded.
func LastFault(format string, about ...any) *Fault {
	return &Fault{Last: true, Message: fmt.Sprintf(format, about...)}
}

// input reads a compressed file ahead. It knows why a decoder fails: bad bytes, or a failure to read the file.
type input struct {
	*bufio.Reader
	counted counted
	size    int64
	member  int64 // where the current member or frame begins in the file
}

// counted counts the bytes read from a file and keeps its read error.
type counted struct {
	file io.Reader
	n    int64 // position in the file
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

func (in *input) reset(file io.Reader, size int64) {
	in.counted = counted{file: file}
	in.size = size
	if in.Reader == nil {
		in.Reader = bufio.NewReaderSize(&in.counted, inputBytes)
	} else {
		in.Reader.Reset(&in.counted)
	}
}

func (in *input) offset() int64 { return in.counted.n - int64(in.Buffered()) }

func (in *input) damage(format string, err error) error {
	switch {
	case in.counted.err != nil:
		return in.counted.err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return LastFault(
			"%s stream is cut short: %v: copy or download the file again; documents after this point are lost",
			format, io.ErrUnexpectedEOF)
	}
	return LastFault("%s stream is damaged: %v; documents after this point are lost", format, err)
}

func (in *input) skipZeros() {
	for {
		next, _ := in.Peek(1) // an error comes again
		if len(next) == 0 || next[0] != 0 {
			return
		}
		next, _ = in.Peek(in.Buffered())
		zeros := slices.IndexFunc(next, func(b byte) bool { return b != 0 })
		if zeros < 0 {
			zeros = len(next)
		}
		_, _ = in.Discard(zeros) // what is buffered can be discarded
	}
}

func (in *input) isOver() bool {
	_, err := in.Peek(1)
	return err == io.EOF
}

// mismatch is the fault of a part that was decoded to its end but does not match its stored checksum.
func mismatch(format string, part string) *Fault {
	return &Fault{Message: fmt.Sprintf("%s checksum does not match: documents of the %s that ends here may be damaged",
		format, part)}
}

// junk is the fault of bytes behind a part that do not belong to the format. If that part had a fault of its
// own, the bytes may be the rest of it.
func (in *input) junk(format string, part string, wasWhole bool) *Fault {
	left := in.size - in.offset()
	if wasWhole {
		return &Fault{
			Warning: true,
			Last:    true,
			Message: fmt.Sprintf("%d bytes after the last whole %s %s are not %s data and were not used", left, format,
				part, format),
		}
	}
	return LastFault("%d bytes after a damaged %s %s are not %s data; documents in them are lost", left, format, part,
		format)
}

type right struct {
	take    func() (release func(), err error) // nil: nobody asks
	release func()                             // nil without the right
}

func (r *right) hold() (err error) {
	if r.release == nil && r.take != nil {
		r.release, err = r.take()
	}
	return err
}

func (r *right) giveBack() {
	if r.release != nil {
		r.release()
		r.release = nil
	}
}
