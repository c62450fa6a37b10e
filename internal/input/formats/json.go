package formats

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"mirrorbeam.dev/internal/input/corpus"
)

func init() {
	corpus.Register(objects(corpus.Definition{
		Format:  corpus.JSON,
		Name:    "json",
		Help:    "an array of objects, or objects on several lines each",
		Endings: []string{".json"},
		Begins:  beginsJSON,
		Source: func(l corpus.Limits, w corpus.Wanted) corpus.Source {
			return newFramedSource(l, corpus.JSON, &jsonFraming{records: w.Records})
		},
		Writer: func(c corpus.Copy) corpus.RecordWriter { return &arrayWriter{out: c} },
	}, "the object"))
}

// beginsJSON reports whether a text begins with an array of objects, with an object that goes on in the next line, or
// with two objects in a line.
func beginsJSON(head []byte) bool {
	if rest, isArray := bytes.CutPrefix(head, []byte("[")); isArray {
		rest = bytes.TrimLeft(rest, " \t\r\n")
		return len(rest) == 0 || rest[0] == '{' || rest[0] == ']' && len(bytes.Trim(rest, "] \t\r\n")) == 0
	}
	line, _, isCut := bytes.Cut(head, []byte("\n"))
	var values corpus.ValueFinder
	if end, _, err := values.End(line); err == nil && bytes.HasPrefix(bytes.TrimLeft(line[end:], " \t"), []byte("{")) {
		return true
	}
	line = bytes.TrimRight(line, " \t\r")
	return isCut && corpus.BeginsObject(head) && bytes.IndexByte([]byte("{[,:"), line[len(line)-1]) >= 0
}

type arrayWriter struct {
	out      corpus.Copy
	hasBegun bool
}

func (a *arrayWriter) Write(_ string, record []byte) error {
	between := ",\n"
	if !a.hasBegun {
		between, a.hasBegun = "[\n", true
	}
	if _, err := a.out.Write([]byte(between)); err != nil {
		return err
	}
	return a.out.Row(record)
}

func (a *arrayWriter) Close() error {
	end := "\n]\n"
	if !a.hasBegun {
		end = "[]\n"
	}
	_, err := a.out.Write([]byte(end))
	return err
}

// maybeCut is how far before the end of what has been read a value may look malformed only since it is cut there.
const maybeCut = 1 << 10

// longestIndent is the longest white space before a value by which the next one is found.
const longestIndent = 256

// jsonFraming finds the values in arrays, and those that follow each other outside of arrays. Between two values it
// takes white space and commas. Behind a malformed value it looks for the next object that begins in the same way.
type jsonFraming struct {
	records string // the field with the list of records, if the file is one object with such a list
	isBelow bool   // the list of the file is in that field

	values  corpus.ValueFinder
	inArray bool
	isLine  bool   // only white space is before the last value in its line
	indent  []byte // that white space
	lost    search // what is looked for behind a malformed value
}

// search says where reading goes on behind a malformed value.
type search uint8

const (
	nothing  search = iota
	aLine           // where an object begins a line with the same white space before it
	anObject        // where an object follows the comma behind another one
	theEnd          // nowhere
)

func (j *jsonFraming) begin(_ *framedSource, content []byte) (header []byte, used int, err error) {
	j.inArray, j.isLine, j.indent, j.lost = false, true, j.indent[:0], nothing
	used = len(content) - len(bytes.TrimPrefix(content, []byte(corpus.ByteOrderMark)))
	if j.isBelow = false; j.records != "" {
		if list := j.find(content[used:], strings.Split(j.records, ".")); list >= 0 {
			used, j.isBelow = used+list, true
		}
	}
	return nil, used, nil
}

// find returns where the list of records begins in the object that content begins with, given the names of the fields
// that lead to it; -1: there is none in what has been read.
func (j *jsonFraming) find(content []byte, path []string) int {
	at := skipSpace(content, 0)
	for first := true; at < len(content) && content[at] == map[bool]byte{true: '{', false: ','}[first]; first = false {
		at = skipSpace(content, at+1)
		length, _, err := j.values.End(content[at:])
		if err != nil {
			return -1
		}
		var name string
		if json.Unmarshal(content[at:at+length], &name) != nil {
			return -1
		}
		if at = skipSpace(content, at+length); at == len(content) || content[at] != ':' {
			return -1
		}
		if at = skipSpace(content, at+1); name == path[0] && at < len(content) {
			inner := 0
			if len(path) > 1 {
				inner = j.find(content[at:], path[1:])
			} else if content[at] != '[' {
				inner = -1
			}
			if inner < 0 {
				return -1
			}
			return at + inner
		}
		if length, _, err = j.values.End(content[at:]); err != nil {
			return -1
		}
		at = skipSpace(content, at+length)
	}
	return -1
}

