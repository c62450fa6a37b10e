// Package groups brings the documents of a key together. Of the key records of a shard it
// makes candidate pairs, the stars of equal documents, and the documents whose id is not
// theirs alone. A group of very many pairs is a crowd: it waits until all crowds are known.
// Then [Bounds] say which of them are compared. The others are dense.
package groups
