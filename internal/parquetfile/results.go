package parquetfile

// Cluster is a row of clusters: a document in a cluster of two or more.
type Cluster struct {
	Cluster    string  `parquet:"cluster,dict"`
	ID         string  `parquet:"id"`
	Ref        string  `parquet:"ref"`
	Kept       bool    `parquet:"kept"`
	Similarity float64 `parquet:"similarity"`
	Size       int64   `parquet:"size"`
	Least      float64 `parquet:"least"`
	Mean       float64 `parquet:"mean"`
	// Reference is set for a document of the reference corpus.
	Reference bool `parquet:"reference"`
}

// Pair is a row of pairs, scored by the sets of the two documents.
type Pair struct {
	A            string  `parquet:"a,dict"`
	B            string  `parquet:"b"`
	Jaccard      float64 `parquet:"jaccard"`
	ContainmentA float64 `parquet:"containment_a"`
	ContainmentB float64 `parquet:"containment_b"`
	Exact        bool    `parquet:"exact"`
	Identical    bool    `parquet:"identical"`
	// Spans are passages that both have, the longest first. The list is empty without --similarity containment.
	Spans []Span `parquet:"spans,list"`
	// MoreSpans is how many further passages there are.
	MoreSpans int64 `parquet:"more_spans"`
}

// Span is a passage that two documents have in common: where it begins and ends in the text of each, in bytes.
type Span struct {
	ABegin int64 `parquet:"a_begin"`
	AEnd   int64 `parquet:"a_end"`
	BBegin int64 `parquet:"b_begin"`
	BEnd   int64 `parquet:"b_end"`
	Words  int64 `parquet:"words"`
}

// HammingPair is a row of pairs, scored by the bits of the fingerprints in which the two documents differ.
type HammingPair struct {
	A         string `parquet:"a,dict"`
	B         string `parquet:"b"`
	Hamming   int64  `parquet:"hamming"`
	Exact     bool   `parquet:"exact"`
	Identical bool   `parquet:"identical"`
}

// Removed is a row of removed.
type Removed struct {
	ID         string  `parquet:"id"`
	Ref        string  `parquet:"ref"`
	Cluster    string  `parquet:"cluster,dict"`
	KeptID     string  `parquet:"kept_id,dict"`
	Similarity float64 `parquet:"similarity"`
	// Reference is set if the kept document is of the reference corpus.
	Reference bool `parquet:"reference"`
}

// Reject is a row of rejects: a record that could not be read.
type Reject struct {
	File string `parquet:"file,dict"`
	// Position tells where the record is: a byte in most formats, a row in Parquet files.
	Position int64  `parquet:"position"`
	Error    string `parquet:"error,dict"`
}

// Sketch is a row of sketches.
type Sketch struct {
	ID       string `parquet:"id"`
	Ref      string `parquet:"ref"`
	Shingles int64  `parquet:"shingles"`
	// SimHash is the SimHash fingerprint in hexadecimal, the highest bit first.
	SimHash string `parquet:"simhash"`
	// Fingerprint holds the smallest hashes of the set, of 48 bits each, ascending.
	Fingerprint []int64 `parquet:"fingerprint,list"`
}
