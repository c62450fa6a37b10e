package corpus

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
)

func TestLines(t *testing.T) {
	var pressed bytes.Buffer
	w := gzip.NewWriter(&pressed)
	if _, err := w.Write([]byte("a\r\n\nb")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "lines")
	read := func(ctx context.Context, content []byte) (lines []string, err error) {
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		for line, err := range Lines(ctx, path) {
			if err != nil {
				return lines, err
			}
			lines = append(lines, string(line))
		}
		return lines, nil
	}
	for name, content := range map[string][]byte{
		"plain":            []byte("a\n\nb\n"),
		"gzip":             pressed.Bytes(),
		"carriage returns": []byte("a\r\rb\r"),
		"and in gzip":      gzipped(t, []byte("a\r\rb")),
	} {
		lines, err := read(t.Context(), content)
		if want := []string{"a", "", "b"}; err != nil || !slices.Equal(lines, want) {
			t.Errorf("%s: %q, %v; want %q", name, lines, err, want)
		}
	}
	if _, err := read(t.Context(), pressed.Bytes()[:pressed.Len()-9]); err == nil ||
		!strings.Contains(err.Error(), "cut short") {
		t.Errorf("a file cut short: %v", err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := read(cancelled, []byte("a\n")); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled context: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	for _, err := range Lines(t.Context(), path) {
		if !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a file that is not there: %v", err)
		}
	}
	for range Lines(t.Context(), "lines_test.go") {
		break // must not go on
	}
}
