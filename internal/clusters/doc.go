// Package clusters makes clusters of documents that are joined by edges.
package clusters
