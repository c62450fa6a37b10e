package inflate

import (
	"errors"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
)

const (
	gzipName  = "gzip"
	gzipMagic = "\x1f\x8b"
	// emptyMember is a member without content. It has one block, with tables of one code each.
	emptyMember = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff" +
		"\x05\xc0\x81\x00\x00\x00\x00\x00\x90\xff\x6b\x00\x00\x00\x00\x00\x00\x00\x00\x00"
)

// gzipStream decodes gzip members one after the other. It sees the end of each member itself. So it can tell
// junk behind a whole member from a damaged header.
type gzipStream struct {
	input    input
	decoder  gzip.Reader
	empty    strings.Reader // of emptyMember
	inMember bool
	wasWhole bool
}

func (g *gzipStream) reset(file io.Reader, about Options) error {
	g.input.reset(file, about.Size)
	g.inMember, g.wasWhole = false, true
	return nil
}

func (g *gzipStream) stored() *input { return &g.input }

func (g *gzipStream) close() {}

// hold waits for nothing: no window of gzip is large.
func (g *gzipStream) hold() error { return nil }

// Read decodes. At the end of a member it returns, with or without bytes.
func (g *gzipStream) Read(p []byte) (int, error) {
	if !g.inMember {
		if err := g.nextMember(); err != nil {
			return 0, err
		}
	}
	n, err := g.decoder.Read(p)
	switch {
	case err == nil:
		return n, nil
	case errors.Is(err, io.EOF):
		g.inMember, g.wasWhole = false, true
		return n, nil
	case errors.Is(err, gzip.ErrChecksum):
		g.inMember, g.wasWhole = false, false
		return n, mismatch(gzipName, "member")
	default:
		return n, g.input.damage(gzipName, err)
	}
}

func (g *gzipStream) nextMember() error {
	if g.wasWhole {
		g.input.skipZeros() // tapes and disks fill their last block with them
	}
	head, err := g.input.Peek(len(gzipMagic))
	switch {
	case g.input.counted.err != nil:
		return g.input.counted.err
	case len(head) == 0:
		return err
	case string(head) != gzipMagic[:len(head)]:
		return g.input.junk(gzipName, "member", g.wasWhole)
	}
	g.input.member = g.input.offset()
	g.forget()
	if err := g.decoder.Reset(g.input.Reader); err != nil {
		return g.input.damage(gzipName, err)
	}
	g.decoder.Multistream(false)
	g.inMember = true
	return nil
}

// forget makes the decoder forget earlier members. Of these it keeps its tables, and damaged data may use them. Without
// forget, what is read of a damaged member would depend on what was read before.
func (g *gzipStream) forget() {
	g.empty.Reset(emptyMember)
	if err := g.decoder.Reset(&g.empty); err == nil {
		g.decoder.Read(nil)
	}
}
