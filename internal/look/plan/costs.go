package plan

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/storage"
	"mirrorbeam/internal/match/methods"
	"mirrorbeam/internal/measure/documents"
	"mirrorbeam/internal/read/corpus"
)

// Work is the work of a job, as a plan counts or estimates it.
type Work struct {
	// Documents, their Bytes, and the sum of their distinct Shingles.
	Documents float64 `json:"documents"`
	Bytes     float64 `json:"bytes"`
	Shingles  float64 `json:"shingles"`
	// IDs is the number of documents that have an id. The ids take IDBytes together.
	IDs     float64 `json:"ids"`
	IDBytes float64 `json:"id_bytes"`
	// Rejected is the number of records that are no documents.
	Rejected float64 `json:"rejected"`
	// Signature is the number of components of MinHash signatures, summed over all shingles.
	Signature float64 `json:"signature"`
	// Weighed is the number of bits of SimHash fingerprints, summed over all shingles.
	Weighed float64 `json:"weighed"`
	// Records is the number of key records, which take RecordBytes together.
	Records     float64 `json:"records"`
	RecordBytes float64 `json:"record_bytes"`
	// Gathered is the number of documents with a candidate, GatheredShingles the number of shingles in their sets.
	Gathered         float64 `json:"gathered"`
	GatheredShingles float64 `json:"gathered_shingles"`
	// Reread is the number of shingles in sets that are read again, with the sets of other blocks, to compare all pairs.
	Reread float64 `json:"reread"`
	// Listed is the number of pairs with a common key. These are written and sorted, unless all pairs are compared.
	Listed float64 `json:"listed"`
	// Candidates is the number of pairs that are scored. Scoring looks at Scanned elements of sets.
	Candidates float64 `json:"candidates"`
	Scanned    float64 `json:"scanned"`
	// Edges counts the candidates that reach the threshold, and the documents joined to a heap or to an equal document.
	Edges float64 `json:"edges"`
	// Identical counts the documents that are equal to an earlier one.
	Identical float64 `json:"identical"`
	// Probed counts the shingles that an audit looks at, SetAside those that are kept apart for it; 0 without an audit.
	// Drawn is the number of documents in its sample.
	Probed   float64 `json:"probed"`
	SetAside float64 `json:"set_aside"`
	Drawn    float64 `json:"drawn"`
	// Ordered counts the shingles that are spread over ranges and counted, to find the rarest.
	Ordered float64 `json:"ordered"`
	// Kept is the number of bytes that the keys of a document take in its sketch block.
	Kept float64 `json:"kept"`
	Cut
}

// scanned returns the number of set elements that comparing pairs looks at, if the share alike of them is alike.
// Comparing gives up a pair as soon as too many elements have no partner.
func scanned(elements, alike, threshold float64) float64 {
	return elements * (alike + (1-alike)*(1-threshold)/(1+threshold))
}

// Needs is the cost of a job.
type Needs struct {
	CPUSeconds  float64 `json:"cpu_seconds"`
	MemoryBytes float64 `json:"memory_bytes"`
	TempBytes   float64 `json:"temp_bytes"`
	// AuditSeconds is the part of CPUSeconds that the audit takes.
	AuditSeconds float64 `json:"audit_cpu_seconds"`
	// Stages say what each stage reads and writes of the temporary files.
	Stages []Stage `json:"stages,omitempty"`
	// Requests are the requests for temporary files if they are in a bucket.
	Requests Requests `json:"requests,omitzero"`
}

// Needs returns the cost of the work, with keys of that name.
func (w *Work) Needs(keys methods.Name) Needs {
	t := w.traffic(keys)
	n := Needs{CPUSeconds: w.seconds(), MemoryBytes: w.memory(), TempBytes: t.disk(), Stages: t.stages, Requests: w.Requests(keys)}
	if w.Probed > 0 {
		unaudited := *w
		unaudited.Probed, unaudited.SetAside = 0, 0
		n.AuditSeconds = n.CPUSeconds - unaudited.seconds()
	}
	return n
}

