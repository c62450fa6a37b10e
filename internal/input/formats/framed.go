package formats

import (
	"mirrorbeam.dev/internal/input/corpus"
)

// framing finds the records in a file that can only be read from its beginning.
type framing interface {
	// begin gets the beginning of a file. It returns its header, and the number of bytes before the first record.
	begin(s *framedSource, data []byte) (header []byte, used int, err error)
	// frame finds the records in data, which ends where the stream is, and adds them to a batch. It returns the end of
	// the bytes that are done with. If that is 0, and the stream has not ended, it is called again with more data.
	frame(s *framedSource, b *corpus.Batch, data []byte) (end int)
}

type framedSource struct {
	limits  corpus.Limits
	format  corpus.Format
	framing framing

	stream corpus.Stream
	number int
	path   string
	header []byte
	carry  []byte // read but not handed out; it ends where the stream is
	isTold bool   // a batch has told the header
}

func newFramedSource(l corpus.Limits, f corpus.Format, framing framing) *framedSource {
	return &framedSource{limits: l, format: f, framing: framing, stream: l.Stream()}
}

func (s *framedSource) Reset(file corpus.File, stretch corpus.Stretch) (err error) {
	if err := s.stream.Reset(file, stretch.Start, s.limits.Window); err != nil {
		return err
	}
	s.number, s.path, s.isTold = stretch.File, file.Path, false
	if s.carry, err = s.stream.Fill(s.carry[:0], corpus.BatchBytes); err != nil {
		return err
	}
	header, used, err := s.framing.begin(s, s.carry)
	if err != nil {
		return err
	}
	s.header = append([]byte(nil), header...)
	s.carry = s.carry[:copy(s.carry, s.carry[used:])]
	return nil
}

// Next reads the next batch of whole records, which is empty for a file with only a header: copies have that too.
func (s *framedSource) Next(buffer []byte) (corpus.Batch, error) {
	data := append(buffer[:0], s.carry...)
	s.carry = s.carry[:0]
	held := false
	for size := corpus.BatchBytes; ; size *= 2 {
		if size > corpus.LongLine && !held {
			if err := s.stream.Hold(); err != nil {
				return corpus.Batch{}, err
			}
			held = true
		}
		var err error
		if data, err = s.stream.Fill(data, size); err != nil {
			return corpus.Batch{}, err
		}
		b := corpus.Batch{File: s.number, Format: s.format, Header: s.header}
		end := s.framing.frame(s, &b, data)
		if len(b.Frames) > 0 || len(s.stream.Rejects) > 0 || s.stream.Ended && !s.isTold && len(s.header) > 0 {
			s.isTold = true
			b.Data, b.Rejects, s.stream.Rejects = data[:end], s.stream.Rejects, nil
			s.carry = append(s.carry, data[end:]...)
			return b, nil
		}
		if s.stream.Ended {
			return corpus.Batch{}, s.stream.End()
		}
		if data = data[:copy(data, data[end:])]; end > 0 {
			size = corpus.BatchBytes / 2 // the loop doubles it
		}
	}
}

func (s *framedSource) start(data []byte) int64 { return s.stream.Position() - int64(len(data)) }

func (s *framedSource) reject(position int64, message string) {
	s.stream.Rejects = append(s.stream.Rejects, corpus.Reject{Position: position, Message: message})
}

// cutShort says of the last reject that the file ends there before its content does.
func (s *framedSource) cutShort() { s.stream.Rejects[len(s.stream.Rejects)-1].Damage = true }

func (s *framedSource) Close() error { return s.stream.Close() }