func skipSpace(content []byte, at int) int {
	return len(content) - len(bytes.TrimLeft(content[at:], " \t\r\n"))
}

func (j *jsonFraming) frame(s *framedSource, b *corpus.Batch, data []byte) (end int) {
	start := s.start(data)
	for end < len(data) {
		var isFound bool
		if end, isFound = j.seek(data, end); !isFound {
			if !s.stream.Ended {
				return end
			}
			break
		}
		at := end
		length, fault, err := j.values.End(data[at:])
		isCut := err != nil && fault >= len(data)-at-maybeCut && !s.stream.Ended
		isLong := int64(len(data)-at) > s.limits.Line
		switch {
		case isCut && !isLong:
			return at
		case err == nil && int64(length) > s.limits.Line, isCut:
			j.tooLong(s, start+int64(at), length)
		case err == nil:
			b.Frames = append(b.Frames, corpus.Frame{Position: start + int64(at), Start: at, End: at + length})
		case s.stream.IsCut && fault >= len(data)-at-maybeCut:
			return len(data) // the fault of the stream stands for this value
		default:
			j.malformed(s, start+int64(at), err)
			if at+fault >= len(data) {
				s.cutShort()
			}
		}
		end = at + length
		if err != nil {
			end = max(at+fault-len(j.indent)-1, at+1) // the fault may be the object to go on with
		}
	}
	if s.stream.Ended && j.inArray && j.lost == nothing && !s.stream.IsCut {
		s.reject(start+int64(len(data)),
			"the array is not closed: the file is cut short, and documents after this point are lost")
		s.cutShort()
		j.inArray = false
	}
	return len(data)
}

// tooLong rejects a value that is too long. Its length is 0 if it is not known.
func (j *jsonFraming) tooLong(s *framedSource, position int64, length int) {
	if length > 0 {
		s.reject(position, corpus.TooLong("object", int64(length), s.limits.Line, s.limits.Setting()))
		return
	}
	message := fmt.Sprintf("the object has more than the %d bytes that %s allows for", s.limits.Line,
		s.limits.Setting())
	if j.lost = aLine; !j.isLine {
		j.lost = theEnd
		message += "; documents after this point are lost"
	}
	s.reject(position, message)
}

func (j *jsonFraming) malformed(s *framedSource, position int64, err error) {
	where := "object that follows a comma"
	if j.lost = anObject; j.isLine {
		j.lost, where = aLine, "line that begins with an object as this one does"
	}
	s.reject(position, fmt.Sprintf("%v: reading continues with the next %s", err, where))
}

// seek returns where the next value begins in data, from an index on, or the end of what is consumed.
func (j *jsonFraming) seek(data []byte, from int) (at int, isFound bool) {
	switch j.lost {
	case nothing:
		at = j.between(data, from)
		return at, at < len(data)
	case aLine:
		at, isFound = j.nextLine(data, from)
	case anObject:
		at, isFound = nextObject(data, from)
	case theEnd:
		return len(data), false
	}
	if isFound {
		j.lost = nothing
	}
	return at, isFound
}

func (j *jsonFraming) between(data []byte, at int) int {
	for ; at < len(data); at++ {
		switch c := data[at]; {
		case c == '\n':
			j.isLine, j.indent = true, j.indent[:0]
		case c == ' ' || c == '\t' || c == '\r':
			if j.isLine = j.isLine && len(j.indent) < longestIndent; j.isLine {
				j.indent = append(j.indent, c)
			}
		case c == ',', c == '[' && !j.inArray, c == ']' && j.inArray:
			j.isLine, j.inArray = false, c == '[' || c == ',' && j.inArray
			if c == ']' && j.isBelow {
				j.lost = theEnd // what follows are other fields of the object
				return len(data)
			}
		default:
			return at
		}
	}
	return at
}

func (j *jsonFraming) nextLine(data []byte, from int) (at int, isFound bool) {
	pattern := append(append([]byte("\n"), j.indent...), '{')
	if n := bytes.Index(data[from:], pattern); n >= 0 {
		return from + n + len(pattern) - 1, true
	}
	return max(from, len(data)-len(pattern)+1), false
}

func nextObject(data []byte, from int) (at int, isFound bool) {
	for at = from; ; at++ {
		n := bytes.IndexByte(data[at:], '{')
		if n < 0 {
			return max(from, len(data)-longestIndent), false
		}
		at += n
		before := data[max(from, at-longestIndent):at]
		if list, isList := bytes.CutSuffix(bytes.TrimRight(before, " \t\r\n"), []byte(",")); isList &&
			bytes.HasSuffix(bytes.TrimRight(list, " \t\r\n"), []byte("}")) {
			return at, true
		}
	}
}
