package results

import (
	"errors"
	"strconv"

	"mirrorbeam/internal/parquetfile"
)

// The columns of Parquet that rows are read from. Fingerprints that were compared by their distance have no similarity.
var (
	memberColumns  = []string{"cluster", "id", "ref", "kept", "similarity", "size", "reference"}
	pairColumns    = []string{"a", "b", "identical", "jaccard"}
	hammingColumns = pairColumns[:3]
)

// takeMember reads a row of clusters from memberColumns.
func takeMember(cells []parquetfile.Cell) (Member, error) {
	similarity, fault := strconv.ParseFloat(value(cells[4]), 64)
	size, err := strconv.Atoi(value(cells[5]))
	return Member{
		Cluster: value(cells[0]), ID: value(cells[1]), Ref: value(cells[2]), Kept: isTrue(cells[3]),
		Similarity: similarity, Size: size, Reference: isTrue(cells[6]),
	}, errors.Join(fault, err)
}

// takePair reads a row of pairs from pairColumns or hammingColumns.
func takePair(cells []parquetfile.Cell) (pair Pair, err error) {
	pair.A, _ = cells[0].Value()
	pair.B, _ = cells[1].Value()
	pair.Identical = isTrue(cells[2])
	if len(cells) == len(pairColumns) {
		pair.Jaccard, err = strconv.ParseFloat(value(cells[3]), 64)
	}
	return pair, err
}

// value returns the content of a cell, which is empty for a null.
func value(cell parquetfile.Cell) string {
	text, _ := cell.Value()
	return string(text)
}

// isTrue reads a cell of a column of truth values.
func isTrue(cell parquetfile.Cell) bool { return value(cell) == "true" }
