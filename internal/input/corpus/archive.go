package corpus

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"

	"mirrorbeam.dev/internal/storage"
)

const (
	// mostMembers bounds the files in an archive, longestMember their names. All names are held in memory.
	mostMembers   = 1 << 20
	longestMember = 4 << 10
	mostDirectory = 256 << 20
	// headsBytes bounds the beginnings of files that are kept of a compressed archive, shortHead each one beyond.
	headsBytes = 64 << 20
	shortHead  = 64
)

const (
	magicZip      = "PK\x03\x04"
	magicEmptyZip = "PK\x05\x06"
)

func isArchive(start []byte) bool {
	return isTar(start) || bytes.HasPrefix(start, []byte(magicZip)) || bytes.HasPrefix(start, []byte(magicEmptyZip))
}

type contents struct {
	archive *File
	limit   int64 // of decoded bytes; 0: none
	members map[string]entry
	passed  map[string]string // why others are passed over
	earlier []string          // names of files that a later one has, too
	heads   int64             // bytes of the heads
}

type entry struct {
	Member
	size int64
}

// expand puts the files of archives in their place, as if each archive were a folder.
func (l *lister) expand(ctx context.Context, files []File, options Options) ([]File, error) {
	var all []File
	var members []*candidate
	for i := range files {
		if !files[i].IsArchive {
			all = append(all, files[i])
			continue
		}
		found, err := l.members(ctx, &files[i], options)
		if IsOfFile(err) {
			files[i].Fault = FaultText(files[i].Path, err)
			all = append(all, files[i])
		} else if err != nil {
			return nil, fmt.Errorf("list inputs: %s: %w", files[i].Path, err)
		}
		members = append(members, found...)
	}
	if err := inspectAll(ctx, members, options); err != nil {
		return nil, err
	}
	for _, m := range l.ofKnownTypes(members) {
		m.Member.head = nil
		all = append(all, m.File)
	}
	return all, nil
}

// members returns those files of an archive that a folder would stand for, in the order of the archive.
func (l *lister) members(ctx context.Context, archive *File, options Options) ([]*candidate, error) {
	c := &contents{
		archive: archive,
		limit:   options.MaxExpanded,
		members: map[string]entry{},
		passed:  map[string]string{},
	}
	handle, err := OpenUnchanged(archive)
	if err != nil {
		return nil, err
	}
	defer handle.Close() // it was only read
	fault, err := c.read(ctx, handle, options.holdWindow)
	if err != nil {
		return nil, err
	}
	var found []*candidate
	for _, name := range slices.Sorted(maps.Keys(c.members)) {
		found = append(found, c.candidate(name))
	}
	kinds := append(l.kinds(), fileKind{takes: anything})
	if ownArchive.MatchString(path.Base(archive.Path)) {
		kinds = []fileKind{{takes: anything}, {takes: anything}}
	}
	wanted, leftOut := l.pick(found, kinds)
	for name, reason := range c.passed {
		l.pass(c.candidate(name), reason)
	}
	for i, name := range c.earlier {
		other := c.candidate(name)
		other.Path += fmt.Sprint("!", i)
		l.pass(other, replaced)
	}
	switch {
	case fault != "" && !slices.ContainsFunc(wanted, func(c *candidate) bool { return c.Size > 0 }):
		return nil, errors.New(fault)
	case len(wanted) == 0 && !leftOut:
		return nil, errors.New("the archive has no file")
	}
	slices.SortFunc(wanted, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(a.Member.Start, b.Member.Start), strings.Compare(a.Path, b.Path))
	})
	for i := range slices.Backward(wanted) {
		wanted[i].unpacks = false
		if wanted[i].Size > 0 {
			wanted[i].Member.Fault, fault = fault, "" // no split has an empty file
		}
	}
	return wanted, nil
}

// ownArchive matches the names of archives of texts that jobs write: all their files are documents.
var ownArchive = regexp.MustCompile(`^(unique|trimmed)-[0-9]{5,}-of-[0-9]{5,}\.tar`)

func anything(string) bool { return true }

