package finished

import (
	"errors"
	"slices"
	"strconv"

	"mirrorbeam/internal/read/parquetfile"
)

// The columns of Parquet that rows are read from. Fingerprints that were compared by their distance have no similarity.
var (
	memberColumns  = []string{"cluster", "id", "ref", "kept", "similarity", "size", "reference", "least", "mean"}
	pairColumns    = []string{"a", "b", "exact", "identical", "jaccard", "containment_a", "containment_b"}
	partialColumns = append(slices.Clip(pairColumns), "jaccard_whole")
	hammingColumns = []string{"a", "b", "exact", "identical", "hamming"}
	rejectColumns  = []string{"file", "position", "error"}
)

// takeMember reads a row of clusters from memberColumns.
func takeMember(cells []parquetfile.Cell) (Member, error) {
	m := Member{
		Cluster: value(cells[0]), ID: value(cells[1]), Ref: value(cells[2]), Kept: isTrue(cells[3]), Reference: isTrue(cells[6]),
	}
	size, err := strconv.Atoi(value(cells[5]))
	m.Size = size
	return m, errors.Join(err, takeNumber(cells[4], &m.Similarity), takeNumber(cells[7], &m.Least), takeNumber(cells[8], &m.Mean))
}

// takePair reads a row of pairs from pairColumns.
func takePair(cells []parquetfile.Cell) (Pair, error) {
	pair := takeNames(cells)
	return pair, errors.Join(takeNumber(cells[4], &pair.Jaccard), takeNumber(cells[5], &pair.ContainmentA), takeNumber(cells[6], &pair.ContainmentB))
}

// takePartialPair reads a row of pairs from partialColumns.
func takePartialPair(cells []parquetfile.Cell) (Pair, error) {
	pair, err := takePair(cells)
	return pair, errors.Join(err, takeNumber(cells[len(pairColumns)], &pair.JaccardWhole))
}

// takeHammingPair reads a row of pairs from hammingColumns.
func takeHammingPair(cells []parquetfile.Cell) (pair Pair, err error) {
	pair = takeNames(cells)
	pair.Hamming, err = strconv.Atoi(value(cells[4]))
	return pair, err
}

// takeNames reads the columns that all rows of pairs have.
func takeNames(cells []parquetfile.Cell) (pair Pair) {
	pair.A, _ = cells[0].Value()
	pair.B, _ = cells[1].Value()
	pair.Exact, pair.Identical = isTrue(cells[2]), isTrue(cells[3])
	return pair
}

// takeReject reads a row of rejects from rejectColumns.
func takeReject(cells []parquetfile.Cell) (Reject, error) {
	position, err := strconv.ParseInt(value(cells[1]), 10, 64)
	return Reject{File: value(cells[0]), Position: position, Error: value(cells[2])}, err
}

// takeNumber sets a number from a cell.
func takeNumber(cell parquetfile.Cell, to *float64) (err error) {
	*to, err = strconv.ParseFloat(value(cell), 64)
	return err
}

// value returns the content of a cell, which is empty for a null.
func value(cell parquetfile.Cell) string {
	text, _ := cell.Value()
	return string(text)
}

// isTrue reads a cell of a column of truth values.
func isTrue(cell parquetfile.Cell) bool { return value(cell) == "true" }
