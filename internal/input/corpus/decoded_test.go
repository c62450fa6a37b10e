package corpus

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// readDecoded reads a stream that comes byte by byte to its end.
func readDecoded(stream []byte) ([]byte, error) {
	decoded, err := Decoded(iotest.OneByteReader(bytes.NewReader(stream)))
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(decoded)
	return content, errors.Join(err, decoded.Close())
}

func TestDecoded(t *testing.T) {
	lines := sample(0, 5000)
	for name, stream := range map[string][]byte{
		"plain":      lines,
		"gzip":       gzipped(t, lines),
		"two gzips":  join(gzipped(t, lines[:1000]), gzipped(t, lines[1000:])),
		"zstd":       zstded(t, lines),
		"two zstds":  join(zstded(t, lines[:1000]), zstded(t, lines[1000:])),
		"no content": gzipped(t, nil),
		"nothing":    nil,
		"short":      []byte("{}"),
	} {
		want := lines
		switch name {
		case "no content", "nothing":
			want = nil
		case "short":
			want = stream
		}
		if got, err := readDecoded(stream); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes and %v, want %d", name, len(got), err, len(want))
		}
	}
}

// TestDecodedUTF16: a text in UTF-16 comes out in UTF-8, compressed or not.
func TestDecodedUTF16(t *testing.T) {
	for _, text := range [][]byte{[]byte("\xff\xfea\x00\xe9\x00\n\x00"), []byte("\xfe\xff\x00a\x00\xe9\x00\n")} {
		for _, stream := range [][]byte{text, gzipped(t, text), zstded(t, text)} {
			if got, err := readDecoded(stream); err != nil || string(got) != ByteOrderMark+"aé\n" {
				t.Errorf("%q is %q, error %v", stream, got, err)
			}
		}
	}
}

// TestDecodedDamage: the content before the damage comes out, and then an error.
func TestDecodedDamage(t *testing.T) {
	lines := sample(0, 50_000)
	for _, whole := range [][]byte{gzipped(t, lines), zstded(t, lines)} {
		format, err := sniff(whole)
		if err != nil {
			t.Fatal(err)
		}
		got, err := readDecoded(whole[:len(whole)/2])
		if !errors.Is(err, io.ErrUnexpectedEOF) || !strings.HasPrefix(err.Error(), format.String()+" stream: ") {
			t.Errorf("half a %v stream is read with %v", format, err)
		}
		if len(got) == 0 || !bytes.HasPrefix(lines, got) {
			t.Errorf("of half a %v stream %d bytes are read", format, len(got))
		}
		wrong := bytes.Clone(whole)
		wrong[len(wrong)-1]++ // the length of the gzip member or the checksum of the frame
		if _, err := readDecoded(wrong); err == nil {
			t.Errorf("a %v stream with a wrong end is read without an error", format)
		}
	}
	for _, head := range []string{magicGzip, magicZstd, magicZstd[:2], magicZstd[:3], "BZh91AY&SY", "\xfd7zXZ\x00"} {
		if _, err := readDecoded([]byte(head)); err == nil {
			t.Errorf("%q is read without an error", head)
		}
	}
	fault := errors.New("a broken pipe")
	if _, err := Decoded(iotest.ErrReader(fault)); !errors.Is(err, fault) {
		t.Errorf("a stream with a fault is opened with %v", err)
	}
}

// TestDecodedWindow: a stream that needs too large a window says what helps.
func TestDecodedWindow(t *testing.T) {
	// Magic, descriptor, window of 1<<31, one raw block that is the last.
	decoded, err := Decoded(strings.NewReader("\x28\xb5\x2f\xfd\x00\xa8\x19\x00\x00{}\n"))
	if err == nil {
		decoded.Close()
	}
	if want := "window size exceeded of 128 MiB: recompress it with zstd --long=27"; err == nil ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}
