package runfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/util/checksum"
)

// indexGuess is the size of the index of a thousand sections.
const indexGuess = 32 << 10

func (w *Writer) index() []byte {
	b := make([]byte, 0, len(w.sections)*sectionSize+footerSize)
	for _, s := range w.sections {
		b = appendSection(b, s)
	}
	sum := checksum.Of(b)
	length := len(b)
	b = binary.LittleEndian.AppendUint64(append(b, magic...), uint64(w.offset))
	b = binary.LittleEndian.AppendUint64(b, uint64(length))
	b = binary.LittleEndian.AppendUint32(b, sum)
	return append(b, 0, 0, 0, 0)
}

func appendSection(b []byte, s section) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(s.kind)|s.mark<<8)
	b = binary.LittleEndian.AppendUint32(b, s.shard)
	b = binary.LittleEndian.AppendUint64(b, uint64(s.offset))
	b = binary.LittleEndian.AppendUint64(b, uint64(s.length))
	b = binary.LittleEndian.AppendUint32(b, s.sum)
	return binary.LittleEndian.AppendUint32(b, s.link)
}

func decodeSection(b []byte) section {
	word := binary.LittleEndian.Uint32(b)
	return section{
		kind:   Kind(word),
		mark:   word >> 8,
		shard:  binary.LittleEndian.Uint32(b[4:]),
		offset: int64(binary.LittleEndian.Uint64(b[8:])),
		length: int64(binary.LittleEndian.Uint64(b[16:])),
		sum:    binary.LittleEndian.Uint32(b[24:]),
		link:   binary.LittleEndian.Uint32(b[28:]),
	}
}

func (s section) piece(shard int, in sizedFile) Piece {
	return Piece{
		Kind:   s.kind,
		Shard:  shard,
		Path:   in.path,
		Offset: s.offset,
		Length: s.length,
		Mark:   s.mark,
		sum:    s.sum,
		size:   in.size,
	}
}

const maxMark = 1<<24 - 1

type sizedFile struct {
	path string
	size int64
}

const fileHeader = 12

func appendFile(b []byte, f sizedFile) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(f.size))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(f.path)))
	return append(b, f.path...)
}

// decodeFiles reads files that appendFile appended. It returns false if the bytes are not such files.
func decodeFiles(b []byte) (files []sizedFile, ok bool) {
	for len(b) > 0 {
		if len(b) < fileHeader {
			return nil, false
		}
		end := fileHeader + int64(binary.LittleEndian.Uint32(b[8:]))
		if end > int64(len(b)) {
			return nil, false
		}
		files = append(files, sizedFile{string(b[fileHeader:end]), int64(binary.LittleEndian.Uint64(b))})
		b = b[end:]
	}
	return files, true
}

// readIndex returns the sections of the run file at path, and their files by link. The size is 0 if it is not known.
func readIndex(path string, size int64) (_ []section, files []sizedFile, _ error) {
	file, err := Piece{Path: path, size: size}.open()
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, nil, fmt.Errorf("open run: %w", err)
	}
	damaged := damage("open", path, errors.New("not a whole run file"))
	if info.Size < footerSize {
		return nil, nil, damaged
	}
	// A read behind a network takes long, however little it reads. So most indexes come with their footer.
	tail := make([]byte, min(info.Size, indexGuess))
	if _, err := file.ReadAt(tail, info.Size-int64(len(tail))); err != nil {
		return nil, nil, fault("read", path, err)
	}
	tail, footer := tail[:len(tail)-footerSize], tail[len(tail)-footerSize:]
	offset := binary.LittleEndian.Uint64(footer[8:])
	length := binary.LittleEndian.Uint64(footer[16:])
	if string(footer[:5]) == magic[:5] && string(footer[:8]) != magic {
		return nil,
			nil, damage("open", path, errors.New("it has another format: written by another version of this program"))
	}
	if string(footer[:8]) != magic || offset+length+footerSize != uint64(info.Size) || length%sectionSize != 0 {
		return nil, nil, damaged
	}
	var b []byte
	if length <= uint64(len(tail)) {
		b = tail[uint64(len(tail))-length:]
	} else {
		b = make([]byte, length)
		if _, err := file.ReadAt(b, int64(offset)); err != nil {
			return nil, nil, fault("read", path, err)
		}
	}
	if checksum.Of(b) != binary.LittleEndian.Uint32(footer[24:]) {
		return nil, nil, damaged
	}
	files = []sizedFile{{path, info.Size}}
	sections := make([]section, 0, length/sectionSize)
	for ; len(b) > 0; b = b[sectionSize:] {
		sections = append(sections, decodeSection(b))
	}
	if last := len(sections) - 1; last >= 0 && sections[last].kind == linksKind {
		linked, err := readLinks(path, file, sections[last])
		if err != nil {
			return nil, nil, err
		}
		sections, files = sections[:last], append(files, linked...)
	}
	for _, s := range sections {
		if int64(s.link) >= int64(len(files)) {
			return nil, nil, damaged
		}
	}
	return sections, files, nil
}

// fault returns the error of a run file that cannot be read, or that ends too early.
func fault(verb, path string, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return damage(verb, path, err)
	}
	return fmt.Errorf("%s run %s: %w", verb, path, err)
}

// damage returns the error of a run file whose bytes are not those that were written.
func damage(verb, path string, err error) error {
	return &storage.DamagedError{Op: verb + " run", Path: path, Err: err}
}

func readLinks(path string, file storage.File, s section) ([]sizedFile, error) {
	b := make([]byte, s.length)
	if _, err := file.ReadAt(b, s.offset); err != nil {
		return nil, fault("read", path, err)
	}
	linked, ok := decodeFiles(b)
	if !ok || checksum.Of(b) != s.sum {
		return nil, damage("read", path, fmt.Errorf("the bytes at %d are damaged (check sum)", s.offset))
	}
	return linked, nil
}
