package webtext

import (
	"bytes"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/html"
)

// BenchmarkAppend takes the text out of the HTML pages of the shared archives, next to the tokenizer alone. MB/cpu-s
// are bytes of the pages by processor time, which other programs disturb less than the clock.
func BenchmarkAppend(b *testing.B) {
	var pages []Page
	var length int64
	for _, page := range realPages(b) {
		if formatOf(page) == hypertext {
			pages = append(pages, page)
			length += int64(len(page.Content))
		}
	}
	all, main := Extractor{Mode: All}, Extractor{Mode: Main}
	var text []byte
	for _, step := range []struct {
		name string
		run  func(Page)
	}{
		{"tokenizer", func(page Page) {
			tokens := html.NewTokenizer(bytes.NewReader(page.Content))
			for tokens.Next() != html.ErrorToken {
			}
		}},
		{"all", func(page Page) { text = all.Append(text[:0], page) }},
		{"main", func(page Page) { text = main.Append(text[:0], page) }},
	} {
		b.Run(step.name, func(b *testing.B) {
			b.SetBytes(length)
			b.ReportAllocs()
			began := processorTime(b)
			for b.Loop() {
				for _, page := range pages {
					step.run(page)
				}
			}
			spent := (processorTime(b) - began).Seconds()
			b.ReportMetric(float64(length)*float64(b.N)/1e6/spent, "MB/cpu-s")
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