func (c *contents) candidate(name string) *candidate {
	m, archive := c.members[name], c.archive
	return &candidate{relative: name, File: File{
		Path:       archive.Path + "!/" + name,
		Name:       archive.Name + "/" + dropCompressionSuffix(name),
		Size:       m.size,
		Input:      archive.Input,
		Below:      len(name),
		Generation: archive.Generation,
		Identity:   archive.Identity,
		Member:     &m.Member,
	}}
}

// limitError says that a limit which the user has set is met. It ends the job, although it is about one file.
type limitError struct{ message string }

func (e *limitError) Error() string { return e.message }

// read reads what an archive has. The fault says what is wrong behind the last of its files.
func (c *contents) read(ctx context.Context, handle storage.File,
	holdWindow func() (func(), error),
) (fault string, err error) {
	if c.archive.Compression != None {
		packed := &cursor{stream: Stream{Expand: c.expanded(ctx), holdWindow: holdWindow}}
		defer packed.stream.Close()
		if err := packed.stream.Reset(*c.archive, 0, 0); err != nil {
			return "", err
		}
		return c.tar(ctx, readerFunc(packed.read), packed.stream.Position)
	}
	head := make([]byte, len(magicZip))
	if _, err := handle.ReadAt(head, 0); err != nil {
		return "", err
	}
	if string(head) == magicZip || string(head) == magicEmptyZip {
		return "", c.zip(handle)
	}
	plain := &skipping{file: handle}
	defer plain.Close()
	return c.tar(ctx, plain, func() int64 { return plain.at })
}

func (c *contents) expanded(ctx context.Context) func(int64) error {
	sum := int64(0)
	return func(bytes int64) error {
		if sum += bytes; c.limit > 0 && sum > c.limit {
			return &limitError{fmt.Sprintf(
				"the archive expands to more than %d bytes: raise --max-expanded, or leave it out", c.limit)}
		}
		return ctx.Err()
	}
}

// tar reads the headers of an archive of tar, and of those that follow it, as where cat has put archives together. A
// damaged one has the files that come before the damage.
func (c *contents) tar(ctx context.Context, content io.Reader, position func() int64) (fault string, err error) {
	archive, end := tar.NewReader(content), int64(0)
	for {
		header, err := archive.Next()
		if err == io.EOF && position() > end {
			var next io.Reader
			if next, err = nextTar(content); next != nil {
				archive = tar.NewReader(next)
				continue
			}
		}
		fault, isFault := errors.AsType[*Fault](err)
		switch {
		case err == io.EOF && position() <= end:
			return "tar archive has no end, and may be cut short: copy or download it again; " +
				"files after this point are lost", nil
		case err == io.EOF:
			return "", nil
		case isFault:
			return fault.Message, nil
		case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, tar.ErrHeader), errors.Is(err, tar.ErrFieldTooLong):
			return fmt.Sprintf("tar archive is cut short or damaged: %v; files after this point are lost", err), nil
		case err == nil:
			err = ctx.Err()
		}
		if err != nil {
			return "", err
		}
		end = position() + (header.Size+tarBlock-1)/tarBlock*tarBlock
		if header.Typeflag == tar.TypeDir || header.Typeflag == tar.TypeXGlobalHeader {
			continue
		}
		if header.Typeflag != tar.TypeReg && header.Typeflag != tar.TypeGNUSparse {
			c.pass(header.Name)
			continue
		}
		for key := range header.PAXRecords {
			if strings.HasPrefix(key, "GNU.sparse.") || header.Typeflag == tar.TypeGNUSparse {
				return "", fmt.Errorf("%.100q has holes, which are not read in an archive: unpack it", header.Name)
			}
		}
		e := entry{Member: Member{Start: position(), Stored: header.Size}, size: header.Size}
		if c.archive.Compression != None {
			e.Packing = InStream
		} else if e.Stored = min(e.Stored, c.archive.Size-e.Start); e.Stored < e.size {
			e.size = e.Stored // the archive is cut short, as its next header will show
		}
		if c.archive.Compression != None {
			if e.head, err = c.head(archive, header.Size); err != nil {
				return "", err
			}
		}
		if err := c.add(header.Name, e); err != nil {
			return "", err
		}
	}
}

// tarBlock is how long a header of tar is, and what the lengths of files are rounded up to.
const tarBlock = 512

