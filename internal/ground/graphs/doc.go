// Package graphs has what the stages need of graphs whose nodes are documents: numbers for nodes, disjoint sets of nodes,
// parts of a graph that many tasks see, connected components in places of bounded size, leaders that stand for
// similar sets, and a sort by integer keys.
package graphs
