package warc

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// seeds are short streams of each dialect.
func seeds(t testing.TB) []string {
	a, b := warcOf("response", "", "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>a"), record("request", "GET /")
	return []string{
		"", "\r\n", a, a + b, a[:20], a + "junk\n" + b, lying("99", "x") + a, lying("-1", "x") + b,
		strings.ReplaceAll(a+b, "\r\n", "\n"),
		arcFirst + arcPage + arcTwo, arcFirst + strings.Replace(arcPage, "5\n", "500\n", 1) + arcTwo, "WARC/1.0\r\n",
		"WARC/1.0\r\n\r\n" + a,
		warcOf("response", "", "HTTP/1.1 200\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n"),
		warcOf("response", "", "HTTP/1.1 200\r\nContent-Encoding: gzip\r\n\r\n"+packed(t, "gzip", "text")),
		warcOf("response", "", "HTTP/1.1 200\r\nContent-Encoding: br\r\n\r\n"+packed(t, "br", "text")),
		warcOf("response", "", "HTTP/1.1 200\r\nContent-Encoding: deflate\r\n\r\n"+packed(t, "deflate", "text")),
		warcOf("response", "", "HTTP/1.1 200\r\nContent-Encoding: zstd\r\n\r\n"+packed(t, "zstd", "text")),
		warcOf("conversion", "Content-Type: text/plain\r\n", "text"),
	}
}

// FuzzNext: a stream gives the same frames however it is read. Each has its place, in order, and none is empty.
func FuzzNext(f *testing.F) {
	for _, seed := range seeds(f) {
		f.Add([]byte(seed), uint16(1<<15), uint8(0))
		f.Add([]byte(seed), uint16(90), uint8(7))
	}
	f.Fuzz(func(t *testing.T, stream []byte, limit uint16, member uint8) {
		options := Options{Limit: int64(limit)}
		plain, end := readAll(t, bytes.NewReader(stream), options)
		if end != io.EOF {
			t.Fatal(end)
		}
		last, covered := int64(-1), int64(0)
		for i, f := range plain {
			switch {
			case f.Position <= last, f.Position < covered, f.Position >= int64(len(stream)):
				t.Fatalf("frame %d is at %d, after %d", i, f.Position, last)
			case f.Fault == "" && len(f.Raw) == 0:
				t.Fatalf("frame %d is empty", i)
			case !bytes.HasPrefix(stream[f.Position:], f.Raw):
				t.Fatalf("frame %d is not what is at %d", i, f.Position)
			case len(bytes.Trim(stream[covered:f.Position], "\r\n")) > 0 && (i == 0 || plain[i-1].Fault == ""):
				t.Fatalf("%q before frame %d is in none", stream[covered:f.Position], i)
			}
			last, covered = f.Position, f.Position+int64(len(f.Raw))
		}
		slow, _ := readAll(t, iotest.OneByteReader(bytes.NewReader(stream)), options)
		equal(t, plain, slow)

		// Members may cut the stream anywhere.
		cut := &cutStream{rest: stream, length: int(member) + 1, begun: -1 - int64(member)}
		options.Member = func() int64 { return cut.begun }
		frames, end := readAll(t, cut, options)
		last = -1
		for i, f := range frames {
			if f.Position <= last && f.Fault == "" {
				t.Fatalf("frame %d is at %d, after %d", i, f.Position, last)
			}
			last = max(last, f.Position)
		}
		if end != io.EOF {
			t.Fatal(end)
		}
	})
}

// equal compares frames.
func equal(t *testing.T, want, got []Frame) {
	t.Helper()
	if len(want) != len(got) {
		t.Fatalf("%d frames, want %d", len(got), len(want))
	}
	for i := range want {
		if want[i].Position != got[i].Position || want[i].Fault != got[i].Fault ||
			!bytes.Equal(want[i].Raw, got[i].Raw) {
			t.Fatalf("frame %d: %+v, want %+v", i, got[i], want[i])
		}
	}
}

// cutStream gives a stream in members of one length.
type cutStream struct {
	rest   []byte
	length int
	begun  int64
}

func (c *cutStream) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.rest[:min(len(c.rest), c.length)])
	c.begun += int64(c.length)
	c.rest = c.rest[n:]
	return n, nil
}

// FuzzParse: any bytes give a record or an error, the same each time, and no payload over the limit.
func FuzzParse(f *testing.F) {
	for _, seed := range seeds(f) {
		f.Add([]byte(seed))
	}
	p := Parser{Limit: 1 << 16}
	f.Fuzz(func(t *testing.T, raw []byte) {
		before := bytes.Clone(raw)
		r, err := p.Parse(raw)
		first := tell(r)
		again, errAgain := p.Parse(raw)
		switch {
		case (err == nil) != (errAgain == nil) || first != tell(again):
			t.Errorf("%+v, %v, then %+v, %v", first, err, tell(again), errAgain)
		case !bytes.Equal(raw, before):
			t.Error("the frame was changed")
		case err != nil:
		case int64(len(r.Payload)) > p.Limit:
			t.Errorf("a payload of %d bytes", len(r.Payload))
		case r.Use != Document && len(r.Payload) > 0:
			t.Errorf("the payload of a %v", r.Use)
		}
	})
}
