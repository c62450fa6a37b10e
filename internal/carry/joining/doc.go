// Package joining finds the connected components of a graph of documents, in the order of their first documents, within
// a budget of memory.
//
// A graph comes in parts, which many tasks have made. Each part is a forest already. If all documents fit into the
// budget, [Label] sorts their refs and joins them in one union-find over the ranks.
//
// Otherwise it cuts the refs into ranges of documents that fit, keeps all else in run files of its own, and goes through
// the ranges a fixed number of times (after Sibeyn's contraction of nodes in descending order):
//
//  1. From the last range to the first, it joins the documents of a range by the edges within the range. Of the
//     documents in earlier ranges to which a group is now joined, the first becomes the parent of the group. An edge from
//     there to each other one replaces the edge to the group. So a range has no edges but from its groups to their
//     parents, and the number of edges never grows.
//  2. From the first range to the last, each group asks its parent for the first document of the component. The parent
//     knows it, since all earlier ranges do.
//  3. Each range sends its share of each component to the range of the component's first document, which places the
//     component and answers.
//  4. With these answers the documents of a range get their labels, and so do all nodes of parts that stand for them.
//
// Each edge moves down at most once for each range, so the work is bounded, and there is no loop that has to converge.
package joining
