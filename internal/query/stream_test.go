package query

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"mirrorbeam/internal/corpus"
	"mirrorbeam/internal/failure"
)

// TestReadStream: positions count bytes of the text, whatever the lines are.
func TestReadStream(t *testing.T) {
	for _, test := range []struct {
		stream string
		want   []string
	}{
		{"", nil},
		{"ab\ncd", []string{"0 ab", "3 cd"}},
		{corpus.ByteOrderMark + "ab\n", []string{"3 ab"}},
		{"ab\n" + strings.Repeat("x", 9) + "\ncd\n", []string{"0 ab", "reject 3", "13 cd"}},
		{"ab\n" + strings.Repeat("x", 9), []string{"0 ab", "reject 3"}},
	} {
		for name, stream := range map[string]io.Reader{
			"at once":  strings.NewReader(test.stream),
			"by bytes": iotest.OneByteReader(strings.NewReader(test.stream)),
		} {
			var got []string
			err := readStream(stream, 8, func(file *corpus.File, batch corpus.Batch) error {
				for position, line := range batch.Lines() {
					got = append(got, fmt.Sprintf("%d %s", position, line))
				}
				for _, reject := range batch.Rejects {
					got = append(got, fmt.Sprintf("reject %d", reject.Position))
				}
				return nil
			})
			if err != nil || !slices.Equal(got, test.want) {
				t.Errorf("%q %s: %q (%v), want %q", test.stream, name, got, err, test.want)
			}
		}
	}
	broken := errors.New("broken")
	err := readStream(iotest.ErrReader(broken), 8, func(*corpus.File, corpus.Batch) error { return nil })
	if !errors.Is(err, failure.Input) || !errors.Is(err, broken) {
		t.Errorf("a stream that breaks: %v", err)
	}
}
