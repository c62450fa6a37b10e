// Package outputs writes the files of results, under temporary names, each kind by a type
// of its own: [Rows] writes clusters, pairs, removed and rejects, [Unique] the documents
// that stay, [Sketches] their sketches and [Index] an index. A [Result] lists the files of
// a job and what it has counted.
package outputs
