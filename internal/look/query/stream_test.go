package query

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"mirrorbeam/internal/read/corpus"
	"mirrorbeam/internal/start/failure"
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
			if !errors.Is(err, failure.Input) || !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "read -: ") {
				t.Errorf("%q, then %v: error %v", read, broken, err)
			}
		}
	}
	full := errors.New("full")
	if err := readStream(strings.NewReader("ab\ncd\n"), corpus.Limits{Line: 8}, func(*corpus.File, corpus.Batch) error { return full }); !errors.Is(err, full) {
		t.Errorf("error %v, want that of the taker", err)
	}
}
