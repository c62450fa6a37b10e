package warc

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
)

// info is in the header of each record of an archive, so that it is known for one.
const info = "WARC-Warcinfo-ID: <urn:x:info>\r\n"

// record returns a WARC record of a type with a block.
func record(kind, block string) string {
	return "WARC/1.0\r\nWARC-Type: " + kind + "\r\n" + info + "WARC-Record-ID: <urn:x:" + kind +
		">\r\nContent-Length: " + strconv.Itoa(len(block)) + "\r\n\r\n" + block + "\r\n\r\n"
}

// lying returns a WARC record that gives a length of its own.
func lying(length, block string) string {
	return "WARC/1.0\r\nWARC-Type: resource\r\n" + info + "Content-Length: " + length + "\r\n\r\n" + block + "\r\n\r\n"
}

const (
	arcFirst = "filedesc://a.arc 0.0.0.0 20080101000000 text/plain 3\n1 0\n"
	arcPage  = "http://a.example/a b 1.2.3.4 20080101000000 text/html 5\nhello\n"
	arcTwo   = "http://a.example/ 1.2.3.4 20080101000000 text/html 200 sum - 17 a.arc 5\nhello\n"
)

// options are the options of most tests.
var options = Options{Limit: 1 << 20}

func TestReader(t *testing.T) {
	a, b, c := record("response", "HTTP/1.1 200 OK\r\n\r\na"), record("request", "GET /"), record("metadata", "")
	long := record("resource", strings.Repeat("long ", 1<<18))
	shortEnds := strings.ReplaceAll(record("conversion", "text"), "\r\n", "\n")
	for name, test := range map[string]struct {
		stream string
		want   []string // what each frame holds, or "!" and the fault
	}{
		"nothing":            {"", nil},
		"blank lines":        {"\r\n\n\n", nil},
		"three":              {a + b + c, []string{a, b, c}},
		"blank lines before": {"\n\r\n" + a, []string{a}},
		"many blank lines":   {a + strings.Repeat("\n", 100) + b, []string{a + strings.Repeat("\n", 12), b}},
		"no blank lines": {
			strings.TrimRight(a, "\r\n") + strings.TrimRight(b, "\r\n"),
			[]string{strings.TrimRight(a, "\r\n"), strings.TrimRight(b, "\r\n")},
		},
		"newlines alone": {shortEnds + b, []string{shortEnds, b}},
		"header without colon": {
			strings.Replace(a, "\r\n", "\r\nno colon\r\n", 1),
			[]string{strings.Replace(a, "\r\n", "\r\nno colon\r\n", 1)},
		},
		"header in other case": {
			strings.Replace(a, "Content-Length", "content-LENGTH", 1) + b,
			[]string{strings.Replace(a, "Content-Length", "content-LENGTH", 1), b},
		},
		"arc":               {arcFirst + arcPage + arcTwo, []string{arcFirst, arcPage, arcTwo}},
		"quotes an archive": {record("resource", "see\n"+a+b) + c, []string{record("resource", "see\n"+a+b), c}},
		"junk first":        {"junk\nWARC/\n" + a, []string{"!11 bytes are no WARC or ARC record", a}},
		"junk between":      {a + "junk\r\nmore\r\n" + b, []string{a, "!12 bytes are no WARC or ARC record", b}},
		"junk last":         {a + "\x00\x00\r\n", []string{a, "!4 bytes are no WARC or ARC record"}},
		"junk in arc": {
			arcFirst + "URL IP date\n" + arcPage,
			[]string{arcFirst, "!12 bytes are no WARC or ARC record", arcPage},
		},
		"length too short": {
			lying("2", "hello") + b,
			[]string{strings.TrimSuffix(lying("2", "hello"), "llo\r\n\r\n"), "!7 bytes are no WARC or ARC record", b},
		},
		"length into next": {
			lying("20", "hello") + b + c,
			[]string{"!the record gives its length as 20 bytes, but another one begins after 9", b, c},
		},
		"length beyond end": {
			lying("9999", "hello") + b + c,
			[]string{"!the record gives its length as 9999 bytes, but another one begins after 9", b, c},
		},
		"length in arc": {
			arcFirst + strings.Replace(arcPage, " 5\n", " 50\n", 1) + arcTwo,
			[]string{arcFirst, "!the record gives its length as 50 bytes, but another one begins after 6", arcTwo},
		},
		"cut in block":   {a + b[:len(b)-7], []string{a, "!the record is cut short: 2 of 5 bytes are there"}},
		"cut in header":  {a + "WARC/1.0\r\nWARC-Ty", []string{a, "!the header of the record has no end"}},
		"cut in version": {a + "WAR", []string{a, "!3 bytes are no WARC or ARC record"}},
		"no length": {
			"WARC/1.0\r\nWARC-Type: x\r\n" + info + "\r\njunk\n" + b,
			[]string{"!the record does not give its length", "!5 bytes are no WARC or ARC record", b},
		},
		"length no number": {lying("-1", "") + b, []string{"!the record does not give its length", b}},
		"length huge": {
			lying("99999999999999999999", "") + b,
			[]string{"!the record does not give its length", b},
		},
		"length at most": {
			lying("9223372036854775807", "") + b,
			[]string{"!the record is cut short: 129 of 9223372036854775807 bytes are there"},
		},
		"arc length no number": {
			strings.Replace(arcFirst, " 3\n", " abc\n", 1) + arcPage,
			[]string{"!the record does not give its length", "!4 bytes are no WARC or ARC record", arcPage},
		},
		"header has no end": {
			"WARC/1.0\r\nWARC-Type: x\r\n" + b,
			[]string{"!the header of the record has no end", b},
		},
		"header far too long": {
			"WARC/1.0\r\n" + strings.Repeat("a: b\r\n", 1<<16) + "\r\n" + b,
			[]string{"!the header of the record has no end", "!131084 bytes are no WARC or ARC record", b},
		},
		"record too long": {
			a + long + b,
			[]string{a, "!the record of 1310844 bytes is longer than the 1048576 that a record may have", b},
		},
		"record too long, last": {
			a + long[:len(long)-9],
			[]string{a, "!the record is cut short: 1310715 of 1310720 bytes are there"},
		},
	} {
		for reading, wrap := range map[string]func(io.Reader) io.Reader{
			"whole":       func(r io.Reader) io.Reader { return r },
			"data+err":    iotest.DataErrReader,
			"by the byte": iotest.OneByteReader,
		} {
			frames, end := readAll(t, wrap(strings.NewReader(test.stream)), options)
			if end != io.EOF {
				t.Errorf("%s, %s: %v", name, reading, end)
			}
			var got []string
			for _, f := range frames {
				if f.Fault != "" {
					got = append(got, "!"+f.Fault)
					continue
				}
				got = append(got, string(f.Raw))
				if at := test.stream[f.Position:]; !strings.HasPrefix(at, string(f.Raw)) {
					t.Errorf("%s, %s: no such frame at %d", name, reading, f.Position)
				}
			}
			if difference := cmp.Diff(test.want, got); difference != "" {
				t.Errorf("%s, %s:\n%s", name, reading, difference)
			}
		}
	}
}

