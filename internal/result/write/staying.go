package write

import (
	"fmt"
	"io"
	"slices"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/work"
)

// staying gives the stretches of the input and the kept documents in them, or all documents with their annotations.
// Both come in the order of the corpus, from one split on. It holds one block at a time, and reads each once.
type staying struct {
	work.TaskContext
	catalog string
	splits  []corpus.Split // splits still to come

	split   int                  // number of the current split
	rest    corpus.Split         // its stretches still to come
	sums    []documents.Checksum // their checksums
	blocks  []runfile.Piece      // its blocks still to come
	removed map[docref.Ref]bool  // documents of the split to be passed over
	refs    []docref.Ref         // kept documents of the current block

	reads       runfile.Kind                // what says what becomes of documents
	removes     bool                        // removed documents are passed over
	hasIntegers bool                        // the names in annotations are whole numbers
	annotations records.Annotations         // the annotations of the split, where all documents are given
	trims       map[docref.Ref][]corpus.Cut // what is cut from documents of the split
}

func newStaying(splits []corpus.Split, t work.Task, m *work.Memory) *staying {
	first := min(t.Number, len(splits))
	return &staying{
		TaskContext: work.TaskContext{Memory: m},
		catalog:     t.Catalog,
		splits:      splits[first:],
		split:       first - 1,
	}
}

// next returns the next stretch of a file and its checksum, or io.EOF. It passes over stretches of earlier files.
func (s *staying) next(file int) (corpus.Stretch, documents.Checksum, error) {
	for {
		for len(s.rest) == 0 {
			if len(s.splits) == 0 || s.splits[0][0].File > file {
				return corpus.Stretch{}, documents.Checksum{}, io.EOF
			}
			if err := s.load(); err != nil {
				return corpus.Stretch{}, documents.Checksum{}, err
			}
		}
		stretch, sum := s.rest[0], s.sums[0]
		if stretch.File > file {
			return corpus.Stretch{}, documents.Checksum{}, io.EOF
		}
		s.rest, s.sums = s.rest[1:], s.sums[1:]
		if stretch.File == file {
			return stretch, sum, nil
		}
	}
}

func (s *staying) load() (err error) {
	s.rest, s.splits = s.splits[0], s.splits[1:]
	s.split++
	if s.Pieces, err = runfile.ReadCatalog(s.catalog, s.split); err != nil {
		return err
	}
	switch s.reads {
	case records.AnnotatedDocuments:
		if s.annotations, err = records.ReadAnnotations(&s.Reader, s.Pieces); s.removes {
			s.removed = s.annotations.Removed()
		}
	case records.Trims:
		err = s.readTrims()
	default:
		s.removed, err = records.ReadRefs(&s.Reader, s.Pieces, records.Removed)
	}
	if err != nil {
		return err
	}
	if s.sums, err = documents.ReadChecksums(&s.Reader, s.Pieces); err != nil {
		return err
	}
	if len(s.sums) != len(s.rest) {
		return fmt.Errorf("split %d has %d stretches and %d check sums", s.split, len(s.rest), len(s.sums))
	}
	s.refs, s.blocks = s.refs[:0], slices.AppendSeq(s.blocks[:0], records.Documents.Of(s.Pieces))
	return nil
}

// readTrims reads what is cut from the documents of the split. Those that go as a whole are passed over.
func (s *staying) readTrims() error {
	packed, err := s.Reader.ReadKind(nil, s.Pieces, records.Trims)
	s.removed, s.trims = map[docref.Ref]bool{}, map[docref.Ref][]corpus.Cut{}
	for trim := range records.All[records.Trim](packed) {
		if s.trims[trim.Ref] = trim.Cuts; trim.Whole {
			s.removed[trim.Ref] = true
		}
	}
	return err
}

// before returns the position of the next kept document of a file before end. It passes over earlier files.
func (s *staying) before(file int, end int64) (position int64, found bool, err error) {
	for {
		for len(s.refs) == 0 {
			if len(s.blocks) == 0 {
				return 0, false, nil
			}
			if err := s.block(); err != nil {
				return 0, false, err
			}
		}
		next := s.refs[0]
		if next.File() > file || next.File() == file && next.Position() >= end {
			return 0, false, nil
		}
		s.refs = s.refs[1:]
		if next.File() == file {
			return next.Position(), true, nil
		}
	}
}

func (s *staying) block() error {
	buffer, err := s.ReadPiece(0, s.blocks[0])
	if err != nil {
		return err
	}
	block, err := work.ParseBlock(buffer, s.blocks[0])
	if err != nil {
		return err
	}
	s.blocks = s.blocks[1:]
	s.refs = s.refs[:0]
	for i := range block.Len() {
		if ref := block.Ref(i); !s.removed[ref] {
			s.refs = append(s.refs, ref)
		}
	}
	return nil
}
