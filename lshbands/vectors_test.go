package lshbands

import (
	"bufio"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/util/corporatest"
)

// readVectors returns the lines of a file of vectors, cut into fields.
func readVectors(t *testing.T, name string) (lines [][]string) {
	t.Helper()
	scanner := bufio.NewScanner(corporatest.Open(t, "vectors/"+name))
	for scanner.Scan() {
		lines = append(lines, strings.Split(scanner.Text(), "\t"))
	}
	if err := scanner.Err(); err != nil {
		t.Fatal(err)
	}
	return lines
}

func parseHex(t *testing.T, digits string) uint64 {
	t.Helper()
	x, err := strconv.ParseUint(digits, 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func parseInt(t *testing.T, digits string) int {
	t.Helper()
	x, err := strconv.Atoi(digits)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// likeSeomoz cuts bits as seomoz/simhash-cpp does: block i begins at
// i*bits/blocks, so that the longer ones are anywhere.
func likeSeomoz(bits, blocks int) []int {
	lengths := make([]int, blocks)
	for i := range lengths {
		lengths[i] = (i+1)*bits/blocks - i*bits/blocks
	}
	return lengths
}

// readTestdata returns the lines of a file of vectors, cut into fields. A first line names the program that made them.
func readTestdata(t *testing.T, name string) (lines [][]string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(content)) {
		if !strings.HasPrefix(line, "#") {
			lines = append(lines, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
		}
	}
	return lines
}

// TestPairVectors: fingerprints that seomoz/simhash-cpp finds meet in a table, and differ in as many bits.
func TestPairVectors(t *testing.T) {
	lines := readTestdata(t, "seomoz_find_all.tsv")
	for _, line := range lines {
		a, b := []uint64{parseHex(t, line[2])}, []uint64{parseHex(t, line[3])}
		p, err := NewPermuted(64, parseInt(t, line[1]), parseInt(t, line[0]))
		if err != nil {
			t.Fatal(err)
		}
		if got := bits.OnesCount64(a[0] ^ b[0]); got != parseInt(t, line[4]) || p.FirstCommon(a, b) < 0 {
			t.Errorf("%v: %d bits, first table %d", line, got, p.FirstCommon(a, b))
		}
	}
	if len(lines) < 100 {
		t.Errorf("%d vectors", len(lines))
	}
}

// TestPermuteVectors compares permuted hashes and the masks of prefixes of seomoz/simhash-cpp, table by table.
func TestPermuteVectors(t *testing.T) {
	compared := 0
	for _, line := range readTestdata(t, "seomoz_permutations.tsv") {
		blocks, distance, table := parseInt(t, line[0]), parseInt(t, line[1]), parseInt(t, line[2])
		p, err := newPermuted(64, distance, likeSeomoz, blocks)
		if err != nil {
			t.Fatal(err)
		}
		mask := parseHex(t, strings.TrimPrefix(line[3], "search_mask="))
		if got := bits.OnesCount64(mask); p.PrefixBits(table) != got {
			t.Errorf("%d blocks, distance %d, table %d: a prefix of %d bits, want %d", blocks, distance, table,
				p.PrefixBits(table), got)
		}
		for _, field := range line[4:] {
			before, after, _ := strings.Cut(field, ">")
			hash, want := []uint64{parseHex(t, before)}, parseHex(t, after)
			got := make([]uint64, 1)
			p.Permute(table, got, hash)
			if got[0] != want {
				t.Errorf("%d blocks, distance %d, table %d: %s becomes %016x, want %s", blocks, distance, table,
					before, got[0], after)
			}
			if prefix := p.Prefix(table, hash) << (64 - p.PrefixBits(table)); prefix != want&mask {
				t.Errorf("%d blocks, distance %d, table %d: %s has the prefix %016x, want %016x", blocks, distance,
					table, before, prefix, want&mask)
			}
			compared++
		}
	}
	if compared != 31*4 {
		t.Errorf("%d permuted hashes were compared, want %d", compared, 31*4)
	}
}

// seomozHashes returns the hashes of the vectors.
func seomozHashes(t *testing.T) (hashes []uint64) {
	t.Helper()
	for _, line := range readVectors(t, "seomoz_hashes.txt.zst") {
		hashes = append(hashes, parseHex(t, line[0]))
	}
	return hashes
}

// TestPairsOfCorpora compares all pairs that seomoz/simhash-cpp finds, for nine
// settings of blocks and bits, cut as it does and as we do.
func TestPairsOfCorpora(t *testing.T) {
	hashes := seomozHashes(t)
	want := map[[2]int][]string{}
	for _, line := range readVectors(t, "seomoz_find_all.tsv.zst") {
		setting := [2]int{parseInt(t, line[0]), parseInt(t, line[1])}
		want[setting] = append(want[setting], strings.Join(line[2:], " "))
	}
	if len(want) != 9 {
		t.Errorf("%d settings, want 9", len(want))
	}
	for setting, lines := range want {
		slices.Sort(lines)
		for name, cut := range map[string]func(bits, blocks int) []int{"theirs": likeSeomoz, "ours": evenly} {
			p, err := newPermuted(64, setting[1], cut, setting[0])
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, q := range matchedPairs(p, hashes) {
				got = append(got, fmt.Sprintf("%016x %016x %d", hashes[q.i], hashes[q.j], q.distance))
			}
			slices.Sort(got)
			if !slices.Equal(got, lines) {
				t.Errorf("%d blocks and %d bits in blocks like %s: %d pairs, want %d", setting[0], setting[1], name,
					len(got), len(lines))
			}
		}
	}
}

// TestClustersOfCorpora compares the clusters of pairs within three bits.
func TestClustersOfCorpora(t *testing.T) {
	hashes := seomozHashes(t)
	label := make([]int, len(hashes)) // the first of the cluster
	for i := range label {
		label[i] = i
	}
	pairs := matchedPairs(newScheme(t, 64, 3, 6), hashes)
	for changed := true; changed; {
		changed = false
		for _, q := range pairs {
			if first := min(label[q.i], label[q.j]); label[q.i] != first || label[q.j] != first {
				label[q.i], label[q.j], changed = first, first, true
			}
		}
	}
	sizes, clusters := map[int]int{}, map[int][]string{}
	for i := range hashes {
		sizes[label[i]]++
	}
	for i, hash := range hashes {
		if sizes[label[i]] > 1 {
			clusters[label[i]] = append(clusters[label[i]], fmt.Sprintf("%016x", hash))
		}
	}
	var got []string
	for _, members := range clusters {
		got = append(got, strings.Join(members, " "))
	}
	wanted := map[string][]string{}
	for _, line := range readVectors(t, "seomoz_clusters.tsv.zst") {
		wanted[line[0]] = append(wanted[line[0]], line[1])
	}
	var want []string
	for _, members := range wanted {
		slices.Sort(members)
		want = append(want, strings.Join(members, " "))
	}
	slices.Sort(got)
	slices.Sort(want)
	if len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("%d clusters, want %d", len(got), len(want))
	}
}
