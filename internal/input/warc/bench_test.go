package warc

import (
	"bytes"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
)

// BenchmarkArchives reads the WARC files in gzip that warcio reads in the same way, as one file. scripts/warc/speed.py
// reads the same ones in Python. If WARC_FILE names an archive in gzip, that one is read instead. MB/cpu-s are decoded
// bytes by processor time, which other programs disturb less than the clock.
func BenchmarkArchives(b *testing.B) {
	var file []byte
	archives := map[string][]byte{}
	if name := os.Getenv("WARC_FILE"); name == "" {
		archives = realArchives(b)
	} else if content, err := os.ReadFile(name); err != nil {
		b.Fatal(err)
	} else {
		file = content
	}
	for line := range strings.Lines(byWarcio) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if strings.HasSuffix(fields[0], "warc.gz") && fields[2] == "" && beside[fields[0]] == "" {
			file = append(file, archives[fields[0]]...)
		}
	}
	inflate := func(b *testing.B) (decoded int64) {
		r, err := gzip.NewReader(bytes.NewReader(file))
		if err == nil {
			decoded, err = io.Copy(io.Discard, struct{ io.Reader }{r}) // as a loop of reads
		}
		if err != nil {
			b.Fatal(err)
		}
		return decoded
	}
	decoded := inflate(b)
	read := func(b *testing.B, use func(Frame)) {
		m := newMembers(file)
		r := NewReader(m, Options{Limit: 64 << 20, Member: m.Member})
		for {
			f, err := r.Next()
			if err == io.EOF {
				return
			} else if err != nil {
				b.Fatal(err)
			}
			use(f)
		}
	}
	p := Parser{Limit: 64 << 20}
	for _, step := range []struct {
		name string
		run  func(b *testing.B)
	}{
		{"inflate", func(b *testing.B) { inflate(b) }},
		{"frames", func(b *testing.B) { read(b, func(Frame) {}) }},
		{"records", func(b *testing.B) {
			read(b, func(f Frame) {
				if _, err := p.Parse(f.Raw); err != nil {
					b.Fatal(err)
				}
			})
		}},
	} {
		b.Run(step.name, func(b *testing.B) {
			b.SetBytes(decoded)
			b.ReportAllocs()
			began := processorTime(b)
			for b.Loop() {
				step.run(b)
			}
			spent := (processorTime(b) - began).Seconds()
			b.ReportMetric(float64(decoded)*float64(b.N)/1e6/spent, "MB/cpu-s")
		})
	}
}

// processorTime returns what the process has taken so far.
func processorTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