// CPU seconds of a job's steps, on a core of an AMD EPYC (Zen 5) that others share. They are fitted to the jobs in
// docs/plan.md by non-negative least squares of relative errors; the seconds of signatures and fingerprints were timed
// alone. scripts/plancosts measures the jobs again and fits them.
const (
	startSeconds     = 46e-3
	byteSeconds      = 6.4e-9 // to read, to find words, to hash and to store shingles
	documentSeconds  = 0.3e-6
	signatureSeconds = 15e-12
	weighSeconds     = 0.15e-9
	orderSeconds     = 12e-9
	recordSeconds    = 0.3e-6
	gatherSeconds    = 12e-9 // for a shingle
	listSeconds      = 0.3e-6
	candidateSeconds = 48e-9
	scanSeconds      = 0.25e-9
	edgeSeconds      = 50e-9
	auditSeconds     = 20e-3
	probeSeconds     = 3.3e-9
)

func (w *Work) seconds() float64 {
	seconds := startSeconds + w.Bytes*byteSeconds + w.Documents*documentSeconds +
		w.Signature*signatureSeconds + w.Weighed*weighSeconds + w.Ordered*orderSeconds + w.Records*recordSeconds +
		w.GatheredShingles*gatherSeconds + w.Listed*listSeconds + w.comparing() + w.Edges*edgeSeconds
	if w.Probed > 0 {
		seconds += auditSeconds + w.Probed*probeSeconds
	}
	return seconds
}

// joinSeconds is the CPU time of a document in a step that joins the parts of a graph, where the documents are so many that the caches do
// not help, and fit into the memory. On the disk it takes about twice as long.
const joinSeconds = 0.6e-6

// Where parts are joined by ranges, the one task gets the names of trees that are linked; see package union. These are guesses, from corpora of
// real texts: the share of documents with a candidate that are such a name, and of documents with a similar one.
const linkedCandidates, linkedPairs = 0.07, 0.016

// rangeSeconds is the CPU time of a node in the tasks that join parts by ranges.
const rangeSeconds = 1.2e-6

// RangeSeconds returns the CPU seconds of the tasks that join the parts of graphs by ranges, 0 if none do.
func (w *Work) RangeSeconds() float64 {
	if w.joinRanges() == 0 {
		return 0
	}
	return (w.nodes() + w.Gathered + w.Identical) * rangeSeconds
}

// Joined returns how many documents the two steps get together that join the parts of a graph, each in one task. A document with a candidate is
// joined to its candidates, and then to documents that it is like.
func (w *Work) Joined() float64 {
	if w.joinRanges() > 0 {
		return (w.Gathered + w.Identical) * (linkedCandidates + linkedPairs)
	}
	return 2 * (w.Gathered + w.Identical)
}

// JoiningSeconds returns the CPU seconds of these steps in memory.
func (w *Work) JoiningSeconds() float64 { return w.Joined() * joinSeconds }

func (w *Work) comparing() float64 { return w.Candidates*candidateSeconds + w.Scanned*scanSeconds }

// Bytes of memory, fitted in the same way. Much of it is garbage that was not collected yet.
const (
	processMemory   = 66e6 // most of it is the program
	textMemory      = 3    // for a byte of text, up to textAtATime bytes
	textAtATime     = 20e6
	splitMemory     = 210  // for a document of the current splits
	orderedMemory   = 0.14 // for a shingle of them that is counted
	shardMemory     = 34   // for a key record of the current shards, up to shardAtATime bytes each or what a task may hold
	shardAtATime    = 50e6
	gatheredMemory  = 1.55 // for a shingle that is compared, up to gatheredAtATime shingles
	gatheredAtATime = 16e6
	edgeMemory      = 61 // for an edge, up to edgesAtATime bytes: the rest of very large components lies on the disk
	edgesAtATime    = 1e9
	auditMemory     = 5 // for a shingle that an audit looks at, up to auditAtATime shingles
	auditAtATime    = 2e6
)

func (w *Work) memory() float64 {
	current := min(w.Lanes, w.Splits) / max(w.Splits, 1) // share of the splits
	return processMemory + min(w.Bytes, textAtATime)*textMemory +
		current*(w.Documents*splitMemory+w.Ordered*orderedMemory) +
		w.Lanes*min(w.Records/max(w.Shards, 1)*shardMemory, max(shardAtATime, w.KeyBytes)) +
		min(w.GatheredShingles, gatheredAtATime)*gatheredMemory + min(w.Edges*edgeMemory, edgesAtATime) +
		min(w.Probed, auditAtATime)*auditMemory
}

func (w *Work) bands(components, bands int) {
	w.Signature = w.Shingles * float64(components)
	w.Kept = 8 * float64(bands)
}

