// Package inflate decodes files of gzip members or zstd frames, and of bzip2, xz and lz4. One core decodes a file.
package inflate

import "io"

// Options say how a file is read.
type Options struct {
	Size int64
	// Window is the largest zstd window in bytes. A frame that needs a larger one is a fault. 0 stands for
	// [DefaultWindow].
	Window int64
	// HoldWindow, if it is not nil, is called before a window of more than [SmallWindow] is held. It may wait. Release
	// is called when the window is free again, at the end of the file or when the reader leaves it.
	HoldWindow func() (release func(), err error)
}

// decoder decodes members or frames one after the other.
type decoder interface {
	reset(stored io.Reader, about Options) error
	// Read decodes bytes of one member. It may return nothing and no error. Its error is io.EOF, a *Fault, or an
	// error of the file.
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