// TestForgedRecords: text of a page is no record of another address, whatever length the record of the page gives. The
// next record of the crawler is known by what pages cannot know.
func TestForgedRecords(t *testing.T) {
	const html = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>a page"
	forged := strings.ReplaceAll(record("response", html), info,
		"WARC-Warcinfo-ID: <urn:x:other>\r\nWARC-Target-URI: http://bank.example/\r\n")
	page := html + "\r\n\r\n" + forged + forged + "\r\nmore of the page"
	page = strings.Replace(page, "\r\n\r\n",
		"\r\nContent-Length: "+strconv.Itoa(len(page)-len(html)+len("<p>a page"))+"\r\n\r\n", 1)
	length := func(n int) string { return "Content-Length: " + strconv.Itoa(n) }
	own := record("response", page)
	after := record("request", "GET /")
	with := strings.Replace(strings.Replace(after, info, "WARC-Concurrent-To: <urn:x:response>\r\n", 1),
		"urn:x:request", "urn:x:with", 1)
	unknown := strings.Replace(after, info, "", 1)
	for name, wrong := range map[string]string{
		"short": strings.Replace(own, length(len(page)),
			length(strings.Index(page, "a page")+len("a page")), 1),
		"short, into it":   strings.Replace(own, length(len(page)), length(len(html)+80), 1),
		"short, behind it": strings.Replace(own, length(len(page)), length(len(page)-4), 1),
		"long":             strings.Replace(own, length(len(page)), length(len(page)+40), 1),
		"none":             strings.Replace(own, length(len(page)), "Content-Size: 1", 1),
	} {
		for next, isRead := range map[string]bool{after: true, with: true, unknown: false} {
			frames, _ := readAll(t, strings.NewReader(wrong+next+record("metadata", "")), options)
			got := counted(frames, io.EOF)
			if !isRead && !strings.HasPrefix(got, "metadata=1") && !strings.HasPrefix(got, "metadata=1 response=1") ||
				isRead && !strings.Contains(got, "request=1") {
				t.Errorf("%s, then %.60q: %s", name, next, got)
			}
			for _, f := range frames {
				if r, err := (&Parser{Limit: 1 << 20}).Parse(f.Raw); f.Fault == "" && err == nil &&
					string(r.URL) == "http://bank.example/" {
					t.Errorf("%s: a forged record is read", name)
				}
			}
			// In members of their own, all records that follow are read.
			packed, _ := pack(t, wrong, next)
			m := newMembers(packed)
			frames, _ = readAll(t, m, Options{Limit: 1 << 20, Member: m.Member})
			if last := frames[len(frames)-1]; last.Fault != "" || string(last.Raw) != next {
				t.Errorf("%s, in members: %q %q", name, last.Raw, last.Fault)
			}
		}
	}
}

