// Package warc reads web archives: WARC and WET (ISO 28500), and their forerunner ARC, versions 1 and 2.
//
// A [Reader] cuts a decoded stream into frames. A [Parser] takes a record out of a frame: whose it is, whether it is a
// document, and its payload, with the encodings of HTTP undone. The two are apart so that one goroutine can cut and
// others parse, and so that a record can be copied without being understood.
//
// # Nothing is lost in silence
//
// Each byte of a stream is in a frame, or in the blank lines between two. A frame that is no good record is a fault and
// says why. The frames of an archive without faults, one after the other, are the archive.
//
// The length that a record gives is believed unless it is proved wrong: what follows the block has to be the next
// record or the end. If it is not, and a record begins within the block, the record at hand is a fault and the reader
// goes on with that one. If none does, the record stays as it is, and what follows is a fault up to the next one that
// begins. So a page that quotes an archive is not taken apart, unless the record around it is broken.
//
// # Positions
//
// The position of a frame in a plain file is where it begins, in bytes. In a compressed file it is where the gzip
// member or zstd frame begins in which the record begins, in bytes of the stored file, plus the number of frames before
// it that begin in the same member: archives as they should be, of one record a member, can be entered there. If a
// member holds more records than it takes bytes, positions would not ascend, and the records of the next member that
// have none left are faults.
//
// # Dialects
//
// Archives of Common Crawl, Heritrix, Wget, warcio, ClueWeb09 and ClueWeb12 are read. Their ways: lines that end in a
// newline alone, no blank lines after a record, or more than are due; header lines without a colon; header names in any
// case; a URL in angle brackets, or with spaces; dates that are none; a gzip member for each record, or one for all;
// HTTP heads that tell of encodings which the crawler has undone.
package warc

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"net/http"
)

// Options say how a stream is read.
type Options struct {
	// Limit is the longest record in bytes, its header counted. A longer one becomes a fault, without being held.
	Limit int64
	// Member, if not nil, says where in the stored file the gzip member or zstd frame begins that the bytes of the
	// source's last Read come from. No Read may return bytes of two members. It is nil for a plain file.
	Member func() int64
	// Start is where in a plain file the source begins, in bytes.
	Start int64
	// End, if not 0, is where in a plain file the source ends, in bytes. It unmasks a length that reaches beyond.
	End int64
	// Hold, if not nil, is called before a record of more than 8 MiB is held. It may wait. Next returns its error.
	Hold func() error
}

// Frame is one record as it is in the stream, or a fault in its place.
type Frame struct {
	// Position tells the frames of a file apart, and ascends in it: see the package.
	Position int64
	// Raw is the record: its header, its block, and the line ends that follow. Of a fault it is what was read of the
	// record, or the part of it that is held, and may be empty. It is valid until the next call.
	Raw []byte
	// Fault says why the frame is no record; empty for a record.
	Fault string
}

// Reader cuts a stream into frames. It is not for concurrent use.
type Reader struct {
	in       input
	options  Options
	frame    int    // length of the last frame, which is still unread
	header   []byte // of a record that was passed over
	number   int64  // frames so far that begin in the member at hand
	member   int64  // where it begins in the stored file
	position int64  // of the last frame
	ids      ids    // of the last record
	inDoubt  bool   // where the last record ends is not known, so what follows may be of its page
}

// ids are the ids in the header of a record: its own, the id of the warcinfo, and the id of the record that it was
// written with. Only the crawler knows the first two while it reads a page.
type ids struct{ own, info, with []byte }

// NewReader returns a reader of the decoded stream of a file.
func NewReader(source io.Reader, options Options) *Reader {
	options.Limit = min(options.Limit, math.MaxInt/2)
	return &Reader{
		in:       input{source: source, member: options.Member},
		options:  options,
		member:   -1,
		position: -1,
	}
}

// Next returns the next frame. Its error is io.EOF at the end of the stream, or another error of the source, in its
// place between the frames. After such an error Next may be called again, and reads on if the source does.
func (r *Reader) Next() (Frame, error) {
	r.in.pass(r.frame)
	r.frame = 0
	for n := 1; n > 0; {
		n = r.in.lineEnds(0, readAhead)
		r.in.pass(n)
	}
	if len(r.in.ahead(1)) == 0 {
		return Frame{}, r.in.takeError()
	}
	position, rises := r.place()
	f, err := r.next()
	f.Position = position
	if !rises && f.Fault == "" {
		f.Fault = fmt.Sprintf(
			"there are more records than bytes in the compressed member at %d: this one has no position", r.member)
	}
	return f, err
}

