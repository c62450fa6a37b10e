// Package groups brings the documents of a key together. From the key records of a shard it makes candidate pairs and
// the stars of equal documents. From the records of ids it finds the documents that share an id. A group of very many
// pairs is a crowd: it waits until all crowds are known. Then [Bounds] say which of them are compared. The others are
// dense.
package groups
