package work

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/read/sources"
)

// Outcome is the element that a task emits.
type Outcome struct {
	Stage  Stage
	Number int
	// Run is the path of the task's run file, "" if it wrote no record.
	Run string `json:",omitempty"`
	// Kept is the run file that a state is to keep of what the task has read, "" for none.
	Kept    Path `json:",omitempty"`
	Counts  Counts
	Skipped Skipped
	// PassedOver counts records that are no documents, and were not expected to be.
	PassedOver PassedOver `json:",omitempty"`
	// Sources counts documents by the sources that they come from.
	Sources sources.Counts `json:",omitzero"`
	// OtherSources counts the values, and their documents, that are not among those that most documents of a corpus have.
	OtherSources [sources.Corpora]sources.Others `json:",omitzero"`
	// Repeated says which ids several documents have.
	Repeated RepeatedIDs `json:",omitzero"`
	// Texts counts texts that are likely to be something else.
	Texts Texts `json:",omitzero"`
	// Common says which shingles are common; nil if nobody asked.
	Common *CommonFound `json:",omitempty"`
	// Mirrors says what was found of sites.
	Mirrors MirrorFindings `json:",omitzero"`
	// Templates and Bridges are clusters that may hold documents which are no near-duplicates.
	Templates Worst[Template] `json:",omitzero"`
	Bridges   Worst[Bridge]   `json:",omitzero"`
	// Largest holds the largest cluster of each output shard.
	Largest Worst[LargeCluster] `json:",omitzero"`
	// Shingles is the number of hashes in the sets of a task's sketch blocks.
	Shingles int64 `json:",omitempty"`
	// Sent is the number of documents of the input that a task has sent to output shards.
	Sent int64 `json:",omitempty"`
	// Sampled is the number of documents that the audit has sampled, in all.
	Sampled int `json:",omitempty"`
	// SampledAll says that the sample is all documents with words.
	SampledAll bool `json:",omitempty"`
	// AllPairs says that the task has compared all pairs of documents.
	AllPairs bool `json:",omitempty"`
	// Crowds are the groups that wait until all crowds are known.
	Crowds []Crowd       `json:",omitempty"`
	Files  []output.File `json:",omitempty"`
	// FirstReject is the first row of rejects; only the task that writes them has it.
	FirstReject *output.Reject `json:",omitempty"`
}

