// Package records holds the layouts of the records that cross a shuffle: the fields, their offsets, and the kind of
// section of a run file that holds them.
package records

import "mirrorbeam.dev/internal/records/runfile"

// The kinds of records, and the meaning of their shards. Their numbers stand in run files: a number is never changed,
// nor used again. Earlier versions had 8, 9 and 62.
const (
	Documents       runfile.Kind = 1  // documents of a sketch block, by split
	Sets            runfile.Kind = 2  // sets of the same block, by split
	Rejects         runfile.Kind = 3  // rows of rejects, shard 0
	Keys            runfile.Kind = 4  // key records, by range of keys
	Fingerprints    runfile.Kind = 5  // SimHash fingerprints by their prefixes, by range of keys
	IDs             runfile.Kind = 6  // hashes of ids, by range of hashes
	Repeated        runfile.Kind = 7  // documents that share an id, by split
	OversizedGroups runfile.Kind = 10 // key records of groups that wait, by range of keys
	Limit           runfile.Kind = 11 // dense ones among these groups, by range of keys
	Nodes           runfile.Kind = 12 // nodes of a part of the candidate graph, by range of keys
	NodePairs       runfile.Kind = 13 // candidate pairs of that part
	Locations       runfile.Kind = 14 // the location of each of its nodes
	Wanted          runfile.Kind = 15 // documents to be scored and their places, by split
	PlaceSets       runfile.Kind = 16 // sets of documents, by place
	PlacePairs      runfile.Kind = 17 // pairs to be scored, by place
	Sample          runfile.Kind = 18 // sampled documents: with their sets by split, then with their classes
	Audit           runfile.Kind = 19 // classes of equal documents that are partners of sampled ones
	EdgeNodes       runfile.Kind = 20 // nodes of a part of the similarity graph, by part
	Edges           runfile.Kind = 21 // verified edges of that part
	EdgeShards      runfile.Kind = 22 // the output shard of each of its nodes
	Members         runfile.Kind = 23 // documents of clusters and their shards, by split
	ShardMembers    runfile.Kind = 24 // documents of clusters, by output shard
	ShardEdges      runfile.Kind = 25 // edges, by output shard
	Removed         runfile.Kind = 26 // removed documents, by unique task
	Spans           runfile.Kind = 27 // passages that the pairs of a part have in common, by part
	ShardSpans      runfile.Kind = 28 // the same, by output shard
	HotGroupMembers runfile.Kind = 29 // documents of dense groups, by range of keys
	HotGroups       runfile.Kind = 30 // number of documents in the hot groups of a place (uint32), by place
	Stars           runfile.Kind = 31 // documents that are like one pivot, by hot group
	Unchecked       runfile.Kind = 32 // pivots that were not compared with all others, by split
	Blocks          runfile.Kind = 33 // a mark of each block, by place
	Probe           runfile.Kind = 34 // documents to look for partners in, with their sets, by split
	Sums            runfile.Kind = 35 // checksums of the stretches of a split, by split
	Digests         runfile.Kind = 36 // key records that only bring equal documents together, by range of keys
	Distinct        runfile.Kind = 37 // documents that are compared with all others, by range of keys

	AnnotatedDocuments runfile.Kind = 38 // what is known of documents of clusters, by annotated task
	SourceCounts       runfile.Kind = 39 // documents by their source, by range of hashes
	LeadingSources     runfile.Kind = 40 // the sources of a range with the most documents, shard 0
	Shingles           runfile.Kind = 41 // shingles of a split, by group of ranges of hashes
	Frequencies        runfile.Kind = 42 // the frequencies of these shingles, by split

	Pages      runfile.Kind = 43 // the sites and addresses of documents, by split
	ShardPages runfile.Kind = 44 // the same of documents of clusters, by output shard
	SiteCounts runfile.Kind = 45 // pages of sites, by range of hashes of sites
	SiteSums   runfile.Kind = 46 // what sites have more than once or share with very many, by range of hashes
	Sites      runfile.Kind = 48 // sites with all that is known of each, by output shard
	Mirrored   runfile.Kind = 50 // both halves of pairs of sites that have much in common, shard 0
	Grouped    runfile.Kind = 51 // sites that are in groups of mirrors, by output shard

	StretchFigures runfile.Kind = 52 // what was counted of a stretch of a file that a state keeps, by stretch
	Memberships    runfile.Kind = 53 // documents of clusters by hashes of their names, shard 0
	CachedPairs    runfile.Kind = 54 // similar pairs by the digests of their documents, shard 0
	SiteGroups     runfile.Kind = 55 // groups of mirrors by hashes of the names of sites, shard 0
	Alerts         runfile.Kind = 56 // suspects by their ids, shard 0

	Texts     runfile.Kind = 57 // documents of another pipeline: in shard 0, then by task, then by range of ids
	TextMarks runfile.Kind = 58 // ids of some of these documents, shard 0
	TextRange runfile.Kind = 59 // the first ids of all ranges but the first, by task

	// documents of a sketch block whose common shingles are still in its sets, by split
	WholeDocuments   runfile.Kind = 60
	WholeSets        runfile.Kind = 61 // sets of the same block, by split
	FrequentShingles runfile.Kind = 63 // shingles that very many documents have, shard 0
	CommonParts      runfile.Kind = 64 // the common shingles of the documents of a sketch block, by split
	PartlyListed     runfile.Kind = 65 // documents of dense groups that have pairs which are not listed, by split

	SeenSets runfile.Kind = 69 // which document has which shingles, by range of hashes

	PageClasses runfile.Kind = 70 // equal pages of several sites, by range of hashes of these sites
	SitePairs   runfile.Kind = 71 // what two sites have in common, with the first site, by output shard of the second
	Redirects   runfile.Kind = 72 // redirects from sites to others, by range of hashes of either site

	OriginalTraces runfile.Kind = 73 // traces of the pages of protected sites, shard 0

	Known runfile.Kind = 74 // documents of unchanged files that may have been in a pair, shard 0
	Heads runfile.Kind = 75 // heads of the sets of a sketch block that a state keeps, by split

	PassageHashes  runfile.Kind = 76 // passages by the hashes of their words, by range of hashes
	PassageRepeats runfile.Kind = 77 // passages that occur earlier, by split
	Trims          runfile.Kind = 78 // what is cut from documents, by split
	TrimRows       runfile.Kind = 79 // rows of passages, by split

	LastingKeys runfile.Kind = 83 // short keys that concern the next run whatever comes and goes, shard 0
	KeptPairs   runfile.Kind = 84 // pairs that have passages in common, with these, shard 0
	SharedIDs   runfile.Kind = 86 // hashes of ids that several documents have, shard 0

	Occurrences runfile.Kind = 87 // nodes of parts, by range of documents
	Trees       runfile.Kind = 88 // the same, by range of the first documents of their trees
	Links       runfile.Kind = 89 // forests of first documents of trees, by range of documents
	Renamed     runfile.Kind = 90 // such documents with the first ones of their components, by range
	RangeShards runfile.Kind = 91 // the range and the number there of each node of a part of the similarity graph
	// documents that the audit asks for, with the first ones of their components, shard 0
	AuditedMembers runfile.Kind = 92

	PageTexts  runfile.Kind = 93 // the texts of pages, by split
	Guards     runfile.Kind = 94 // pages of protected sites, shard 0
	Copies     runfile.Kind = 95 // copies of such pages on other sites, by range of hashes of the protected sites
	Copiers    runfile.Kind = 96 // sites with copies of pages of protected ones: by output shard, then shard 0
	SeenPages  runfile.Kind = 97 // digests of the addresses of pages that were evidence in an earlier run, shard 0
	KeptCopies runfile.Kind = 98 // copies of protected pages by pieces of texts, shard 0
)
