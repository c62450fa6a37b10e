package plan

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/input/corpus"
	"mirrorbeam.dev/internal/inspect/sample"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/storage"
)

// What a job without flags takes for each GB of text, as measured on real texts; docs/explanation/scale.md has the
// jobs. CPU time and temporary files are within a third of it at the threshold 0.8, requests within three times up to
// some 10 GB.
const (
	cpuSecondsPerGB = 18
	tempBytesPerGB  = 1.6e9
	requestsPerGB   = 45_000

	gb = 1e9

	// A job over next to nothing takes these.
	leastCPUSeconds = 0.05
	leastRequests   = 100
)

// sketchBytesPerGB is what sketch blocks take without the keys of MinHash bands. Where they and all keys take more than
// tempBytesPerGB, as with many keys a document, they are the most that is there at a time.
const sketchBytesPerGB = 1.0e9

// Estimate says what the job takes that was chosen, by its bytes of text.
type Estimate struct {
	CPUSeconds float64 `json:"cpu_seconds"`
	TempBytes  float64 `json:"temp_bytes"`
	// Requests are requests to a bucket, if the temporary files are in one.
	Requests float64 `json:"requests"`
}

type load struct {
	// Bytes of text, Documents, and the shingles of all that are counted to find the rarest.
	bytes, documents, ordered float64
	// Key records, shingles of the sets that are compared, and shingles that an audit looks at.
	records, gathered, probed float64
	// Edges are the candidates that reach the threshold, and documents joined to a hot group or an equal one.
	edges float64
	// The parts of the job, the tasks that run at once, and the bytes of key records that a task may hold.
	splits, shards, lanes, keyBytes float64
}

// Bytes of memory, fitted to jobs by least squares of relative errors. Much of it is uncollected garbage.
const (
	processMemory = 66e6 // most of it is the program
	textMemory    = 3    // for a byte of text, up to textAtATime bytes
	textAtATime   = 20e6
	splitMemory   = 210  // for a document of the current splits
	orderedMemory = 0.14 // for a shingle of them that is counted
	// for a key record of the current shards, up to shardAtATime bytes each or what a task may hold
	shardMemory     = 34
	shardAtATime    = 50e6
	gatheredMemory  = 1.55 // for a shingle that is compared, up to gatheredAtATime shingles
	gatheredAtATime = 16e6
	edgeMemory      = 61 // for an edge, up to edgesAtATime bytes: the rest of very large components is on the disk
	edgesAtATime    = 1e9
	auditMemory     = 5 // for a shingle that an audit looks at, up to auditAtATime shingles
	auditAtATime    = 2e6
)

func (l *load) memory() float64 {
	current := min(l.lanes, l.splits) / max(l.splits, 1) // share of the splits
	return processMemory + min(l.bytes, textAtATime)*textMemory +
		current*(l.documents*splitMemory+l.ordered*orderedMemory) +
		l.lanes*min(l.records/max(l.shards, 1)*shardMemory, max(shardAtATime, l.keyBytes)) +
		min(l.gathered, gatheredAtATime)*gatheredMemory + min(l.edges*edgeMemory, edgesAtATime) +
		min(l.probed, auditAtATime)*auditMemory
}

// Reads says what a job reads.
type Reads struct {
	// Files are ordered by their numbers of bytes, the most first.
	Files []Files `json:"files"`
	// Splits is the number of parts into which they are cut: the tasks of the first stage.
	Splits int `json:"splits"`
}

// Files are the files of one format and compression.
type Files struct {
	Format      string `json:"format"`
	Compression string `json:"compression,omitempty"`
	Reference   bool   `json:"reference,omitempty"`
	Files       int    `json:"files"`
	// Bytes are as they are stored.
	Bytes int64 `json:"bytes"`
}

func readsOf(inputs *documents.Inputs) *Reads {
	found := map[Files]*Files{} // by what is the same of all
	for i := range inputs.Files {
		for _, file := range inputs.Files[i].All() {
			kind := Files{Format: file.Format.String(), Reference: inputs.Files[i].Reference}
			if file.Compression != corpus.None {
				kind.Compression = file.Compression.String()
			}
			if found[kind] == nil {
				of := kind
				found[kind] = &of
			}
			found[kind].Files++
			found[kind].Bytes += file.Size
		}
	}
	reads := &Reads{Splits: len(inputs.Splits)}
	for files := range maps.Values(found) {
		reads.Files = append(reads.Files, *files)
	}
	slices.SortFunc(reads.Files, func(a, b Files) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Format, b.Format),
			cmp.Compare(a.Compression, b.Compression))
	})
	return reads
}

