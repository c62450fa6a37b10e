// Package write writes the files of results, under temporary names. Each kind has a type of its own: [Rows] writes
// clusters, pairs, removed documents and rejects, [Unique] the kept documents, [Sketches] the sketches of the input and
// [Index] an index. A [Result] lists the files of a job and its counts.
package write
