package corpus

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"

	"mirrorbeam.dev/internal/input/inflate"
	"mirrorbeam.dev/internal/storage"
)

// Stream reads the decoded content of a file of the corpus. The zero Stream has no file. It is not for
// concurrent use.
type Stream struct {
	Ahead *Ahead
	// Expand, if it is not nil, gets the number of bytes that were decoded of a compressed file.
	Expand func(bytes int64) error

	hold       func() error // see Limits
	holdWindow func() (release func(), err error)

	// Rejects are the faults that Fill has met and nobody has taken. Ended says that it has found nothing more, and
	// IsCut that the content ended with a fault.
	Rejects      []Reject
	Ended, IsCut bool

	file     File
	handle   storage.File
	stored   io.ReadCloser                   // the bytes of handle
	cursor   *cursor                         // in the archive that the file is in; nil: in none
	decoded  io.Reader                       // stored, or inflated
	text     io.Reader                       // decoded, in UTF-8; nil if that is the same
	inflated *inflate.Reader                 // decoded, if the file is compressed
	decoders map[Compression]*inflate.Reader // kept from file to file
	position int64                           // of the next byte of decoded
	head     []byte                          // the first decoded bytes, which are not handed out yet
	headErr  error                           // comes after them
}

// Reset goes on to another file, from a position in it. It keeps the decoders: many small files cost
// little. Only a plain file can be read from its middle. A zstd frame that needs a window of more than window
// bytes is a fault. A window of 0 stands for [DefaultWindow]. It is an error if the file has changed since it
// was listed.
func (s *Stream) Reset(file File, position, window int64) error {
	if err := s.closeFile(); err != nil {
		return err
	}
	if position > 0 && !file.isPlain() {
		return fmt.Errorf("open input %s: a %v file in %s cannot be read from its middle", file.Path, file.Compression,
			cmp.Or(file.Charset, "UTF-8"))
	}
	handle, err := s.Ahead.Open(&file)
	if err != nil {
		return err
	}
	stored := handle.From(position)
	if file.IsSequential() {
		if stored, err = s.inArchive(&file, window); err != nil {
			return errors.Join(err, handle.Close())
		}
	}
	s.file, s.handle, s.position, s.head, s.headErr = file, handle, position, s.head[:0], nil
	s.Rejects, s.Ended, s.IsCut = nil, false, false
	s.stored = stored
	if err := s.decode(file, window); err != nil {
		return fmt.Errorf("open input %s: %w", file.Path, err)
	}
	s.text = nil
	if file.Charset != "" {
		s.text = s.inCharset()
	}
	return nil
}

func (s *Stream) inCharset() io.Reader {
	return inCharset(bufio.NewReaderSize(readerFunc(s.next), charsetBytes), s.file.Charset)
}

