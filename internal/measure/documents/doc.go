// Package documents reads the documents of a job. A source gives records, records give fingerprints, and fingerprints
// fill sketch blocks. After that no text is read again.
//
//	lines        portions of the lines of a split, with what could not be read
//	Record       one record out of a portion: id and texts or features, or why there is none
//	Sketcher     the fingerprint of a record
//	block        sketch block, rejects and counts of a portion
//	Pool         passes portions through all cores and keeps their order
//
// [Fingerprinting] is the stage that does this for one split after the other. [Survey] does it for a plan, without
// writing anything. A query uses a [Sketcher] by itself.
//
// Code after a Record knows nothing of lines. A position is a number that identifies a record in its file.
// Positions ascend.
package documents
