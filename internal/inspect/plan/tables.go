package plan

import (
	"cmp"
	"context"
	"slices"

	"mirrorbeam.dev/internal/failure"
	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/job"
	"mirrorbeam.dev/lshbands"
	"mirrorbeam.dev/sketch"
)

// Tables is a choice of permuted tables for fingerprints, and what it takes for the corpus. All find the same pairs.
type Tables struct {
	Blocks []int `json:"blocks"`
	Tables int   `json:"tables"`
	// PrefixBits is the length of the shortest prefix.
	PrefixBits int `json:"prefix_bits"`
	// Candidates is the number of pairs to compare if fingerprints are random, and CPUSeconds what they and the keys
	// take.
	Candidates float64 `json:"candidates"`
	CPUSeconds float64 `json:"cpu_seconds"`
	// Bytes is the room that the keys take.
	Bytes float64 `json:"bytes"`
}

// mostRanked is how many choices of tables a plan shows.
const mostRanked = 6

// rankTables ranks the tables for the documents of a corpus, which it counts, or for a number of documents.
func rankTables(ctx context.Context, c Config, config job.Config) (*Advice, error) {
	advice := &Advice{Config: c, Choices: []Choice{}, Cheaper: -1, Safer: -1, Best: -1}
	n := float64(c.Documents)
	if len(c.Input) > 0 {
		corpus, err := readCorpus(ctx, config, func(int64) func() documents.Visitor {
			return func() documents.Visitor {
				return documents.Visitor{
					Wants: func(*documents.Seen) bool { return false },
					Visit: func(*documents.Surveyed) {},
				}
			}
		})
		if err != nil {
			return nil, err
		}
		counts := corpus.counts
		advice.Corpus = &Facts{
			Documents:          counts.Documents,
			ReferenceDocuments: counts.ReferenceDocuments,
			Bytes:              counts.Bytes + counts.ReferenceBytes,
			Rejected:           counts.Rejected,
		}
		advice.Reads, n = readsOf(&corpus.inputs), advice.Corpus.all()
	}
	chosen, err := tablesOf(&config, n)
	if err != nil {
		return nil, failure.New(failure.Usage, err)
	}
	all, err := lshbands.TableSchemes(c.Bits, c.Hamming)
	if err != nil {
		return nil, failure.New(failure.Usage, err)
	}
	isChosen := func(p *lshbands.Permuted) bool { return slices.Equal(p.Blocks(), chosen.Blocks()) }
	if !slices.ContainsFunc(all, isChosen) {
		all = append(all, chosen)
	}
	slices.SortStableFunc(all, func(a, b *lshbands.Permuted) int {
		return cmp.Compare(a.CPUSeconds(n), b.CPUSeconds(n))
	})
	for i, p := range all {
		if i >= mostRanked && !isChosen(p) {
			continue
		}
		if isChosen(p) {
			advice.Chosen = len(advice.Tables)
		}
		advice.Tables = append(advice.Tables, weighTables(p, n))
	}
	return advice, nil
}

func tablesOf(config *job.Config, documents float64) (*lshbands.Permuted, error) {
	if len(config.Blocks) > 0 {
		return lshbands.PlanTables(config.Bits, config.Hamming, config.Blocks...)
	}
	return lshbands.PlanTablesFor(config.Bits, config.Hamming, max(documents, lshbands.UsualDocuments))
}

func weighTables(p *lshbands.Permuted, documents float64) Tables {
	t := Tables{
		Blocks:     p.Blocks(),
		Tables:     p.Tables(),
		PrefixBits: p.Bits(),
		Candidates: p.ExpectedPairs(documents),
		CPUSeconds: p.CPUSeconds(documents),
		Bytes:      documents * float64(p.Tables()*(records.KeySize+8*sketch.SimHashWords(p.Bits()))),
	}
	for table := range p.Tables() {
		t.PrefixBits = min(t.PrefixBits, p.PrefixBits(table))
	}
	return t
}