// nextTar passes the zeros behind a tar archive, and returns the archive that follows; nil: none. All else is damage.
func nextTar(content io.Reader) (io.Reader, error) {
	block := make([]byte, tarBlock)
	for {
		n, err := io.ReadFull(content, block)
		switch {
		case err == nil && isTar(block):
			return io.MultiReader(bytes.NewReader(block), content), nil
		case len(bytes.Trim(block[:n], "\x00")) > 0:
			return nil, tar.ErrHeader
		case err == io.ErrUnexpectedEOF:
			return nil, io.EOF
		case err != nil:
			return nil, err
		}
	}
}

// head returns the beginning of the current file. Damage is found again behind it.
func (c *contents) head(content io.Reader, size int64) ([]byte, error) {
	most := int64(storedHeadBytes)
	if c.heads > headsBytes {
		most = shortHead
	}
	head := make([]byte, min(most, size))
	n, err := io.ReadFull(content, head)
	c.heads += int64(n)
	if _, isFault := errors.AsType[*Fault](err); isFault || err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return head[:n], err
}

// cleaned returns the name of a file below the folder into which its archive is unpacked.
func cleaned(name string) string { return strings.TrimPrefix(path.Clean("/"+name), "/") }

func (c *contents) pass(name string) {
	if _, is := c.members[cleaned(name)]; !is && len(name) <= longestMember && len(c.passed) < mostMembers {
		c.passed[cleaned(name)] = noFile
	}
}

// add adds a file. Of two of one name the last one counts, as when the archive is unpacked.
func (c *contents) add(name string, e entry) error {
	if len(name) > longestMember {
		return fmt.Errorf("%.100q is the beginning of a name of more than %d bytes: unpack the archive", name,
			longestMember)
	}
	if name = cleaned(name); name == "" {
		return nil
	}
	delete(c.passed, name)
	if reason := reasonOf(strings.Split(name, "/")...); reason != "" {
		c.passed[name] = reason
		return nil
	}
	e.Archive = c.archive.Path
	e.ArchiveSize = c.archive.Size
	e.Compression = c.archive.Compression
	if _, isThere := c.members[name]; isThere {
		c.earlier = append(c.earlier, name)
	}
	c.members[name] = e
	if len(c.members)+len(c.earlier) > mostMembers {
		return fmt.Errorf("the archive has more than %d files: unpack it into a folder, and name that", mostMembers)
	}
	return nil
}

func (c *contents) zip(handle storage.File) error {
	budget := &budgeted{file: handle, left: mostDirectory}
	archive, err := zip.NewReader(budget, c.archive.Size)
	if err != nil {
		return fmt.Errorf("%w: copy or download the archive again, or unpack it into a folder, and name that", err)
	}
	budget.left = c.archive.Size // the local headers, of which there are no more than files
	var ends []entry
	for _, file := range archive.File {
		if what := documentOf(file.Name); what != "" {
			return unread(what)
		}
		if !file.Mode().IsRegular() {
			if !file.Mode().IsDir() {
				c.pass(file.Name)
			}
			continue
		}
		e := entry{
			Member: Member{Stored: int64(file.CompressedSize64), Sum: file.CRC32},
			size:   int64(file.UncompressedSize64),
		}
		switch {
		case file.Flags&1 != 0:
			return fmt.Errorf("%.100q is encrypted: unpack the archive", file.Name)
		case file.Method == zip.Deflate:
			e.Packing = Deflated
		case file.Method != zip.Store || e.Stored != e.size:
			return fmt.Errorf("%.100q is packed by method %d, which is not read: unpack the archive", file.Name,
				file.Method)
		}
		if e.Start, err = file.DataOffset(); err != nil || e.Stored < 0 || e.size < 0 ||
			e.Stored > c.archive.Size-e.Start {
			return fmt.Errorf("%.100q is outside the archive, which is damaged: copy or download it again", file.Name)
		}
		if !agree(budget, e.Start+e.Stored, file) {
			return fmt.Errorf(
				"%.100q has another size or sum before its content than in the directory of the archive, "+
					"which may hide documents: copy or download it again", file.Name)
		}
		ends = append(ends, e)
		if err := c.add(file.Name, e); err != nil {
			return err
		}
	}
	slices.SortFunc(ends, func(a, b entry) int { return cmp.Compare(a.Start, b.Start) })
	for i := 1; i < len(ends); i++ {
		if ends[i-1].Start+ends[i-1].Stored > ends[i].Start {
			return errors.New("files of the archive overlap, as in a zip bomb: leave it out, or unpack it")
		}
	}
	return nil
}