// place returns the position of the frame that begins here, and whether it comes after the last one.
func (r *Reader) place() (position int64, rises bool) {
	if r.options.Member == nil {
		return r.options.Start + r.in.offset, true
	}
	if member := r.in.members[0].stored; member != r.member {
		r.member, r.number = member, 0
	}
	position = r.member + r.number
	r.number++
	rises = position > r.position
	r.position = max(position, r.position)
	return position, rises
}

func (r *Reader) next() (Frame, error) {
	if r.inDoubt && !r.isVouched() {
		return r.junk(), nil
	}
	h := r.readHeader()
	r.inDoubt = false
	switch {
	case !h.begins:
		return r.junk(), nil
	case h.fault != "":
		r.inDoubt = h.isWARC && h.isWhole
		return r.cut(h.length, h.fault), nil
	case h.block <= r.options.Limit-int64(h.length):
		return r.record(h)
	case r.options.End > 0 && h.block > r.options.End-r.options.Start-r.in.offset-int64(h.length):
		return r.cut(h.length,
			fmt.Sprintf("the record gives its length as %d bytes, which is beyond the end", h.block)), nil
	default:
		return r.passOver(h), nil
	}
}

func (r *Reader) record(h header) (Frame, error) {
	length := h.length + int(h.block)
	if length > keepBytes && r.options.Hold != nil {
		if err := r.options.Hold(); err != nil {
			return Frame{}, err
		}
	}
	have := len(r.in.ahead(length))
	end := min(length, have)
	if have >= length {
		end += r.in.lineEnds(length, maxLineEnds)
		if r.isBoundary(end) {
			atMember := r.options.Member != nil && r.in.memberWithin(end-1, end+1) == end
			r.inDoubt = h.isResponse && !atMember && isShort(r.in.unread()[h.length:length])
			return r.cut(end, ""), nil
		}
	}
	// What follows is no record. The length is too large, or this is junk, or the rest of a page.
	r.inDoubt = h.isWARC
	if next := r.find(h, min(length, have)); next < min(length, have) {
		return r.cut(next,
			fmt.Sprintf("the record gives its length as %d bytes, but another one begins after %d", h.block,
				next-h.length)), nil
	}
	if have < length {
		return r.cut(have,
			fmt.Sprintf("the record is cut short: %d of %d bytes are there", have-h.length, h.block)), nil
	}
	return r.cut(end, ""), nil
}

// isShort reports whether a response says of itself that it is longer than its record.
func isShort(block []byte) bool {
	if !bytes.HasPrefix(block, []byte("HTTP/")) {
		return false
	}
	head, body, err := parseHTTP(block)
	return err == nil && head.status == http.StatusOK && head.length > int64(len(body))
}

// maxLineEnds is how many line ends after a block belong to its record. Two are usual, each of two bytes.
const maxLineEnds = 16

func (r *Reader) cut(n int, fault string) Frame {
	r.frame = n
	return Frame{Raw: r.in.unread()[:n:n], Fault: fault}
}

type header struct {
	begins     bool   // a record begins here
	isWARC     bool   // and it is no record of ARC
	isWhole    bool   // its header has an end
	isResponse bool   // it is what a server answered
	length     int    // of the header in bytes, with the blank line that ends it
	block      int64  // length of the block in bytes
	fault      string // why the block cannot be read, if it cannot
}

func (r *Reader) readHeader() header {
	line := r.in.line(0)
	if isVersion(line) {
		return r.readWARC(len(line))
	}
	arc, ok := parseARC(line)
	h := header{begins: ok, length: len(line), block: arc.length}
	if arc.length == unknownLength {
		h.fault = errNoLength.Error()
	}
	return h
}