// Counts is what the tasks counted of the corpus.
type Counts struct {
	// Documents counts the documents of the input. It is the sum of Kept and Removed.
	Documents int64 `json:"documents"`
	// Bytes is the size of their records.
	Bytes int64 `json:"bytes"`
	// ReferenceDocuments counts the documents of the reference, which Documents does not include.
	ReferenceDocuments int64 `json:"reference_documents,omitempty"`
	// ReferenceBytes is the size of their records.
	ReferenceBytes int64 `json:"reference_bytes,omitempty"`
	// Rejected counts the records that could not be read, those of the reference included.
	Rejected int64 `json:"rejected"`
	// Empty counts the rejected records whose text is null or missing.
	Empty int64 `json:"empty,omitempty"`
	// RepeatedIDs counts the ids that several documents of the input have, exactly.
	RepeatedIDs int64 `json:"repeated_ids,omitempty"`
	// InvalidUTF8 counts the documents with bytes that are not UTF-8, those of the reference included.
	InvalidUTF8 int64 `json:"invalid_utf8"`
	// Expanding counts the compressed files that became more than 1,000 times as long when they were decoded.
	Expanding int64 `json:"expanding,omitempty"`
	// Unranked counts the documents of the input to which --keep gives no place.
	Unranked int64 `json:"unranked,omitempty"`
	// Unscoped counts the documents, the reference included, without the field of --within or --across.
	Unscoped int64 `json:"unscoped,omitempty"`
	// Unsited counts the documents that have no address, so that they are no pages of a site.
	Unsited int64 `json:"unsited,omitempty"`
	// IgnoredIn counts the documents, the reference included, with shingles of the base texts of --ignore.
	IgnoredIn int64 `json:"ignored_in,omitempty"`
	// IgnoredShingles counts these shingles, distinct ones of each document.
	IgnoredShingles int64 `json:"ignored_shingles,omitempty"`
	// IgnoredWhole counts the documents that hold hardly anything else.
	IgnoredWhole int64 `json:"ignored_whole,omitempty"`
	// CommonIn counts the documents, the reference included, with common shingles.
	CommonIn int64 `json:"common_in,omitempty"`
	// CommonShingles counts these shingles, distinct ones of each document.
	CommonShingles int64 `json:"common_shingles,omitempty"`
	// CommonWhole counts the documents that hold hardly anything else.
	CommonWhole int64 `json:"common_whole,omitempty"`
	// Boilerplate counts the passages that were found, those beyond the 4,096 rows of boilerplate included.
	Boilerplate int64 `json:"boilerplate,omitempty"`
	// Identical counts the rows of pairs that say so: one for each listed document that is equal to an earlier one.
	Identical int64 `json:"identical"`
	// Candidates counts the pairs that were scored.
	Candidates int64 `json:"candidates"`
	// Clusters counts the clusters.
	Clusters int64 `json:"clusters"`
	// Clustered counts the documents in clusters.
	Clustered int64 `json:"clustered"`
	// Kept counts the documents of the input that stay.
	Kept int64 `json:"kept"`
	// Removed counts the others.
	Removed int64 `json:"removed"`
	// RemovedForReference counts the removed documents that are near-duplicates of a document of the reference,
	// whatever document is kept for them.
	RemovedForReference int64 `json:"removed_for_reference,omitempty"`
	// Pairs counts the rows of pairs, written or not.
	Pairs int64 `json:"pairs"`
}

// Add adds other to c.
func (c *Counts) Add(other Counts) {
	c.Documents += other.Documents
	c.Bytes += other.Bytes
	c.ReferenceDocuments += other.ReferenceDocuments
	c.ReferenceBytes += other.ReferenceBytes
	c.Rejected += other.Rejected
	c.Empty += other.Empty
	c.RepeatedIDs += other.RepeatedIDs
	c.InvalidUTF8 += other.InvalidUTF8
	c.Expanding += other.Expanding
	c.Unranked += other.Unranked
	c.Unscoped += other.Unscoped
	c.Unsited += other.Unsited
	c.IgnoredIn += other.IgnoredIn
	c.IgnoredShingles += other.IgnoredShingles
	c.IgnoredWhole += other.IgnoredWhole
	c.CommonIn += other.CommonIn
	c.CommonShingles += other.CommonShingles
	c.CommonWhole += other.CommonWhole
	c.Boilerplate += other.Boilerplate
	c.Identical += other.Identical
	c.Candidates += other.Candidates
	c.Clusters += other.Clusters
	c.Clustered += other.Clustered
	c.Kept += other.Kept
	c.Removed += other.Removed
	c.RemovedForReference += other.RemovedForReference
	c.Pairs += other.Pairs
}

// CommonFound says which shingles are common.
type CommonFound struct {
	// Above is the number of documents that may have a shingle before it is common.
	Above int64 `json:"above"`
	// Shingles is the number of common shingles.
	Shingles int64 `json:"shingles"`
}

// PassedOver counts records that are no documents, by the reason: in a web archive, "request" or "status 404".
type PassedOver map[string]int64

// Add adds other to p, which may be nil, and returns the sum.
func (p PassedOver) Add(other PassedOver) PassedOver {
	if p == nil && len(other) > 0 {
		p = PassedOver{}
	}
	for reason, records := range other {
		p[reason] += records
	}
	return p
}