func documentOf(name string) string {
	what := map[string]string{
		"word/document.xml": "a document of Word, which is not read: convert it with 'pandoc -t plain -o " +
			"FILE.txt FILE.docx'",
		"xl/workbook.xml": "a workbook of Excel, which is not read: convert it with 'soffice --convert-to csv " +
			"FILE.xlsx'",
		"ppt/presentation.xml": "a presentation of PowerPoint, which is not read: " +
			"convert it with 'soffice --convert-to pdf FILE.pptx', and that with 'pdftotext FILE.pdf'",
		"META-INF/container.xml": "an e-book (EPUB), which is not read: convert it with 'pandoc -t plain -o FILE.txt " +
			"FILE.epub'",
		"content.xml": "an OpenDocument, which is not read: convert it with 'soffice --convert-to txt FILE.odt'",
	}[name]
	if what == "" {
		return ""
	}
	return "the file is " + what
}

// agree reports whether the header before the content of a file agrees with the directory of its archive. A header need
// not have sizes that follow the content or are stored elsewhere. End is where the content ends.
func agree(archive *budgeted, end int64, file *zip.File) bool {
	// bytes of a header before its name, and of an empty file that is compressed
	const localHeader, mostOfNothing = 30, 5
	local := archive.last
	if len(local) < localHeader ||
		file.UncompressedSize64 == 0 && (file.CompressedSize64 > mostOfNothing || file.CRC32 != 0) {
		return false
	}
	isLater := binary.LittleEndian.Uint16(local[6:])&8 != 0
	for i, want := range []uint64{uint64(file.CRC32), file.CompressedSize64, file.UncompressedSize64} {
		got := binary.LittleEndian.Uint32(local[14+4*i:])
		isElsewhere := isLater && got == 0 || i > 0 && got == math.MaxUint32
		if !isElsewhere && uint64(got) != want {
			return false
		}
	}
	// Content that is compressed shows itself where it ends, unless it seems to be empty.
	if isLater && (file.Method == zip.Store || file.UncompressedSize64 == 0) {
		later := make([]byte, len("PK..")+4)
		if _, err := archive.ReadAt(later, end); err != nil {
			return false
		}
		if binary.LittleEndian.Uint32(bytes.TrimPrefix(later, []byte("PK\x07\x08"))) != file.CRC32 {
			return false
		}
	}
	return binary.LittleEndian.Uint16(local[8:]) == file.Method
}

type budgeted struct {
	file io.ReaderAt
	left int64
	last []byte // of what was read last: of the header of a file, when its place was asked for
}

func (b *budgeted) ReadAt(p []byte, offset int64) (int, error) {
	if b.left -= int64(len(p)); b.left < 0 {
		return 0, fmt.Errorf("the directory of the archive has more than %d bytes", mostDirectory)
	}
	n, err := b.file.ReadAt(p, offset)
	b.last = p[:min(n, len(p))]
	return n, err
}

// skipping reads a file and can skip parts of it. It reads over short ones, which is faster on remote storage.
type skipping struct {
	file   storage.File
	at     int64
	stream io.ReadCloser // stands at at; nil: nowhere
}

func (s *skipping) Read(p []byte) (int, error) {
	if s.stream == nil {
		s.stream = s.file.From(s.at)
	}
	n, err := s.stream.Read(p)
	s.at += int64(n)
	return n, err
}

// Seek goes to another position. It is for archive/tar, which goes forward from where it is.
func (s *skipping) Seek(offset int64, whence int) (int64, error) {
	const short = 64 << 10
	switch {
	case whence != io.SeekCurrent || offset < 0:
		return 0, errors.ErrUnsupported
	case offset <= short:
		_, err := io.CopyN(io.Discard, readerFunc(s.Read), offset)
		if err == io.EOF {
			err = nil // as of files: the next read says it
		}
		return s.at, err
	}
	s.at += offset
	return s.at, s.Close()
}

func (s *skipping) Close() error {
	stream := s.stream
	if s.stream = nil; stream == nil {
		return nil
	}
	return stream.Close()
}
