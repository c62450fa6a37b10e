// Package recall measures the share of the similar pairs of a corpus that a job has found. It works on run files.
// [Audit] draws a sample of the documents that were set aside when they were fingerprinted, and looks for the partners
// of each among the others. [Write] checks which of these pairs the job has found. Package audit has the sampling and
// the estimate.
package recall