// Skipped says what was not compared.
type Skipped struct {
	// Pairs counts pairs of documents with a common key that were not compared, once for every such key. They may have been
	// compared under another key, and their documents are compared with the leaders of the group.
	Pairs int64 `json:"pairs"`
	// Groups counts the groups too dense to compare all pairs.
	Groups int64 `json:"groups"`
	// Kept counts the kept documents of such groups that were not compared with all other kept documents of their
	// group.
	Kept int64 `json:"kept"`
	// SpreadPages counts pages that more sites have than are compared with each other: they are compared with protected sites
	// only. The equal pages of a site count once.
	SpreadPages int64 `json:"spread_pages,omitempty"`
	// Example is the largest of these groups, where there is one.
	Example *SkippedGroup `json:"example,omitempty"`
}

// SkippedGroup is a dense group.
type SkippedGroup struct {
	// Documents is the number of distinct documents in the group.
	Documents int64 `json:"documents"`
	// First is its first document, as path:position.
	First string `json:"first"`
	// Second is its second document.
	Second string `json:"second"`
}

// Add adds other to s. Of equally large examples it keeps the one with the smaller names, so that the order does not
// matter.
func (s *Skipped) Add(other Skipped) {
	s.Pairs += other.Pairs
	s.Groups += other.Groups
	s.Kept += other.Kept
	s.SpreadPages += other.SpreadPages
	if s.Example == nil || other.Example != nil && cmp.Or(
		cmp.Compare(other.Example.Documents, s.Example.Documents),
		cmp.Compare(s.Example.First, other.Example.First),
		cmp.Compare(s.Example.Second, other.Example.Second)) > 0 {
		s.Example = other.Example
	}
}

// Encode encodes the outcome as an element.
func (o Outcome) Encode() ([]byte, error) { return json.Marshal(o) }

// DecodeOutcome reads an element that Encode made.
func DecodeOutcome(element []byte) (o Outcome, err error) {
	if err = json.Unmarshal(element, &o); err != nil {
		err = fmt.Errorf("decode outcome: %w", err)
	}
	return o, err
}

// Crowd describes a group that waits, as its task reports it.
type Crowd struct {
	ID    uint64 // ID of the key, see candidates.Grouper.KeyID
	Pairs int64
}

// ReadOutcomes returns the outcomes of an iterator and the sum of their counts. The outcomes are ordered by stage and
// task, in whatever order the runner brings them.
func ReadOutcomes(elements func(*[]byte) bool) ([]Outcome, Counts, error) {
	var outcomes []Outcome
	var sum Counts
	var element []byte
	for elements(&element) {
		if len(element) == 0 {
			continue
		}
		o, err := DecodeOutcome(element)
		if err != nil {
			return nil, sum, err
		}
		outcomes = append(outcomes, o)
		sum.Add(o.Counts)
	}
	slices.SortFunc(outcomes, func(a, b Outcome) int {
		return cmp.Or(cmp.Compare(slices.Index(Stages, a.Stage), slices.Index(Stages, b.Stage)), cmp.Compare(a.Number, b.Number), cmp.Compare(a.Run, b.Run))
	})
	return outcomes, sum, nil
}

// RunsOf returns the run files of the outcomes.
func RunsOf(outcomes []Outcome) []string {
	var runs []string
	for _, o := range outcomes {
		if o.Run != "" {
			runs = append(runs, o.Run)
		}
	}
	return runs
}

// RunsBut returns the run files of the outcomes, without some stages.
func RunsBut(outcomes []Outcome, stages ...Stage) []string {
	isOne := func(o Outcome) bool { return slices.Contains(stages, o.Stage) }
	return RunsOf(slices.DeleteFunc(slices.Clone(outcomes), isOne))
}

// MarshalJSON encodes the outcome.
func (o Outcome) MarshalJSON() ([]byte, error) {
	return json.Marshal(shippedOutcome{plainOutcome(o), []byte(o.Run)})
}

// UnmarshalJSON decodes the outcome.
func (o *Outcome) UnmarshalJSON(b []byte) error {
	var shipped shippedOutcome
	if err := json.Unmarshal(b, &shipped); err != nil {
		return err
	}
	*o = Outcome(shipped.plainOutcome)
	o.Run = string(shipped.Run)
	return nil
}

type plainOutcome Outcome

type shippedOutcome struct {
	plainOutcome
	Run []byte `json:",omitempty"`
}
