package corpus

import (
	"bufio"
	"compress/flate"
	"errors"
	"hash"
	"hash/crc32"
	"io"
	"iter"
	"slices"

	"mirrorbeam.dev/internal/input/inflate"
	"mirrorbeam.dev/internal/storage"
)

// Member says where a file is in an archive of tar or zip.
type Member struct {
	// Archive is the path of the archive, and ArchiveSize its length on disk.
	Archive     string
	ArchiveSize int64
	// Packing says how the archive holds the file: Stored bytes from Start on, in the archive or its decoded form.
	Packing       Packing
	Start, Stored int64
	Compression   Compression
	// Sum is the CRC-32 that a zip archive has of the file.
	Sum uint32
	// Fault says what is wrong with the archive behind the file, if something is.
	Fault string

	head []byte // the beginning of a file in a compressed archive, while it is inspected
}

// Packing is how an archive holds a file.
type Packing uint8

const (
	// InPlace has the bytes of the file, and can be read from anywhere.
	InPlace Packing = iota
	// InStream is within a compressed archive, which is read from its beginning.
	InStream
	// Deflated is compressed by itself.
	Deflated
)

// isSeekable reports whether reading can begin anywhere in the stored bytes of the file.
func (f *File) isSeekable() bool { return f.Member == nil || f.Member.Packing == InPlace }

// IsSequential reports whether the file is within a compressed archive, which is read from its beginning.
func (f *File) IsSequential() bool { return f.Member != nil && f.Member.Packing == InStream }

func (f *File) archive() *File {
	return &File{
		Path:        f.Member.Archive,
		Size:        f.Member.ArchiveSize,
		Generation:  f.Generation,
		Compression: f.Member.Compression,
		IsArchive:   true,
	}
}

// StoredSize returns the length of the file as it is stored: compressed, if it is.
func (f *File) StoredSize() int64 {
	if f.Member != nil {
		return f.Member.Stored
	}
	return f.Size
}

type memberFile struct {
	storage.File // the archive
	file         *File
}

var errOutOfOrder = errors.New(
	"the file is compressed in its archive, and can only be read from its beginning: unpack the archive")

func (m *memberFile) ReadAt(p []byte, offset int64) (int, error) {
	if !m.file.isSeekable() {
		return 0, errOutOfOrder
	}
	return io.NewSectionReader(m.File, m.file.Member.Start, m.file.Member.Stored).ReadAt(p, offset)
}

func (m *memberFile) ReadRanges(ranges []storage.Range) iter.Seq2[int, error] {
	moved := slices.Clone(ranges)
	for i := range moved {
		end := moved[i].Offset + int64(len(moved[i].Bytes))
		moved[i].Offset += m.file.Member.Start
		if !m.file.isSeekable() || end > m.file.Member.Stored {
			err := errOutOfOrder
			if m.file.isSeekable() {
				err = io.ErrUnexpectedEOF
			}
			return func(yield func(int, error) bool) { yield(i, err) }
		}
	}
	return m.File.ReadRanges(moved)
}

func (m *memberFile) From(offset int64) io.ReadCloser {
	member := m.file.Member
	if member.Packing == InStream || member.Packing == Deflated && offset > 0 {
		return io.NopCloser(failing{errOutOfOrder})
	}
	stored := m.stored(member.Start+offset, member.Stored-offset)
	content := io.LimitReader(stored, member.Stored-offset)
	if member.Packing == Deflated {
		content = &inflatedMember{flate.NewReader(content), m.file.Size, crc32.NewIEEE(), member.Sum}
	}
	return struct {
		io.Reader
		io.Closer
	}{withFault(content, member.Fault), stored}
}

// smallMember is the length in bytes up to which a file of an archive behind a network is one range. A stream to the
// end of the archive that is left early costs its connection.
const smallMember = 1 << 20

func (m *memberFile) stored(from, length int64) io.ReadCloser {
	if storage.Scheme(m.file.Member.Archive) == "" || length > smallMember {
		return m.File.From(from)
	}
	return io.NopCloser(bufio.NewReaderSize(io.NewSectionReader(m.File, from, length), int(length)))
}

func (m *memberFile) Stat() (storage.Info, error) {
	info, err := m.File.Stat()
	if err != nil {
		return storage.Info{}, err
	}
	is := storage.Info{Name: m.file.Path, Size: m.file.Size, Generation: info.Generation}
	if info.Size != m.file.Member.ArchiveSize {
		is.Generation += " of another size"
	}
	return is, nil
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func withFault(content io.Reader, message string) io.Reader {
	if message == "" {
		return content
	}
	return io.MultiReader(content, failing{&Fault{Message: message, Last: true}})
}

// inflatedMember decodes a file of a zip archive, and holds it to its length and its sum.
type inflatedMember struct {
	content io.Reader
	left    int64
	sum     hash.Hash32
	want    uint32
}

func (d *inflatedMember) Read(p []byte) (int, error) {
	n, err := d.content.Read(p)
	d.sum.Write(p[:n])
	d.left -= int64(n)
	switch {
	case d.left < 0:
		return n, inflate.LastFault("zip member is longer than its archive says: documents after this point are lost")
	case err == io.EOF && (d.left > 0 || d.sum.Sum32() != d.want):
		return n,
			inflate.LastFault("zip checksum does not match: documents of the member that ends here may be damaged")
	case err == io.EOF || err == nil:
		return n, err
	}
	if _, isDamage := errors.AsType[flate.CorruptInputError](err); isDamage || errors.Is(err, io.ErrUnexpectedEOF) {
		return n, inflate.LastFault("zip member is damaged: %v; documents after this point are lost", err)
	}
	return n, err
}

type cursor struct {
	stream Stream
	fault  error // met on the way
}

func (c *cursor) seek(file *File, window int64) error {
	archive := file.archive()
	if c.stream.handle == nil || c.stream.file.Path != archive.Path || c.stream.Position() > file.Member.Start {
		c.fault = nil
		if err := c.stream.Reset(*archive, 0, window); err != nil {
			return err
		}
	}
	_, err := io.CopyN(io.Discard, readerFunc(c.read), file.Member.Start-c.stream.Position())
	if _, isFault := errors.AsType[*Fault](err); isFault || err == io.EOF {
		c.fault, err = err, nil // the file says it when it is read
	}
	return err
}

// read reads on. After its last fault it says the same.
func (c *cursor) read(p []byte) (int, error) {
	if c.fault != nil {
		return 0, c.fault
	}
	n, err := c.stream.Read(p)
	if fault, isFault := errors.AsType[*Fault](err); isFault && fault.Last {
		c.fault = fault
	}
	return n, err
}

func (c *cursor) member(of *Member) io.ReadCloser {
	return io.NopCloser(withFault(io.LimitReader(readerFunc(c.read), of.Stored), of.Fault))
}