// inArchive goes to a file of a compressed archive, and keeps the archive open for the next one.
func (s *Stream) inArchive(file *File, window int64) (io.ReadCloser, error) {
	if s.cursor == nil {
		s.cursor = &cursor{stream: Stream{Expand: s.Expand, hold: s.hold, holdWindow: s.holdWindow}}
	}
	if err := s.cursor.seek(file, window); err != nil {
		return nil, err
	}
	return s.cursor.member(file.Member), nil
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// checkHead reads the first decoded bytes, and fails if their format is not read. A file that is one document is left
// to its decoder.
func (s *Stream) checkHead() error {
	if cap(s.head) < headBytes {
		s.head = make([]byte, 0, headBytes)
	}
	n, err := s.inflated.Read(s.head[:headBytes])
	s.head, s.headErr = s.head[:n], err
	if s.file.Format.IsWhole() || s.file.IsArchive {
		return nil
	}
	return checkDecoded(s.file.Compression, s.head)
}

// OpenUnchanged opens a file of the corpus. It is an error if the file has changed since it was listed.
func OpenUnchanged(file *File) (storage.File, error) {
	if file.Member != nil {
		handle, err := OpenUnchanged(file.archive())
		if err != nil {
			return nil, err
		}
		return &memberFile{handle, file}, nil
	}
	if storage.Scheme(file.Path) != "" {
		return file.reopen()
	}
	handle, info, err := open(file.Path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf(
			"open input %s: the file went away while the job ran: %w: put it back, or run the job again without it",
			file.Path, err)
	}
	if err != nil {
		return nil, fmt.Errorf("open input: %w", err)
	}
	if err := file.checkUnchanged(info); err != nil {
		handle.Close() // a file that was only opened
		return nil, err
	}
	return handle, nil
}

// reopen opens a file of a storage that need not be asked again for what is known of it.
func (f *File) reopen() (storage.File, error) {
	handle, err := storage.Reopen(storage.Info{Name: f.Path, Size: f.Size, Generation: f.Generation})
	switch {
	case errors.Is(err, storage.ErrChanged):
		return nil, changed(f, "it was written to after it was listed")
	case err != nil:
		return nil, fmt.Errorf("open input: %w", err)
	}
	return handle, nil
}

func (s *Stream) decode(file File, window int64) error {
	if file.Compression == None {
		s.inflated, s.decoded = nil, s.stored
		return nil
	}
	if s.inflated = s.decoders[file.Compression]; s.inflated == nil {
		if s.decoders == nil {
			s.decoders = map[Compression]*inflate.Reader{}
		}
		s.inflated = compressions[file.Compression].open()
		s.decoders[file.Compression] = s.inflated
	}
	s.decoded = s.inflated
	options := inflate.Options{Size: file.Size, Window: window, HoldWindow: s.holdWindow}
	if err := s.inflated.Reset(s.stored, options); err != nil {
		return err
	}
	return s.checkHead()
}

// Hold waits for the right to hold a long line or record, see [Limits]. The window of a frame that begins within the
// line would have to wait, so the stream waits for that first.
func (s *Stream) Hold() error {
	if s.hold == nil {
		return nil
	}
	if err := s.readyWindow(); err != nil {
		return err
	}
	return s.hold()
}

// readyWindow waits for the right to hold a large window, if the file may have one.
func (s *Stream) readyWindow() error {
	if s.inflated == nil {
		return nil
	}
	return s.inflated.HoldWindow()
}

func (s *Stream) next(p []byte) (n int, err error) {
	switch {
	case len(s.head) > 0:
		n = copy(p, s.head)
		s.head = s.head[:copy(s.head, s.head[n:])]
		return n, nil
	case s.headErr != nil:
		err, s.headErr = s.headErr, nil
		return 0, err
	}
	return s.decoded.Read(p)
}

// Position returns the position of the next byte in the decoded stream.
func (s *Stream) Position() int64 { return s.position }

// Member returns where in the stored file the gzip member or zstd frame begins that the bytes of the last Read come
// from. No Read returns bytes of two. A plain file has none.
func (s *Stream) Member() int64 {
	if s.inflated == nil {
		return 0
	}
	return s.inflated.Member()
}

// Read reads on. The error is io.EOF at the end of the file, and a *[Fault] where the file is damaged. Any
// other error is a failure to read it.
func (s *Stream) Read(p []byte) (int, error) {
	var n int
	var err error
	if s.text != nil {
		n, err = s.text.Read(p)
	} else {
		n, err = s.next(p)
	}
	s.position += int64(n)
	if s.Expand != nil && (s.inflated != nil || s.file.Member != nil && s.file.Member.Packing == Deflated) {
		if err := s.Expand(int64(n)); err != nil {
			return n, err
		}
	}
	if err == nil {
		return n, nil
	}
	if err == io.EOF {
		if s.file.isPlain() && s.position < s.file.Size {
			return n, s.file.resized(s.position)
		}
		return n, io.EOF
	}
	if _, isFault := errors.AsType[*Fault](err); isFault {
		if s.text != nil {
			s.text = s.inCharset() // reading may go on after a fault, and this reader does not
		}
		return n, err
	}
	if errors.Is(err, storage.ErrChanged) {
		err = fmt.Errorf("the file changed while the job ran: %w: %s", err, runAgain)
	}
	return n, fmt.Errorf("read input %s at byte %d of its decoded stream: %w", s.file.Path, s.position, err)
}

// Fill appends to data until it has size bytes or the stream has no more. A fault becomes a reject.
func (s *Stream) Fill(data []byte, size int) ([]byte, error) {
	if cap(data) < size && !s.Ended {
		data = append(make([]byte, 0, size), data...)
	}
	for len(data) < size && !s.Ended {
		n, err := s.Read(data[len(data):size])
		data = data[:len(data)+n]
		if fault, isFault := errors.AsType[*Fault](err); isFault {
			s.Ended, s.IsCut = fault.Last, fault.Last && !fault.Warning
			s.Rejects = append(s.Rejects, Reject{
				Position: s.position,
				Message:  fault.Message,
				Warning:  fault.Warning,
				Damage:   true,
			})
		} else if err == io.EOF {
			s.Ended = true
		} else if err != nil {
			return data, err
		}
	}
	return data, nil
}

func (s *Stream) seek(position int64) {
	s.stored.Close() // a close after reads loses nothing
	s.stored = s.handle.From(position)
	s.decoded, s.position = s.stored, position
}

// End returns io.EOF for the end of the file, or an error if the file has changed since it was listed.
func (s *Stream) End() error { return s.file.End(s.handle) }

// End returns io.EOF for the end of the file, which is open as handle, or an error if the file has changed since it was
// listed.
func (f *File) End(handle storage.File) error {
	info, err := handle.Stat()
	if err != nil {
		return fmt.Errorf("read input: %w", err)
	}
	if err := f.checkUnchanged(info); err != nil {
		return err
	}
	return io.EOF
}

const runAgain = "run the job again when nobody writes to the file"

func (f *File) checkUnchanged(info storage.Info) error {
	if info.Size != f.Size {
		return f.resized(info.Size)
	}
	if f.Generation != "" && info.Generation != f.Generation {
		return changed(f, "it was written to after it was listed")
	}
	return nil
}

type changedError struct{ message string }

func (e *changedError) Error() string { return e.message }

func (e *changedError) Is(target error) bool { return target == storage.ErrChanged }

func changed(f *File, how string) error {
	return &changedError{fmt.Sprintf("read input %s: the file changed while the job ran: %s: %s", f.Path, how,
		runAgain)}
}

func (f *File) resized(size int64) error {
	return changed(f, fmt.Sprintf("it had %d bytes when it was listed and now has %d", f.Size, size))
}

// Close closes the file and frees the decoders. The stream can be reset to another file. Closing it twice
// does no harm.
func (s *Stream) Close() error {
	for _, reader := range s.decoders {
		reader.Close()
	}
	s.decoders, s.inflated, s.decoded = nil, nil, nil
	if s.cursor != nil {
		s.cursor.stream.Close() // a close after reads loses nothing
		s.cursor = nil
	}
	return s.closeFile()
}

func (s *Stream) closeFile() error {
	if s.handle == nil {
		return nil
	}
	handle, stored := s.handle, s.stored
	s.handle, s.stored = nil, nil
	if stored != nil {
		stored.Close() // a close after reads loses nothing
	}
	if err := handle.Close(); err != nil {
		return fmt.Errorf("close input: %w", err)
	}
	return nil
}
