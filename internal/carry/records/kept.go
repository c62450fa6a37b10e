package records

import (
	"encoding/binary"

	"mirrorbeam/internal/ground/docref"
	"mirrorbeam/internal/ground/runfile"
	"mirrorbeam/sketch"
)

// LastingKeySize is the size of the record of a short key, in bytes.
const LastingKeySize = 4

// WriteLastingKey writes a short key that the next run of a scheduled job needs to know.
func WriteLastingKey(run *runfile.Writer, short uint32) error {
	b, err := run.Record(LastingKeys, 0, LastingKeySize)
	if err == nil {
		binary.LittleEndian.PutUint32(b, short)
	}
	return err
}

// KeptPair is a pair with the passages that its documents have in common, as the next run of a scheduled job is to know it.
type KeptPair struct {
	// A and B are the documents by the numbers that their files have in the run that found the pair.
	A, B docref.Ref
	Score
	// Spans are the listed passages, and More is the number of others.
	Spans []sketch.Span
	More  uint32
}

const (
	// keptHeader is the size of the record of a pair without spans: both documents, the figures of the score, how many spans are not listed, and how
	// many are.
	keptHeader   = 2*RefSize + 16
	keptSpanSize = 20
)

// WriteKeptPair writes the record of a pair.
func WriteKeptPair(run *runfile.Writer, p *KeptPair) error {
	b, err := run.Record(KeptPairs, 0, keptHeader+keptSpanSize*len(p.Spans))
	if err != nil {
		return err
	}
	PutRef(b, p.A)
	PutRef(b[RefSize:], p.B)
	b = b[2*RefSize:]
	for i, n := range []uint32{p.Shared, p.Total, p.More, uint32(len(p.Spans))} {
		binary.LittleEndian.PutUint32(b[4*i:], n)
	}
	b = b[16:]
	for _, s := range p.Spans {
		for i, n := range []uint32{s.StartA, s.EndA, s.StartB, s.EndB, s.Words} {
			binary.LittleEndian.PutUint32(b[4*i:], n)
		}
		b = b[keptSpanSize:]
	}
	return nil
}

// Next reads the record of a pair into p, whose memory it uses again, and returns the bytes of the next ones.
func (p *KeptPair) Next(b []byte) []byte {
	p.A, p.B = GetRef(b), GetRef(b[RefSize:])
	b = b[2*RefSize:]
	field := func(i int) uint32 { return binary.LittleEndian.Uint32(b[4*i:]) }
	p.Score, p.More = Score{Shared: field(0), Total: field(1)}, field(2)
	spans := int(field(3))
	b, p.Spans = b[16:], p.Spans[:0]
	for range spans {
		p.Spans = append(p.Spans, sketch.Span{StartA: field(0), EndA: field(1), StartB: field(2), EndB: field(3), Words: field(4)})
		b = b[keptSpanSize:]
	}
	return b
}
