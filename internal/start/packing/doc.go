// Package packing connects the stages of a job with the pipeline of somebody else, where each document is an element.
//
// At the entrance a [Packer] writes the documents of a bundle into a run file. [Ranging] cuts the ids into ranges,
// [Dividing] sends each document to the range of its id, and [Arranging] writes the documents of a range to a file, in the
// order of their ids. [Listing] makes these files the inputs of a job. So document order is the order of ids, whatever
// bundles a runner makes, and a document crosses no shuffle as an element. At the exit the functions Each read the rows
// of the job back.
package packing
