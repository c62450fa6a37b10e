package inflate

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// archiveFrame returns a skippable frame of the kind that web archives hold their dictionary in.
func archiveFrame(content []byte) []byte {
	frame := binary.LittleEndian.AppendUint32([]byte(dictionaryMagic), uint32(len(content)))
	return append(frame, content...)
}

// TestArchiveDictionary: the first frame of a file may hold a dictionary for the others, as it is or compressed.
func TestArchiveDictionary(t *testing.T) {
	var samples [][]byte
	for i := range 40 {
		samples = append(samples,
			fmt.Appendf(nil,
				"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/%d\r\n\r\n<p>words that all pages of the site have, and %d", i, i*i))
	}
	dictionary, err := zstd.BuildDict(zstd.BuildDictOptions{
		ID:       4711,
		Contents: samples,
		History:  bytes.Join(samples, nil),
		Offsets:  [3]int{1, 4, 8},
	})
	if err != nil {
		t.Fatal(err)
	}
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderDict(dictionary))
	if err != nil {
		t.Fatal(err)
	}
	var records []byte
	var starts []int64
	for _, sample := range samples {
		starts = append(starts, int64(len(records)))
		records = encoder.EncodeAll(sample, records)
	}
	content := string(bytes.Join(samples, nil))
	const unknown = "zstd frame needs a dictionary that the file does not begin with"
	r := NewZstd()
	defer r.Close()
	for _, test := range []struct {
		name         string
		first, after []byte
		want, fault  string
	}{
		{"as it is", archiveFrame(dictionary), records, content, ""},
		{"compressed", archiveFrame(zstded(dictionary)), records, content, ""},
		{"of the file before", nil, records, "", unknown},
		{"no dictionary", archiveFrame([]byte("some words")), zstded([]byte(content)), content, ""},
		{"no dictionary where one is needed", archiveFrame([]byte("some words")), records, "", unknown},
		{"behind a frame", append(zstded([]byte("a")), archiveFrame(dictionary)...), records, "a", unknown},
		{"cut short", archiveFrame(dictionary)[:100], nil, "", "zstd stream is cut short"},
		{"damaged", archiveFrame(zstded(dictionary)[:100]), records, "", "zstd stream is damaged: its dictionary"},
		{
			"too long", binary.LittleEndian.AppendUint32([]byte(dictionaryMagic), 1<<31), nil, "",
			"zstd stream is cut short",
		},
	} {
		file := append(bytes.Clone(test.first), test.after...)
		if err := r.Reset(bytes.NewReader(file), Options{Size: int64(len(file))}); err != nil {
			t.Fatal(err)
		}
		var got []byte
		members := map[int64]bool{}
		buffer := make([]byte, 1<<10)
		var fault *Fault
		for {
			n, err := r.Read(buffer)
			if got = append(got, buffer[:n]...); n > 0 {
				members[r.Member()] = true
			}
			if err == io.EOF {
				break
			} else if errors.As(err, &fault) && fault.Last {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", test.name, err)
			}
		}
		told := ""
		if fault != nil {
			told = fault.Message
		}
		if string(got) != test.want || !strings.HasPrefix(told, test.fault) || test.fault == "" && told != "" {
			t.Errorf("%s: %d bytes, fault %q", test.name, len(got), told)
		}
		if test.after != nil && test.want == content && bytes.Equal(test.after, records) {
			for _, start := range starts {
				if at := int64(len(test.first)) + start; !members[at] {
					t.Errorf("%s: no record begins at %d", test.name, at)
				}
			}
		}
	}
}
