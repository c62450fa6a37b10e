package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"

	"github.com/klauspost/compress/gzip"
)

// writer writes one file. Its first error stays.
type writer struct {
	file      *os.File
	packer    *gzip.Writer
	random    *rand.Rand
	number    int // of the file
	counts    map[kind]int
	records   int
	written   int64 // bytes before compression
	stored    int64 // bytes in the file
	response  int64 // where the last response begins in the file
	metadata  int64 // where the last metadata begins in the file
	breaks    bool  // the next member gets a wrong check sum
	undamaged bool  // no visit is damaged
	err       error
}

// visit writes the records of a visit.
func (w *writer) visit(k kind, p page) {
	w.counts[k]++
	w.record("request", "application/http; msgtype=request", p.url,
		fmt.Appendf(nil, "GET %s HTTP/1.1\r\nAccept: text/html\r\n\r\n", p.url))
	w.response = w.stored
	const response = "application/http; msgtype=response"
	switch k {
	case revisit:
		w.record("revisit", response, p.url, []byte("HTTP/1.1 200 OK\r\n\r\n"))
	case longLength, noLength:
		w.raw(w.header("response", response, p.url, map[kind]int{longLength: 1 << 20, noLength: -1}[k]), w.block(k, p))
	default:
		w.breaks = k == wrongSum
		w.record("response", response, p.url, w.block(k, p))
	}
	w.metadata = w.stored
	w.record("metadata", "application/warc-fields", p.url, fmt.Appendf(nil, "fetchTimeMs: %d\r\n", w.random.IntN(1000)))
}

// block returns a response with its HTTP head.
func (w *writer) block(k kind, p page) []byte {
	status, mediaType, charset, coding := "200 OK", "text/html", p.charset, ""
	content := w.variant(p.content)
	switch k {
	case redirect:
		status, content = "301 Moved Permanently", []byte("<html><body>moved</body></html>")
	case image:
		mediaType, content = "image/png", []byte("\x89PNG\r\n\x1a\n")
	case lyingLabel:
		charset = "shift_jis"
	case badChunks:
		coding = "Transfer-Encoding: chunked\r\n"
		if w.random.IntN(2) == 0 {
			content = chunked(content)
			content = content[:len(content)*2/3]
		}
	case noStatus:
		return append([]byte("<html>"), content...)
	case good, wrongSum:
		switch w.random.IntN(10) {
		case 0:
			coding, content = "Transfer-Encoding: chunked\r\n", chunked(content)
		case 1:
			coding, content = "Content-Encoding: gzip\r\n", w.pack(content)
		}
	}
	if charset != "" {
		charset = "; charset=" + charset
	}
	return append(fmt.Appendf(nil, "HTTP/1.1 %s\r\nContent-Type: %s%s\r\n%s\r\n", status, mediaType, charset, coding),
		content...)
}

// variant returns a page as it is, or with words replaced.
func (w *writer) variant(content []byte) []byte {
	switch n := w.random.IntN(10); {
	case n < 1:
		return content
	case n < 3:
		return edit(content, 0.02, w.random)
	default:
		return edit(content, 0.3, w.random)
	}
}

// chunked returns content in chunks of 8 kB.
func chunked(content []byte) []byte {
	var b []byte
	for len(content) > 0 {
		n := min(len(content), 8<<10)
		b = fmt.Appendf(b, "%x\r\n%s\r\n", n, content[:n])
		content = content[n:]
	}
	return append(b, "0\r\n\r\n"...)
}

// pack returns content as a gzip member.
func (w *writer) pack(content []byte) []byte {
	var b bytes.Buffer
	w.packer.Reset(&b)
	w.packer.Write(content) // a buffer takes all
	w.packer.Close()
	return b.Bytes()
}

// record writes a whole record.
func (w *writer) record(recordType, contentType, url string, block []byte) {
	w.raw(w.header(recordType, contentType, url, len(block)), block)
}

// header returns the header of a record. A length below 0 is left out.
func (w *writer) header(recordType, contentType, url string, length int) []byte {
	w.records++
	b := fmt.Appendf(nil,
		"WARC/1.0\r\nWARC-Type: %s\r\nWARC-Date: 2026-01-02T03:04:05Z\r\nWARC-Record-ID: "+
			"<urn:uuid:%08x-0000-4000-8000-%012x>\r\nContent-Type: %s\r\n",
		recordType, w.number, w.records, contentType)
	if url != "" {
		b = fmt.Appendf(b, "WARC-Target-URI: %s\r\n", url)
	}
	if length >= 0 {
		b = fmt.Appendf(b, "Content-Length: %d\r\n", length)
	}
	return append(b, "\r\n"...)
}

// raw writes a record as a gzip member.
func (w *writer) raw(header, block []byte) {
	record := bytes.Join([][]byte{header, block, []byte("\r\n\r\n")}, nil)
	member := w.pack(record)
	if w.breaks {
		const checkSum = 8 // bytes from the end
		member[len(member)-checkSum] ^= 1
		w.breaks = false
	}
	w.written += int64(len(record))
	w.stored += int64(len(member))
	if _, err := w.file.Write(member); w.err == nil {
		w.err = err
	}
}