// Requests are what the temporary files of a job cost if they are in a bucket.
type Requests struct {
	// Reads counts requests that read or ask for a file, Writes those that write a part of one.
	Reads  float64 `json:"reads"`
	Writes float64 `json:"writes"`
	// InTurn is for how many requests, one after the other, the steps between stages wait.
	InTurn float64 `json:"in_turn"`
	// Dollars is the list price of these requests.
	Dollars float64 `json:"dollars"`
}

// Requests of the steps between tasks.
const (
	catalogReads = 4       // of a task, to find its pieces
	indexReads   = 2       // for the index of a run file
	uploadBytes  = 8 << 20 // of a file that one request writes
)

// Requests returns the requests of a job with keys of that name whose temporary files are in a bucket. There a run file
// has one section for each kind and shard, and a piece is a request unless it comes with the one before.
func (w *Work) Requests(keys methods.Name) Requests {
	inBucket := *w
	inBucket.RunBytes = 0
	t := inBucket.traffic(keys)
	r := Requests{Reads: -t.ahead}
	for _, stage := range t.stages {
		r.Reads += stage.Pieces
		if stage.Name != work.Fingerprint {
			r.Reads += stage.Tasks * catalogReads
		}
		if stage.WrittenBytes > 0 {
			r.Writes += stage.Tasks * uploads(stage.WrittenBytes/stage.Tasks)
			cataloguing, listing, joining := readers(stage.Name, t.ranges > 0)
			r.Reads += stage.Tasks * ((cataloguing+listing)*indexReads + joining)
			r.InTurn += stage.Tasks * (listing*indexReads + joining) / work.ReadsAhead
		}
	}
	drawn := occupied(w.Drawn, w.Blocks) // to draw the sample of the audit
	r.Reads += drawn
	r.InTurn += drawn
	r.Dollars = storage.Reading.Dollars(r.Reads) + storage.Writing.Dollars(r.Writes)
	return r
}

// uploads returns the requests for a file of that length: one or, if it is sent in parts, one to begin and one for each part.
func uploads(bytes float64) float64 {
	if bytes <= uploadBytes {
		return 1
	}
	return 1 + math.Ceil(bytes/uploadBytes)
}

// readers returns about how many steps go through the run files of a stage, to hand out their sections; how many steps
// between stages list the parts of graphs in them; and how many times they read these parts. By ranges, tasks read the parts.
func readers(name work.Stage, byRanges bool) (cataloguing, listing, joining float64) {
	switch {
	case name == work.Fingerprint:
		return 6, 0, 0
	case name == work.Group && byRanges:
		return 5, 3, 2
	case name == work.Group:
		return 3, 5, 8
	case (name == work.Score || name == work.Audit) && byRanges:
		return 3, 0, 0
	case name == work.Score || name == work.Audit:
		return 2, 1, 3
	}
	return 1, 0, 0
}

// Reads says what a job reads.
type Reads struct {
	// Files are ordered by their numbers of bytes, the most first.
	Files []Files `json:"files"`
	// Splits is the number of parts into which they are cut: the tasks of the first stage.
	Splits int `json:"splits"`
	// Requests is what it takes to list and read the files that are in buckets; nil if none is.
	Requests *InputRequests `json:"requests,omitempty"`
}

// InputRequests are requests for input files in buckets.
type InputRequests struct {
	// Lists counts requests for a page of names.
	Lists float64 `json:"lists"`
	// Reads counts requests that read a part of a file.
	Reads float64 `json:"reads"`
	// Dollars is the list price of these requests.
	Dollars float64 `json:"dollars"`
}

const (
	pageNames    = 1000    // names in a page of a list
	headReads    = 1       // of a file, to see its format
	footerReads  = 1       // of a Parquet file, each time it is opened
	columnReads  = 2       // of a row group of Parquet: the id and the text
	columnAtOnce = 4 << 20 // bytes of a column that one request reads
)