// describe tells what the chosen job reads and takes, and what room it has.
func (a *Advice) describe(c *Config, measured *survey) {
	a.Reads = readsOf(&measured.corpus.inputs)
	if a.Chosen >= 0 {
		text := float64(a.Corpus.Bytes) / gb
		a.Estimate = &Estimate{
			leastCPUSeconds + text*cpuSecondsPerGB, a.Choices[a.Chosen].TempBytes,
			leastRequests + text*requestsPerGB,
		}
	}
	if c.Temp == "" {
		return
	}
	if free, known := storage.Free(c.Temp); known {
		a.TempFree = &free
	}
}

// allPairs counts the pairs that are compared if each document is compared with all others whose sizes allow the
// threshold. The sizes are known of sampled documents only. So of a larger corpus the pairs are counted by the lengths
// of texts. The sampled documents show how many pairs their sizes allow for each pair that the lengths of their texts
// allow.
func (m *survey) allPairs(c *census, firstInput docref.Ref) sample.Estimate {
	documents, share := c.documents.List()
	isReference := func(d *sample.Document) bool { return d.Ref < firstInput }
	lengths, perUnit, distinct, doubt := c.distinctLengths(), 1., 1., 0.
	if share == 1 {
		lengths = lengthsOf(documents, func(d *sample.Document) length {
			return length{int64(len(d.Set)), isReference(d)}
		})
	} else {
		total := int64(0)
		for i := range c.texts {
			total += c.texts[i].length.length
		}
		all := float64(len(c.texts))
		perUnit = m.facts.Shingles * all / float64(max(total, 1))
		_, others := sample.Identical(documents, share)
		texts := float64(len(lengths))
		distinct = max(1-others/texts-float64(m.facts.Wordless)/all, 0)
		// Of two identical documents with different texts the sample has both by the square of its share.
		doubt = (math.Sqrt(others) + unseenTexts) / share / texts
	}
	estimate := pairsOf(lengths, m.threshold)
	estimate.Keys = 1 // the key by which equal documents meet
	estimate.DocumentElements *= distinct * perUnit
	allowed, spread := m.allowed(documents, share, isReference)
	estimate.Candidates *= distinct * distinct * allowed
	estimate.Error = estimate.Candidates * math.Hypot(spread, 2*doubt)
	estimate.Low, estimate.High = sample.Interval(estimate.Candidates, estimate.Error, share)
	return estimate
}

// unseenTexts stands for texts that are identical to others under the measure, if the sample has none.
const unseenTexts = 2

// folds is the number of parts of a sample that are left out in turn to see how much depends on chance.
const folds = 16

// allowed returns how many pairs of the sampled documents their sizes allow for each pair that the lengths of their
// texts allow, and the standard error of that as a share of it.
func (m *survey) allowed(documents []sample.Document, share float64,
	isReference func(d *sample.Document) bool,
) (ratio, spread float64) {
	if share == 1 {
		return 1, 0
	}
	without := func(fold uint64) float64 {
		counted := func(unit func(d *sample.Document) int64) float64 {
			rest := slices.DeleteFunc(slices.Clone(documents), func(d sample.Document) bool {
				return d.Hash%folds == fold
			})
			return pairsOf(lengthsOf(rest, func(d *sample.Document) length {
				return length{unit(d), isReference(d)}
			}), m.threshold).Candidates
		}
		bySize := counted(func(d *sample.Document) int64 { return int64(len(d.Set)) })
		byLength := counted(func(d *sample.Document) int64 { return d.Length })
		return max(bySize, 1) / max(byLength, 1)
	}
	ratio = without(folds)
	squares := 0.
	for fold := range uint64(folds) {
		difference := without(fold) - ratio
		squares += difference * difference
	}
	return ratio, math.Sqrt(squares*(folds-1)/folds*(1-share)) / ratio
}

func lengthsOf(documents []sample.Document, of func(d *sample.Document) length) []length {
	lengths := make([]length, len(documents))
	for i := range documents {
		lengths[i] = of(&documents[i])
	}
	return lengths
}

// pairsOf counts the pairs of distinct documents of these lengths, without pairs within the reference.
func pairsOf(all []length, threshold float64) sample.Estimate {
	slices.SortFunc(all, func(a, b length) int { return cmp.Compare(a.length, b.length) })
	estimate := sample.Estimate{Share: 1}
	// Number of the documents from the first that is long enough on, of the input and of the reference.
	var counts [2]float64
	from := 0
	for _, longer := range all {
		for ; float64(all[from].length) < threshold*float64(longer.length)*(1-1e-9); from++ {
			counts[sideOf(all[from])]--
		}
		own := sideOf(longer)
		for side := range counts {
			if own == 0 || side == 0 {
				estimate.Candidates += counts[side]
			}
		}
		counts[own]++
		estimate.DocumentElements += float64(longer.length)
	}
	return estimate
}

func sideOf(l length) int {
	if l.isReference {
		return 1
	}
	return 0
}
