package pipeline

import (
	"fmt"
	"testing"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/match/methods"
)

// TestMinShingles: short documents are near-duplicates only of equal ones, by every method, and long ones as ever.
func TestMinShingles(t *testing.T) {
	const verse = "and the evening and the morning were the first day"
	long := ""
	for i := range 40 {
		long += fmt.Sprintf("word%d ", i)
	}
	var lines []line
	for i, text := range []string{verse, verse + " of all", "And the evening, and the morning, were the first day.", long, long + "more"} {
		lines = append(lines, line{raw: fmt.Sprintf(`{"id":"%d","text":%q}`, i, text)})
	}
	input := putCorpus(t, plain, file{"x.jsonl", lines})
	for _, keys := range []methods.Name{methods.Exact, methods.MinHash, methods.All} {
		for least, want := range map[int]string{0: "0-1 0-2 3-4 ", 20: "0-2 3-4 "} {
			config := byKeys(testConfig(t, input), keys)
			config.Emit, config.MinShingles, config.Threshold = []string{output.Pairs}, least, 0.7
			runJob(t, config)
			got := ""
			for _, row := range readRows[pairRow](t, config.Output, output.Pairs) {
				got += row.A + "-" + row.B + " "
			}
			if got != want {
				t.Errorf("%s, at least %d shingles: pairs %s, want %s", keys, least, got, want)
			}
		}
	}
}
