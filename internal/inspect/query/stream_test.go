package query

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/work"
	"mirrorbeam.dev/job"
)

// TestReadStream: positions count bytes of the text, whatever the lines are.
func TestReadStream(t *testing.T) {
	const tooLong = "line of 9 bytes is longer than the limit of 8 bytes set by max_document"
	for _, test := range []struct {
		stream string
		want   []string
	}{
		{"", nil},
		{"ab\ncd", []string{"0 ab", "3 cd"}},
		{corpus.ByteOrderMark + "ab\n", []string{"3 ab"}},
		{"ab\n" + strings.Repeat("x", 9) + "\ncd\n", []string{"0 ab", "3 " + tooLong, "13 cd"}},
		{"ab\n" + strings.Repeat("x", 9), []string{"0 ab", "3 " + tooLong}},
	} {
		for name, stream := range map[string]io.Reader{
			"at once":  strings.NewReader(test.stream),
			"by bytes": iotest.OneByteReader(strings.NewReader(test.stream)),
		} {
			var got []string
			err := readStream(stream, corpus.Limits{Line: 8}, func(file *corpus.File, batch corpus.Batch) error {
				for position, line := range batch.Lines() {
					got = append(got, fmt.Sprintf("%d %s", position, line))
				}
				for _, reject := range batch.Rejects {
					got = append(got, fmt.Sprintf("%d %s", reject.Position, reject.Message))
				}
				return nil
			})
			if err != nil || !slices.Equal(got, test.want) {
				t.Errorf("%q %s: %q (%v), want %q", test.stream, name, got, err, test.want)
			}
		}
	}
}

// TestStreamFails: a stream that breaks is an error, whatever was read before, and so is one whose batch nobody takes.
// Only a bare end of file is the end.
func TestStreamFails(t *testing.T) {
	for _, broken := range []error{errors.New("broken"), fmt.Errorf("connection lost: %w", io.EOF)} {
		for _, read := range []string{"", "ab", "ab\n", strings.Repeat("ab\n", 10)} {
			stream := io.MultiReader(strings.NewReader(read), iotest.ErrReader(broken))
			err := readStream(stream, corpus.Limits{Line: 8}, func(*corpus.File, corpus.Batch) error { return nil })
			if !errors.Is(err, failure.Input) || !errors.Is(err, broken) ||
				!strings.HasPrefix(err.Error(), "read -: ") {
				t.Errorf("%q, then %v: error %v", read, broken, err)
			}
		}
	}
	full := errors.New("full")
	if err := readStream(strings.NewReader("ab\ncd\n"), corpus.Limits{Line: 8}, func(*corpus.File, corpus.Batch) error {
		return full
	}); !errors.Is(err, full) {
		t.Errorf("error %v, want that of the taker", err)
	}
}

// TestBlankLine: a blank line of a stream is answered by one, after the rows of all lines before it. A file's is not.
func TestBlankLine(t *testing.T) {
	l := newLibrary(t, newTexts(3, 10), nil)
	x, line := l.open(t), l.texts[0].line()
	input := "\n\n" + line + "\n" + `{"text":"of other words"}` + "\n\n" + line
	for _, q := range []Request{
		{Input: []string{"-"}, Stdin: strings.NewReader(input)},
		{Input: []string{"-"}, Stdin: iotest.OneByteReader(strings.NewReader(input)), Add: true},
		{Input: []string{store(t, "asked.jsonl", input)}},
	} {
		var out strings.Builder
		if _, err := x.Answer(t.Context(), q, &out); err != nil {
			t.Fatal(err)
		}
		var got strings.Builder // r is a row, a dot a blank line
		for line := range strings.Lines(out.String()) {
			if line == "\n" {
				got.WriteByte('.')
			} else if !strings.HasSuffix(got.String(), "r") {
				got.WriteByte('r')
			}
		}
		want := "..r..r"
		if q.Stdin == nil {
			want = "r"
		}
		if got.String() != want {
			t.Errorf("%s, want %s:\n%s", &got, want, &out)
		}
	}
}

// TestLargeTakesTurns: a query waits with a large document until no other one of the process is fingerprinted, and with
// a long line until no other one is held. Both rights come back.
func TestLargeTakesTurns(t *testing.T) {
	l := newLibrary(t, newTexts(3, 10), func(c *job.Config) { c.Memory = 100 << 20 })
	x := l.open(t)
	large := `{"text":"` + strings.Repeat("a ", 1_000_000) + `"}` + "\n"
	long := `{"text":"` + strings.Repeat(" ", 2*corpus.LongLine) + `"}` + "\n"
	for _, c := range []struct {
		name, input string
		hold        func(context.Context) error
		release     func()
	}{
		{"a large document", large + large, work.BeginLarge, work.EndLarge},
		{"a long line", long + long, documents.HoldLongLine, documents.ReleaseLongLine},
	} {
		for name, q := range map[string]Request{
			"stream": {Input: []string{"-"}, Stdin: strings.NewReader(c.input)},
			"file":   {Input: []string{store(t, "large.jsonl", c.input)}},
		} {
			if err := c.hold(t.Context()); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			_, err := x.Answer(ctx, q, io.Discard)
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s in a %s, while another is held: %v", c.name, name, err)
			}
			c.release()
			if q.Stdin != nil {
				q.Stdin = strings.NewReader(c.input)
			}
			if counts, err := x.Answer(t.Context(), q, io.Discard); err != nil || counts.Documents != 2 {
				t.Errorf("%s in a %s: %+v (%v)", c.name, name, counts, err)
			}
		}
		if err := c.hold(t.Context()); err != nil {
			t.Errorf("%s: the right is not given back: %v", c.name, err)
		}
		c.release()
	}
}
