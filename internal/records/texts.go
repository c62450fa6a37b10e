package records

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"mirrorbeam.dev/internal/records/digest"
	"mirrorbeam.dev/internal/util/quoting"
)

// textPlace is where the text of a document begins, in units of textUnit bytes; 0 for a document without one.
type textPlace uint32

const (
	textUnit = 8
	// heldTexts is how many bytes of texts of a shard are held. If there are more, all lie in a file.
	heldTexts = 32 << 20
	// textWindow is how much of the file is read at a time.
	textWindow = 32 << 10
)

// texts are what rows say of the documents of a shard: ids, captures and digests. They are written once, and read in
// any order. Mostly that is the order in which they were written.
type texts struct {
	folder string // for the file
	most   int    // how many bytes may be held
	err    error  // the first fault

	end     int64 // of what was written
	held    strings.Builder
	file    *os.File // nil if all is held
	out     *bufio.Writer
	scratch []byte
	windows [2]window // the latest first: rows go through documents, and name the ones that these go for
}

type window struct {
	start   int64
	content []byte
}

// text is what rows say of a document: lengths of id, URL, date, title and words, these, and the digest if it is asked
// for.
type text string

const lengthsSize = 12

// add writes the text of a document, given its id as the user wrote it. Rows have it as valid UTF-8.
func (t *texts) add(id []byte, of *Member) textPlace {
	b := append(t.scratch[:0], make([]byte, lengthsSize)...)
	b = quoting.AppendText(b, id)
	binary.LittleEndian.PutUint32(b, uint32(len(b)-lengthsSize))
	if of.Capture != nil {
		binary.LittleEndian.PutUint16(b[4:], uint16(len(of.Capture.URL)))
		binary.LittleEndian.PutUint16(b[6:], uint16(len(of.Capture.Date)))
		binary.LittleEndian.PutUint16(b[8:], uint16(len(of.Capture.Title)))
		binary.LittleEndian.PutUint16(b[10:], uint16(len(of.Capture.Words)))
		b = append(append(append(b, of.Capture.URL...), of.Capture.Date...), of.Capture.Title...)
		b = append(b, of.Capture.Words...)
	}
	if of.Digest != (digest.Digest{}) {
		b = of.Digest.Append(b)
	}
	t.scratch = append(b, make([]byte, -len(b)&(textUnit-1))...)
	if t.end == 0 {
		t.write(make([]byte, textUnit)) // place 0 is nobody's
	}
	place := t.end / textUnit
	if place > math.MaxUint32 {
		t.fail(fmt.Errorf("what rows say of the documents of one cluster takes more than %d GB", t.end>>30))
	}
	t.write(t.scratch)
	return textPlace(place)
}

func (t *texts) write(b []byte) {
	t.end += int64(len(b))
	if t.file == nil && t.err == nil && t.held.Len()+len(b) > t.most {
		t.open()
	}
	if t.err != nil {
		return
	}
	if t.file == nil {
		t.held.Write(b)
		return
	}
	if _, err := t.out.Write(b); err != nil {
		t.fail(err)
	}
}

// open moves the texts to a file. It has no name, so the disk gets the room back however the process ends.
func (t *texts) open() {
	file, err := os.CreateTemp(t.folder, "texts-")
	if err == nil {
		t.file, t.out = file, bufio.NewWriterSize(file, textWindow)
		err = os.Remove(file.Name())
	}
	if err == nil {
		_, err = t.out.WriteString(t.held.String())
	}
	t.held.Reset()
	t.fail(err)
}

func (t *texts) fail(err error) {
	if err != nil && t.err == nil {
		t.err = fmt.Errorf("hold what rows say of documents on the local disk: %w", err)
	}
}

// finish must be called when all texts are written.
func (t *texts) finish() {
	if t.file != nil && t.err == nil {
		t.fail(t.out.Flush())
	}
	t.out, t.scratch = nil, nil
}

func (t *texts) of(place textPlace) text {
	at := int64(place) * textUnit
	switch {
	case place == 0 || t.err != nil:
		return text(make([]byte, lengthsSize))
	case t.file == nil:
		return text(t.held.String()[at:])
	}
	size := lengthsSize
	for {
		b := t.at(at, size)
		if b == nil {
			return text(make([]byte, lengthsSize))
		}
		if size > lengthsSize {
			return text(b)
		}
		size += int(binary.LittleEndian.Uint32(b)) + digest.Size
		for at := 4; at < lengthsSize; at += 2 {
			size += int(binary.LittleEndian.Uint16(b[at:]))
		}
	}
}

// at returns up to size bytes of the file. They are valid until the next call.
func (t *texts) at(offset int64, size int) []byte {
	size = int(min(int64(size), t.end-offset))
	has := func(w *window) bool { return offset >= w.start && offset+int64(size) <= w.start+int64(len(w.content)) }
	w := &t.windows[0]
	if !has(w) {
		t.windows[0], t.windows[1] = t.windows[1], t.windows[0]
	}
	if !has(w) {
		w.start = offset
		n := int(min(int64(max(size, textWindow)), t.end-offset))
		w.content = slices.Grow(w.content[:0], n)[:n]
		if _, err := t.file.ReadAt(w.content, offset); err != nil {
			w.content = nil
			t.fail(err)
			return nil
		}
	}
	return w.content[offset-w.start:][:size]
}

func (t *texts) close() {
	if t.file != nil {
		t.file.Close() // nobody reads it any more
	}
}

// ends returns where the id, the URL, the date, the title and the words end. Each begins where the one before ends.
func (t text) ends() (ends [5]int) {
	ends[0] = lengthsSize + (int(t.number(0)) | int(t.number(2))<<16)
	for i := 1; i < len(ends); i++ {
		ends[i] = ends[i-1] + int(t.number(2+2*i))
	}
	return ends
}

// number returns 16 bits of the lengths.
func (t text) number(at int) uint16 { return uint16(t[at]) | uint16(t[at+1])<<8 }

func (t text) id() string {
	return string(t[lengthsSize:t.ends()[0]])
}

func (t text) capture() Capture {
	s, at := string(t), t.ends()
	return Capture{URL: s[at[0]:at[1]], Date: s[at[1]:at[2]], Title: s[at[2]:at[3]], Words: s[at[3]:at[4]]}
}

func (t text) digest() digest.Digest {
	end := t.ends()[4]
	return digest.Get([]byte(t[end : end+digest.Size]))
}