func (r *Reader) readWARC(first int) header {
	h := header{begins: true, isWARC: true, length: first}
	for h.length < maxHeader && !h.isWhole {
		line := r.in.line(h.length)
		if len(line) == 0 || isVersion(line) {
			break
		}
		h.length += len(line)
		h.isWhole = isBlank(line)
	}
	f, _, _ := parseFields(r.in.unread()[first:h.length])
	h.block, h.isResponse = f.length, is(f.kind, "response")
	r.ids = ids{append(r.ids.own[:0], f.id...), append(r.ids.info[:0], f.info...), append(r.ids.with[:0], f.with...)}
	if !h.isWhole {
		h.fault = errEndless.Error()
	} else if h.block == unknownLength {
		h.fault = errNoLength.Error()
	}
	return h
}

// isVouched reports whether the crawler has written the record that begins here, and not who made the page of the
// record before: it begins a compressed member, or names that record, or the same warcinfo.
func (r *Reader) isVouched() bool {
	if r.beginsMember() {
		return true
	}
	line := r.in.line(0)
	if !isVersion(line) {
		return false
	}
	before := ids{bytes.Clone(r.ids.own), bytes.Clone(r.ids.info), bytes.Clone(r.ids.with)}
	if len(before.info) == 0 {
		before.info = before.own // it may be the warcinfo itself
	}
	r.readWARC(len(line))
	found := r.ids
	r.ids = before
	return len(found.with) > 0 && bytes.Equal(found.with, before.own) ||
		len(found.info) > 0 && bytes.Equal(found.info, before.info)
}

// isBoundary reports whether a record may end here: another one follows, or nothing.
func (r *Reader) isBoundary(at int) bool {
	line := r.in.line(at)
	if len(line) == 0 || isVersion(line) {
		return true
	}
	_, ok := parseARC(line)
	return ok
}

// find returns where, in the next n bytes, a record begins after the header of the one at hand; n if none does.
func (r *Reader) find(h header, n int) int {
	for at := h.length; at < n; {
		if r.resumes(at) {
			return at
		}
		at += len(r.in.piece(at))
	}
	return n
}

// resumes reports whether a record begins at a line. It is stricter than isBoundary, for it looks where none is due:
// the first field has to look like one.
func (r *Reader) resumes(at int) bool {
	line := r.in.line(at)
	if !isVersion(line) {
		_, ok := parseARC(line)
		return ok
	}
	next := r.in.line(at + len(line))
	for _, prefix := range []string{"warc-", "content-"} {
		if len(next) > len(prefix) && bytes.EqualFold(next[:len(prefix)], []byte(prefix)) {
			return true
		}
	}
	return false
}

func (r *Reader) junk() Frame {
	var passed int64
	fault := "%d bytes are no WARC or ARC record"
	for isLineStart := true; ; {
		line := r.in.piece(0)
		resumes := len(line) > 0 && isLineStart && r.resumes(0)
		if len(line) == 0 || passed > 0 && resumes && (!r.inDoubt || r.isVouched()) {
			return Frame{Fault: fmt.Sprintf(fault, passed)}
		}
		if resumes && r.inDoubt {
			fault = "the record before gives a wrong length, or none: %d bytes after it are not read, " +
				"since what looks like a record there may be of its page"
		}
		isLineStart = len(line) < maxLine || line[len(line)-1] == '\n'
		passed += int64(len(line))
		r.in.pass(len(line))
	}
}

// passOver goes on behind a record that is too long to be held. Its length is believed unless a member begins with a
// record in the midst of it: a page may quote an archive, but not be cut into members by what it quotes.
func (r *Reader) passOver(h header) Frame {
	r.header = append(r.header[:0], r.in.unread()[:h.length]...)
	r.in.pass(h.length)
	f := Frame{Raw: r.header}
	for left := h.block; left > 0; {
		have := len(r.in.ahead(1))
		if have == 0 {
			f.Fault = fmt.Sprintf("the record is cut short: %d of %d bytes are there", h.block-left, h.block)
			return f
		}
		n := r.in.memberWithin(0, int(min(int64(have), left)))
		r.in.pass(n)
		left -= int64(n)
		if left > 0 && r.beginsMember() && r.resumes(0) {
			f.Fault = fmt.Sprintf("the record gives its length as %d bytes, but another one begins after %d", h.block,
				h.block-left)
			return f
		}
	}
	f.Fault = fmt.Sprintf("the record of %d bytes is longer than the %d that a record may have",
		int64(h.length)+h.block, r.options.Limit)
	return f
}

func (r *Reader) beginsMember() bool {
	r.in.ahead(1)
	return len(r.in.members) > 0 && r.in.members[0].decoded == r.in.offset
}