// inputRequests returns the requests for the files that are in buckets, nil if none is. Each part of a file is read once.
func inputRequests(inputs *documents.Inputs) *InputRequests {
	r, stored := InputRequests{}, 0.
	for i := range inputs.Files {
		for _, file := range inputs.Files[i].All() {
			if !isPaid(file.Path) {
				continue
			}
			stored++
			r.Reads += headReads
			if file.Parts != nil {
				r.Reads += footerReads
			}
			if inputs.Files[i].Members != nil && file.Size > 0 {
				r.Reads++
			}
		}
	}
	if stored == 0 {
		return nil
	}
	for _, split := range inputs.Splits {
		for _, stretch := range split {
			file := &inputs.Files[stretch.File]
			switch {
			case file.Members != nil || !isPaid(file.Path):
			case file.Parts == nil, file.Size <= columnAtOnce: // which is read at once
				r.Reads++
			default:
				r.Reads += footerReads + partReadsOf(file, stretch)
			}
		}
	}
	r.Lists = math.Ceil(stored / pageNames)
	r.Dollars = storage.Listing.Dollars(r.Lists) + storage.Reading.Dollars(r.Reads)
	return &r
}

// isPaid reports whether each request for a file has a price: it is in a bucket.
func isPaid(path string) bool { return storage.Scheme(path) != "" && !storage.IsReadOnly(path) }

// partReadsOf returns the requests for the row groups of a stretch.
func partReadsOf(file *corpus.File, stretch corpus.Stretch) (reads float64) {
	for _, part := range file.Parts[:len(file.Parts)-1] {
		if part.Start >= stretch.Start && part.Start < stretch.End {
			reads += columnReads + math.Floor(float64(part.Bytes)/corpus.Inflation/columnAtOnce)
		}
	}
	return reads
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

// Write says what an output takes if the job writes it.
type Write struct {
	Output string `json:"output"`
	// Bytes are not compressed. AtMost says that they are a bound, and not an estimate.
	Bytes  float64 `json:"bytes"`
	AtMost bool    `json:"at_most,omitempty"`
}

func readsOf(inputs *documents.Inputs) *Reads {
	type kind struct {
		format      corpus.Format
		compression corpus.Compression
		reference   bool
	}
	found := map[kind]*Files{}
	for i := range inputs.Files {
		reference := inputs.Files[i].Reference
		for _, file := range inputs.Files[i].All() {
			k := kind{file.Format, file.Compression, reference}
			if found[k] == nil {
				found[k] = &Files{Format: k.format.String(), Reference: reference}
				if k.compression != corpus.None {
					found[k].Compression = k.compression.String()
				}
			}
			found[k].Files++
			found[k].Bytes += file.Size
		}
	}
	reads := &Reads{Splits: len(inputs.Splits), Requests: inputRequests(inputs)}
	for files := range maps.Values(found) {
		reads.Files = append(reads.Files, *files)
	}
	slices.SortFunc(reads.Files, func(a, b Files) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Format, b.Format), cmp.Compare(a.Compression, b.Compression))
	})
	return reads
}

// Bytes of rows, with ids of some twenty characters.
const (
	clusterRow = 200
	pairRow    = 150
	removedRow = 130
	sketchRow  = 90
	rejectRow  = 130
	// hashText is a hash in a row of sketches.
	hashText = 16
)

// writesOf says what the outputs of a job with that work take, where sketches have up to the given number of hashes. Outputs are as large as the input is repeated, so most
// of what can be said are bounds.
func writesOf(inputs *documents.Inputs, w *Work, facts *Facts, hashes int) []Write {
	stored := int64(0)
	for i := range inputs.Files {
		if !inputs.Files[i].Reference {
			for _, file := range inputs.Files[i].All() {
				stored += file.Size
			}
		}
	}
	documents := float64(facts.Documents)
	return []Write{
		{output.Clusters, min(2*w.Edges, w.Documents) * clusterRow, true},
		{output.Pairs, w.Edges * pairRow, false},
		{output.Removed, min(w.Edges, documents) * removedRow, true},
		{output.Unique, float64(stored), true},
		{output.Sketches, documents * (sketchRow + min(facts.Shingles, float64(hashes))*hashText), false},
	}
}

// describe tells what the chosen job reads and writes, and what room it has.
func (a *Advice) describe(c *Config, inputs *documents.Inputs) {
	a.Reads = readsOf(inputs)
	if a.Chosen >= 0 {
		a.Writes = writesOf(inputs, a.Choices[a.Chosen].Work, a.Corpus, c.BottomK())
	}
	if c.Temp == "" {
		return
	}
	if free, known := storage.Free(c.Temp); known {
		a.TempFree = &free
	}
}
