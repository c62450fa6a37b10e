package corpus

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// TestMembers: in a file of many members, each Read tells to which member its bytes belong.
func TestMembers(t *testing.T) {
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, press := range map[string]func([]byte) []byte{
		"gzip": func(b []byte) []byte { return gzipped(t, b) },
		"zstd": func(b []byte) []byte { return encoder.EncodeAll(b, nil) },
	} {
		var stored []byte
		want := map[int64]string{}
		for i := range 200 {
			content := strings.Repeat(fmt.Sprintf("member %d ", i), 1+i*i%777)
			want[int64(len(stored))] = content
			stored = append(stored, press([]byte(content))...)
		}
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, stored, 0o600); err != nil {
			t.Fatal(err)
		}
		file := File{Path: path}
		if err := inspect(&file, Options{}); err != nil {
			t.Fatal(err)
		}
		s := Stream{}
		if err := s.Reset(file, 0, 0); err != nil {
			t.Fatal(err)
		}
		got := map[int64]string{}
		for buffer := make([]byte, 1000); ; {
			n, err := s.Read(buffer)
			got[s.Member()] += string(buffer[:n])
			if err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if len(got) != len(want) {
			t.Errorf("%s: %d members, want %d", name, len(got), len(want))
		}
		for at, content := range want {
			if got[at] != content {
				t.Errorf("%s: the member at %d has %d bytes, want %d", name, at, len(got[at]), len(content))
			}
		}
	}
}
