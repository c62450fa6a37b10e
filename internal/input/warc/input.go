package warc

import (
	"bytes"
	"io"
	"sort"
)

const (
	readAhead = 128 << 10
	// keepBytes is the largest buffer that outlives a record: one huge record shall not weigh on the rest of a job.
	keepBytes = 8 << 20
	// maxEmptyReads is how often the source may give nothing before that is an error.
	maxEmptyReads = 100
)

// input reads a decoded stream ahead and knows which member of the stored file each byte comes from.
type input struct {
	source  io.Reader
	member  func() int64 // nil for a plain stream
	buffer  []byte
	start   int     // buffer[start:] has been read from the source, and not been passed
	offset  int64   // of buffer[start] in the decoded stream
	members []begin // the member of buffer[start], then those that begin later in the buffer
	err     error   // of the source, after the bytes of the buffer
}

type begin struct {
	decoded, stored int64 // in the decoded stream, and in the stored file
}

func (in *input) unread() []byte { return in.buffer[in.start:] }

// ahead reads ahead until n bytes or more are unread, or the source has no more, and returns what is unread.
func (in *input) ahead(n int) []byte {
	for len(in.unread()) < n && in.err == nil {
		in.fill(n)
	}
	return in.unread()
}

// fill reads from the source once, with room for n unread bytes in all.
func (in *input) fill(n int) {
	in.makeRoom(n)
	for range maxEmptyReads {
		end := len(in.buffer)
		got, err := in.source.Read(in.buffer[end:cap(in.buffer)])
		if got > 0 && in.member != nil {
			in.begins(in.offset+int64(len(in.unread())), in.member())
		}
		in.buffer, in.err = in.buffer[:end+got], err
		if got > 0 || err != nil {
			return
		}
	}
	in.err = io.ErrNoProgress
}

// makeRoom makes room to read more, towards n unread bytes in all. A length may be a lie, so the buffer grows with what
// really comes. It moves what is unread only if at least half as much was passed, so that many lies cost little time.
func (in *input) makeRoom(n int) {
	have := len(in.unread())
	room := max(n, have+readAhead/2)
	if room > readAhead {
		room = min(room, 2*have+readAhead)
	}
	switch {
	case cap(in.buffer)-in.start >= room:
	case cap(in.buffer) >= room && in.start >= have/2:
		in.buffer = in.buffer[:copy(in.buffer, in.unread())]
		in.start = 0
	default:
		larger := make([]byte, have, max(readAhead, room+have/2))
		copy(larger, in.unread())
		in.buffer, in.start = larger, 0
	}
}

// begins notes the member of the bytes from an offset in the decoded stream on.
func (in *input) begins(decoded, stored int64) {
	if n := len(in.members); n > 0 && in.members[n-1].stored == stored {
		return
	}
	if decoded == in.offset {
		in.members = in.members[:0]
	}
	in.members = append(in.members, begin{decoded, stored})
}

func (in *input) pass(n int) {
	in.start += n
	in.offset += int64(n)
	for len(in.members) > 1 && in.members[1].decoded <= in.offset {
		in.members = in.members[1:]
	}
	if in.start == len(in.buffer) {
		in.buffer, in.start = in.buffer[:0], 0
		if cap(in.buffer) > keepBytes {
			in.buffer = nil
		}
	}
}

// memberWithin returns where in the next n unread bytes, after the first from of them, a member begins; n if none does.
func (in *input) memberWithin(from, n int) int {
	decoded := in.offset + int64(from)
	i := sort.Search(len(in.members), func(i int) bool { return in.members[i].decoded > decoded })
	if i == len(in.members) {
		return n
	}
	return int(min(in.members[i].decoded-in.offset, int64(n)))
}

// piece returns the line from an index on, or what of it comes before the next member.
func (in *input) piece(from int) []byte {
	line := in.line(from)
	return line[:in.memberWithin(from, from+len(line))-from]
}

// line returns the unread line from an index on, with its newline. A line ends as well where the stream does, and where
// it is as long as a line may be.
func (in *input) line(from int) []byte {
	for have := from; ; {
		unread := in.ahead(have + 1)
		end := min(len(unread), from+maxLine)
		if n := bytes.IndexByte(unread[min(have, end):end], '\n'); n >= 0 {
			end = have + n + 1
		} else if end < from+maxLine && len(unread) > have {
			have = len(unread)
			continue
		}
		return unread[min(from, end):end]
	}
}

// lineEnds counts the carriage returns and newlines from an index on, up to most of them.
func (in *input) lineEnds(from, most int) int {
	n := 0
	for n < most {
		unread := in.ahead(from + n + 1)
		if len(unread) <= from+n || unread[from+n] != '\n' && unread[from+n] != '\r' {
			break
		}
		n++
	}
	return n
}

// takeError returns the error of the source, and goes on reading after it unless it is the end.
func (in *input) takeError() error {
	err := in.err
	if err != io.EOF {
		in.err = nil
	}
	return err
}
