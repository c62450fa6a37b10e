// Package gathering brings pairs and sets to the places where they are scored.
//
// Near-copies meet under many keys, so their pairs come first. Pairs join documents to components, and components are
// packed into places. Each set is sent once, to the place of its component. A component too large for one place is cut
// into blocks, and each two blocks meet at a place of their own. A set is sent to the places where it has a pair. Most
// documents are in no pair, and never travel.
//
// Where all pairs are compared there are no components. Then the places are blocks of documents of similar size. The
// documents of dense groups are joined to heaps, which are packed into places of their own.
package gathering