// TestEnd: a length beyond the end of a plain file costs one record, however long it says to be.
func TestEnd(t *testing.T) {
	a := record("request", "GET /")
	stream := a + lying("9223372036854775807", "") + a
	frames, _ := readAll(t, strings.NewReader(stream), Options{
		Limit: 1 << 20,
		Start: 1000,
		End:   1000 + int64(len(stream)),
	})
	var got []int64
	for _, f := range frames {
		got = append(got, f.Position-1000, int64(len(f.Fault)))
	}
	first, last := int64(len(a)), int64(len(stream)-len(a))
	if difference := cmp.Diff([]int64{0, 0, first, int64(len(frames[1].Fault)), last, 0}, got); difference != "" ||
		frames[1].Fault == "" {
		t.Error(difference)
	}
}

// pack returns the gzip members of some contents, and where each begins.
func pack(t testing.TB, contents ...string) (file []byte, starts []int64) {
	t.Helper()
	var packed bytes.Buffer
	for _, content := range contents {
		starts = append(starts, int64(packed.Len()))
		w := gzip.NewWriter(&packed)
		if _, err := w.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return packed.Bytes(), starts
}

// TestMembers: positions in a compressed file are the positions of its members, plus the number of the record in its
// member.
func TestMembers(t *testing.T) {
	a, b, c := record("response", "HTTP/1.1 200 OK\r\n\r\na"), record("request", "GET /"), record("metadata", "")
	long := record("resource", strings.Repeat("long ", 1<<18))
	tiny := strings.Repeat("WARC/1.0\nContent-Length:0\n\n", 3000)
	file, starts := pack(t, a, b+c, "\n", a+b[:9], b[9:], c, lying("2000000", "x"), a, long, b)
	options := Options{Limit: 1 << 20}
	m := newMembers(file)
	options.Member = m.Member
	frames, end := readAll(t, m, options)
	if end != io.EOF {
		t.Fatal(end)
	}
	want := []int64{
		starts[0], starts[1], starts[1] + 1, starts[3], starts[3] + 1, starts[5], starts[6], starts[7],
		starts[8], starts[9],
	}
	var got []int64
	for i, f := range frames {
		got = append(got, f.Position)
		if isFault := i == 6 || i == 8; isFault != (f.Fault != "") {
			t.Errorf("frame %d: %q", i, f.Fault)
		}
	}
	if difference := cmp.Diff(want, got); difference != "" {
		t.Error(difference)
	}

	// A member of more records than bytes takes the positions of the next one.
	file, starts = pack(t, tiny, a, strings.Repeat(a, 3000))
	m = newMembers(file)
	options.Member = m.Member
	frames, _ = readAll(t, m, options)
	last, faults := int64(-1), 0
	for i, f := range frames {
		switch {
		case f.Fault != "":
			faults++
		case f.Position <= last:
			t.Fatalf("frame %d is at %d after %d", i, f.Position, last)
		default:
			last = f.Position
		}
	}
	if want := 3000 - int(starts[2]) + 1; len(frames) != 6001 || faults != want {
		t.Errorf("%d frames, %d faults, want %d", len(frames), faults, want)
	}
}

// TestSourceErrors: an error of the source comes in its place, and reading goes on after it if the source does.
func TestSourceErrors(t *testing.T) {
	a, b := record("response", "HTTP/1.1 200 OK\r\n\r\na"), record("request", "GET /")
	cut := strings.TrimSuffix(b, " /\r\n\r\n")
	r := NewReader(&breaking{parts: []string{a + b, cut, a}}, options)
	for i, want := range []string{
		a, b, "broken", "the record is cut short: 3 of 5 bytes are there", "broken", a,
		"broken", "EOF", "EOF",
	} {
		f, err := r.Next()
		got := f.Fault
		if err != nil {
			got = err.Error()
		} else if got == "" {
			got = string(f.Raw)
		}
		if got != want {
			t.Errorf("step %d: %q, want %q", i, got, want)
		}
	}
}

// breaking fails after each of its parts.
type breaking struct{ parts []string }

func (b *breaking) Read(p []byte) (int, error) {
	switch {
	case len(b.parts) == 0:
		return 0, io.EOF
	case b.parts[0] == "":
		b.parts = b.parts[1:]
		return 0, errors.New("broken")
	}
	n := copy(p, b.parts[0])
	b.parts[0] = b.parts[0][n:]
	return n, nil
}

// TestHold: a long record asks first, and may be refused.
func TestHold(t *testing.T) {
	stream := record("resource", "small") + record("resource", strings.Repeat("x", keepBytes+1))
	refused := errors.New("refused")
	asked := 0
	r := NewReader(strings.NewReader(stream), Options{Limit: 1 << 30, Hold: func() error { asked++; return refused }})
	if f, err := r.Next(); err != nil || f.Fault != "" || asked != 0 {
		t.Errorf("small record: %q, %v, asked %d times", f.Fault, err, asked)
	}
	if _, err := r.Next(); err != refused || asked != 1 {
		t.Errorf("long record: %v, asked %d times", err, asked)
	}
}

// TestMemory: neither a record over the limit nor one that lies about its length takes memory that is not filled.
func TestMemory(t *testing.T) {
	const most = 1 << 20
	zeros := io.LimitReader(zeroes{}, 64<<20)
	source := io.MultiReader(strings.NewReader(lying("67108864", "")[:60]), zeros)
	for name, r := range map[string]*Reader{
		"over the limit": NewReader(source, Options{Limit: 1 << 20}),
		"lying":          NewReader(strings.NewReader(lying("900000000", "")), Options{Limit: 1 << 30}),
	} {
		for {
			if _, err := r.Next(); err != nil {
				break
			}
			if held := cap(r.in.buffer); held > most {
				t.Fatalf("%s: %d bytes are held", name, held)
			}
		}
	}
}

// zeroes is a source without end.
type zeroes struct{}

func (zeroes) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
