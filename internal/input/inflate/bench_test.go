package inflate

import (
	"bufio"
	"bytes"
	"io"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// benchmarkFiles are files of 64 MB of text, by how they are stored.
func benchmarkFiles() []struct {
	name   string
	isZstd bool
	file   []byte
} {
	content := text(rand.New(rand.NewPCG(10, 11)), 64<<20)
	members := func(n int, press func([]byte) []byte) (file []byte) {
		for part := content; len(part) > 0; part = part[min(n, len(part)):] {
			file = append(file, press(part[:min(n, len(part))])...)
		}
		return file
	}
	return []struct {
		name   string
		isZstd bool
		file   []byte
	}{
		{"gzip/one", false, gzipped(content)},
		{"gzip/1MB", false, members(1<<20, gzipped)},
		{"gzip/bgzf", false, blockGzipped(content)},
		{"gzip/10kB", false, members(10<<10, gzipped)},
		{"zstd/one", true, zstded(content)},
		{"zstd/1MB", true, members(1<<20, zstded)},
		{"zstd/10kB", true, members(10<<10, zstded)},
	}
}

// cpuTime returns the processor time of the process.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage) // cannot fail
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// BenchmarkReader compares the library's own loop with a reader. MB/s are of wall time, MB/cpu-s of processor time.
func BenchmarkReader(b *testing.B) {
	for _, test := range benchmarkFiles() {
		readers := map[bool]func() *Reader{false: NewGzip, true: NewZstd}
		run := func(name string, open func() io.Reader) {
			b.Run(test.name+"/"+name, func(b *testing.B) {
				buffer := make([]byte, 512<<10)
				began, decoded := cpuTime(), int64(0)
				for b.Loop() {
					n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{open()}, buffer)
					if err != nil {
						b.Fatal(err)
					}
					decoded += n
				}
				b.SetBytes(64 << 20)
				b.ReportMetric(float64(decoded)/1e6/(cpuTime()-began).Seconds(), "MB/cpu-s")
			})
		}
		run("library", func() io.Reader { return library(b, test.isZstd, test.file) })
		r := readers[test.isZstd]()
		run("reader", func() io.Reader {
			if err := r.Reset(bytes.NewReader(test.file), Options{Size: int64(len(test.file))}); err != nil {
				b.Fatal(err)
			}
			return r
		})
		r.Close()
	}
}

// library returns the reader of the library.
func library(b *testing.B, isZstd bool, file []byte) io.Reader {
	if !isZstd {
		r, err := gzip.NewReader(bufio.NewReaderSize(bytes.NewReader(file), inputBytes))
		if err != nil {
			b.Fatal(err)
		}
		return r
	}
	r, err := zstd.NewReader(bytes.NewReader(file), zstd.WithDecoderConcurrency(1))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(r.Close)
	return r
}
