// Package clusters makes clusters of documents that are joined by edges. [Labelling] finds the components of the
// similarity graph and gives their documents a place in the output. [Sending] brings the edges and the documents of
// each component to its output shard. A [Shard] decides which documents are kept, and gives the rows of the results.
package clusters
