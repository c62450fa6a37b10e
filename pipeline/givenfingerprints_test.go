package pipeline

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/job"
)

// TestGivenFingerprints: a job joins the fingerprints in a field of records that brute force finds within the distance,
// whatever their length and encoding, also in incremental runs.
func TestGivenFingerprints(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		bits, distance int
		encoding       corpus.FingerprintEncoding
		format         string
	}{
		{32, 2, corpus.Hex, "jsonl"},
		{64, 3, corpus.Base64, "csv"},
		{128, 5, corpus.Hex, "csv"},
		{1024, 12, corpus.Base64, "jsonl"},
	} {
		t.Run(fmt.Sprint(test.bits), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(9, uint64(test.bits)))
			all := drawFingerprints(random, 600, test.bits, test.distance)
			folder := t.TempDir()
			config := job.Default()
			config.Input, config.Emit = []string{folder}, []string{output.Pairs, output.Clusters}
			config.Fingerprints, config.FingerprintEncoding = "hash", test.encoding
			config.Bits, config.Hamming, config.Format = test.bits, test.distance, test.format
			config.Output, config.State = filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "state")
			config.Overwrite = true
			for part := range 3 {
				putFingerprints(t, folder, part, all[200*part:200*(part+1)], test.encoding, test.format)
				runJob(t, config)
			}
			var got []string
			for _, row := range readRows[pairRow](t, config.Output, output.Pairs) {
				got = append(got, fmt.Sprintf("%s %s %d", row.A, row.B, row.Hamming))
			}
			want := closeFingerprints(all, test.distance)
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) || len(want) < 100 {
				t.Errorf("%d pairs, want %d", len(got), len(want))
			}
		})
	}
}

// drawFingerprints returns fingerprints, some of which are an earlier one with a few flipped bits.
func drawFingerprints(random *rand.Rand, n, size, distance int) (all [][]byte) {
	for len(all) < n {
		one := make([]byte, size/8)
		for i := range one {
			one[i] = byte(random.Uint32())
		}
		if len(all) > 10 && random.IntN(2) == 0 {
			copy(one, all[random.IntN(len(all))])
			for range random.IntN(distance + 2) {
				one[random.IntN(len(one))] ^= 1 << random.IntN(8)
			}
		}
		all = append(all, one)
	}
	return all
}

func putFingerprints(t *testing.T, folder string, part int, all [][]byte, encoding corpus.FingerprintEncoding,
	format string,
) {
	t.Helper()
	var b strings.Builder
	line := "{\"id\":\"d%d\",\"hash\":\"%s\"}\n"
	if format == "csv" {
		b.WriteString("id,hash\n")
		line = "d%d,%s\n"
	}
	for i, one := range all {
		text := hex.EncodeToString(one)
		if encoding == corpus.Base64 {
			text = base64.StdEncoding.EncodeToString(one)
		}
		fmt.Fprintf(&b, line, part*len(all)+i, text)
	}
	name := filepath.Join(folder, fmt.Sprintf("%d.%s", part, format))
	if err := os.WriteFile(name, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// closeFingerprints returns the pairs within the distance. Equal ones are a pair with the first of them, which has the
// pairs with all others.
func closeFingerprints(all [][]byte, most int) (pairs []string) {
	isFirst := make([]bool, len(all))
	for j, b := range all {
		first := slices.IndexFunc(all[:j], func(a []byte) bool { return slices.Equal(a, b) })
		if isFirst[j] = first < 0; first >= 0 {
			pairs = append(pairs, fmt.Sprintf("d%d d%d 0", first, j))
			continue
		}
		for i, a := range all[:j] {
			distance := 0
			for k := range a {
				distance += bits.OnesCount8(a[k] ^ b[k])
			}
			if isFirst[i] && distance <= most {
				pairs = append(pairs, fmt.Sprintf("d%d d%d %d", i, j, distance))
			}
		}
	}
	return pairs
}
