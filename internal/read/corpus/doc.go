// Package corpus reads documents out of JSONL files. It lists the files of a corpus and cuts them into
// splits. It reads a split as batches of whole lines, and takes the id and the text out of each line.
//
//	listing, err := corpus.List(ctx, inputs, nil)
//	files := listing.Files
//	for _, split := range corpus.Splits(files, 64<<20) {
//		for _, stretch := range split {
//			reader, err := corpus.Open(files[stretch.File], stretch, limits)
//			for {
//				batch, err := reader.Next(buffer)   // io.EOF at the end
//				for position, line := range batch.Lines() {
//					record, err := decoder.Decode(line)
//				}
//			}
//		}
//	}
//
// # Nothing is lost in silence
//
// Each byte of a corpus is either in a line that a [Reader] hands out, or in a [Reject] that says why it is
// not. Faults of the data are rejects: a line that is too long, or a compressed stream that is cut short.
// Reading goes on wherever it can. Faults of the machine are errors: a file that vanished, a read error, or a
// file that shrank while the job ran. An answer from whatever happened to be readable would be wrong.
//
// # Positions
//
// A position is the offset of the first byte of a line in the decoded stream of its file, counted from 0. It
// is the same for a plain file and for its compressed copies. It does not depend on how files are cut into
// stretches.
package corpus
