// Package documents reads the inputs of a job: sources give records, records give
// fingerprints, and fingerprints fill sketch blocks.
package documents
