package asmkernels

import (
	"math"
	"strconv"
	"strings"
	"testing"
)

// TestArticleVectorsOfCorpora reproduces the results of the article's own programs.
func TestArticleVectorsOfCorpora(t *testing.T) {
	for _, name := range []string{"articles2500", "multilingual"} {
		t.Run(name, func(t *testing.T) {
			fingerprints := map[string][]uint32{}
			for _, row := range readRows(t, "vectors/gudkov_k3n128_"+name+".tsv.zst") {
				fingerprint := []uint32{}
				for hash := range strings.SplitSeq(row[3], ",") {
					if hash != "" {
						fingerprint = append(fingerprint, uint32(parse(t, "0x"+hash)))
					}
				}
				fingerprints[row[0]] = fingerprint
			}
			rows := readRows(t, "vectors/gudkov_jaccard_"+name+".tsv.zst")
			onEveryTier(t, func(t *testing.T) {
				for _, row := range rows {
					a, b, alpha := fingerprints[row[0]], fingerprints[row[1]], parse(t, row[2])
					checkArticle(t, a, b, alpha, parse(t, row[3]), parse(t, row[4]), parse(t, row[5]))
				}
			})
		})
	}
}

func parse(t *testing.T, number string) float64 {
	x, err := strconv.ParseFloat(number, 64)
	if strings.HasPrefix(number, "0x") {
		var hash uint64
		hash, err = strconv.ParseUint(number, 0, 32)
		x = float64(hash)
	}
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// checkArticle compares the functions of the article and of this package
// with the results of the former.
func checkArticle(t *testing.T, a, b []uint32, alpha, classical, fast, turbo float64) {
	t.Helper()
	equal := func(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) }
	if got := JaccardClassical(a, b); !equal(got, classical) {
		t.Fatalf("JaccardClassical(%v, %v) = %v, want %v", a, b, got, classical)
	}
	if got := JaccardFast(a, b, alpha); !equal(got, fast) {
		t.Fatalf("JaccardFast(%v, %v, %v) = %v, want %v", a, b, alpha, got, fast)
	}
	if got := JaccardTurbo(a, b, alpha); !equal(got, turbo) {
		t.Fatalf("JaccardTurbo(%v, %v, %v) = %v, want %v", a, b, alpha, got, turbo)
	}
	common := Intersect(a, b, 0)
	if got := float64(common) / float64(len(a)+len(b)-common); !equal(got, classical) {
		t.Fatalf("%d of %d and %d elements are common, want a quotient of %v", common, len(a), len(b), classical)
	}
	need := Required(alpha, len(a), len(b))
	if got := Intersect(a, b, need) >= need; got != (classical >= alpha) {
		t.Fatalf("Intersect reaches %v: %v, want %v", alpha, got, !got)
	}
}
