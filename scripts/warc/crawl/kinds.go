package main

import (
	"fmt"
	"strings"
)

// kind is what a visit gave.
type kind int

const (
	good       kind = iota // a page as it should be
	lyingLabel             // a page whose label names another charset
	badChunks              // a page whose head says chunked, and whose body is not, or breaks off in a chunk
	wrongSum               // a page in a gzip member with a wrong check sum
	redirect               // status 301 or 404
	image                  // a type that is no text
	revisit                // no page, since it was the same before
	noStatus               // a response that does not begin with a status
	longLength             // a response that gives a length beyond its end
	noLength               // a response that does not give its length
	short                  // a response that the end of the file cuts off
)

// kinds has the name of each kind, how many visits of 10,000 are of it, and what should become of its response.
var kinds = []struct {
	name, fate string
	share      int
}{
	{"good", "document", 8600},
	{"lying label", "document", 200},
	{"bad chunks", "document", 100},
	{"wrong check sum", "document, and a reject: checksum does not match", 10},
	{"redirect", "passed over: other status", 550},
	{"image", "passed over: other type", 300},
	{"revisit", "passed over: revisit", 200},
	{"no status", "reject: does not begin with an HTTP status", 20},
	{"long length", "reject: another one begins after", 15},
	{"no length", "two rejects: does not give its length; no WARC or ARC record", 5},
	{"cut short", "two rejects: the record is cut short; the stream is cut short; its visit has no metadata", 0},
}

// draw draws what a visit gives.
func (w *writer) draw() kind {
	n := w.random.IntN(10_000)
	for k, about := range kinds {
		if n -= about.share; n >= 0 {
			continue
		}
		if w.undamaged && strings.Contains(about.fate, "reject") {
			return good
		}
		return kind(k)
	}
	return good
}

// printCounts prints how many visits were of each kind, and how many other records there are.
func printCounts(counts map[kind]int, files int) error {
	visits := 0
	for k, about := range kinds {
		fmt.Printf("%s\t%s\t%d\n", about.name, about.fate, counts[kind(k)])
		visits += counts[kind(k)]
	}
	_, err := fmt.Printf(
		"request\tpassed over: request\t%d\nmetadata\tpassed over: metadata\t%d\nwarcinfo\tpassed over: warcinfo\t%d\n",
		visits, visits-counts[short], files)
	return err
}
