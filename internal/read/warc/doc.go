// Package warc reads web archives: WARC and WET (ISO 28500), and their forerunner ARC, versions 1 and 2.
//
//	reader := warc.NewReader(decoded, warc.Options{Limit: 64 << 20, Member: decoded.Member})
//	parser := warc.Parser{Limit: 64 << 20}
//	for {
//		frame, err := reader.Next() // io.EOF at the end
//		if frame.Fault == "" {
//			record, err := parser.Parse(frame.Raw)
//			if record.Use == warc.Document {
//				// record.Payload, record.MediaType and record.Charset are for package webtext
//			}
//		}
//	}
//
// A [Reader] cuts a decoded stream into frames. A [Parser] takes a record out of a frame: whose it is, whether it is a
// document, and its payload, with the encodings of HTTP undone. The two are apart so that one goroutine can cut and
// others parse, and so that a record can be copied without being understood.
//
// # Nothing is lost in silence
//
// Each byte of a stream is in a frame, or in the blank lines between two. A frame that is no good record is a fault and
// says why. The frames of an archive without faults, one after the other, are the archive.
//
// The length that a record gives is believed unless it is proved wrong: what follows the block has to be the next record
// or the end. If it is not, and a record begins within the block, the record at hand is a fault and the reader goes on
// with that one. If none does, the record stands as it is, and what follows is a fault up to the next one that begins.
// So a page that quotes an archive is not taken apart, unless the record around it is broken.
//
// # Positions
//
// The position of a frame in a plain file is where it begins, in bytes. In a compressed file it is where the gzip member
// or zstd frame begins in which the record begins, in bytes of the stored file, plus the number of frames before it that
// begin in the same member: archives as they should be, of one record a member, can be entered there. If a member holds more
// records than it takes bytes, positions would not ascend, and the records of the next member that have none left are
// faults.
//
// # Dialects
//
// Archives of Common Crawl, Heritrix, Wget, warcio, ClueWeb09 and ClueWeb12 are read. Their ways: lines that end in a
// newline alone, no blank lines after a record, or more than are due; header lines without a colon; header names in any
// case; a URL in angle brackets, or with spaces; dates that are none; a gzip member for each record, or one for all;
// HTTP heads that tell of encodings which the crawler has undone.
package warc
