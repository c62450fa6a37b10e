package pipeline

// laws are the configurations: each kind of keys, of what is compared, and of what is kept.
var laws = []law{
	{
		name:     "exact",
		scene:    "oddities",
		change:   `{"keys":"exact","threshold":0.6,"emit":["clusters","pairs","unique","removed","annotated","sketches"]}`,
		everyWay: true,
	},
	{
		name:     "minhash",
		scene:    "oddities",
		change:   `{"keys":"minhash","recall":0.999999,"threshold":0.6,"audit":"100000"}`,
		everyWay: true,
	},
	{name: "all", scene: "oddities", change: `{"keys":"all"}`},
	{name: "compressed", scene: "compressed", change: `{"keys":"exact","audit":"60","output_format":"jsonl.zst"}`},
	{name: "longest stars", scene: "oddities", change: `{"tokens":"single","keep":"longest","split":"star"}`},
	{
		name:   "longest by minhash",
		scene:  "oddities",
		change: `{"keys":"minhash","recall":0.999999,"threshold":0.7,"keep":"longest"}`,
	},
	{
		name:   "stars of all pairs",
		scene:  "oddities",
		change: `{"keys":"all","threshold":0.8,"split":"star","seed":9223372036854775813}`,
	},
	{
		name:   "longest stars by minhash",
		scene:  "oddities",
		change: `{"keys":"minhash","recall":0.999999,"threshold":0.95,"keep":"longest","split":"star"}`,
	},
	{name: "words", scene: "oddities", change: `{"threshold":0.8,"tokens":"words"}`},
	{name: "single tokens", scene: "oddities", change: `{"threshold":0.8,"shingle":1}`},
	{name: "five tokens", scene: "oddities", change: `{"keys":"minhash","recall":0.999999,"threshold":0.7,"shingle":5}`},
	{name: "equal only", scene: "oddities", change: `{"threshold":1}`},
	{name: "equal only by minhash", scene: "oddities", change: `{"threshold":1,"keys":"minhash","recall":0.99}`},
	{name: "dense", scene: "dense", change: `{"threshold":0.6}`},
	{name: "names", scene: "names", change: `{}`},
	{name: "too long", scene: "too long", change: `{"threshold":0.8,"max_document":1000}`},
	{name: "a method of the test", scene: "oddities", change: `{"keys":"size"}`, check: checkBySize},

	{name: "reference/exact", scene: "reference", change: `{"keys":"exact"}`},
	{
		name:   "reference/longest stars",
		scene:  "reference",
		change: `{"keys":"exact","keep":"longest","split":"star","lanes":4}`,
	},
	{
		name:   "reference/minhash",
		scene:  "reference",
		change: `{"keys":"minhash","recall":0.999999,"keep":"longest","split":"star"}`,
	},
	{name: "reference/all", scene: "reference", change: `{"keys":"all","keep":"longest"}`},
	{name: "reference/stars of all pairs", scene: "reference", change: `{"keys":"all","split":"star"}`},
	{name: "reference/keep", scene: "scored reference", change: `{"keep":"max:of.score"}`},

	{
		name:     "variants",
		scene:    "oddities",
		change:   `{"keys":"exact","variants":"keep","emit":["clusters","pairs","unique","removed","annotated"]}`,
		check:    checkVariants,
		everyWay: true,
	},
	{
		name:   "variants/wide in stars",
		scene:  "reference",
		change: `{"variants":"wide","split":"star","threshold":0.7}`,
		check:  checkVariants,
	},
	{name: "variants/across", scene: "sides", change: `{"variants":"keep","across":"source"}`, check: checkVariants},
	{name: "variants/drop", scene: "oddities", change: `{"variants":"keep","drop":"clusters"}`, check: checkVariants},
	{
		name:   "variants/distances",
		scene:  "oddities",
		change: `{"keys":"simhash","hamming":10,"threshold":0.8,"variants":"keep"}`,
		check:  checkVariants,
	},

	{name: "drop/clusters", scene: "oddities", change: `{"keys":"exact","drop":"clusters"}`, check: checkDrops},
	{
		name:   "drop/clusters beside a reference",
		scene:  "reference",
		change: `{"keys":"all","drop":"clusters"}`,
		check:  checkDrops,
	},
	{name: "drop/reference", scene: "reference", change: `{"keys":"exact","drop":"reference"}`, check: checkDrops},

	{
		name:   "equal/exact",
		scene:  "equal",
		change: `{"keys":"exact","threshold":0.8,"keep":"longest"}`,
		check:  checkEqual,
	},
	{name: "equal/stars", scene: "equal too", change: `{"keys":"exact","split":"star"}`, check: checkEqual},
	{name: "equal/all", scene: "equal too", change: `{"keys":"all","keep":"longest"}`, check: checkEqual},
	{
		name:   "equal/minhash",
		scene:  "equal",
		change: `{"keys":"minhash","recall":0.999999,"keep":"longest","split":"star"}`,
		check:  checkEqual,
	},
	{
		name:   "equal/simhash",
		scene:  "equal",
		change: `{"keys":"simhash","hamming":10,"threshold":0.8}`,
		check:  checkEqualFingerprints,
	},
	{
		name:   "equal/simhash, then sets",
		scene:  "equal too",
		change: `{"keys":"simhash","score":"jaccard","hamming":10,"keep":"longest"}`,
		check:  checkEqualFingerprints,
	},
	{
		name:   "equal/passages",
		scene:  "equal",
		change: `{"similarity":"containment","keys":"auto","threshold":0.4,"excerpt":20,"emit":["auto"]}`,
		check:  checkAllPassages,
	},

	{name: "within/exact", scene: "scopes", change: `{"keys":"exact","within":"lang"}`},
	{
		name:   "within/minhash",
		scene:  "scopes",
		change: `{"keys":"minhash","recall":0.999999,"audit":"100000","within":"lang"}`,
	},
	{name: "within/all", scene: "scopes", change: `{"keys":"all","within":"lang","keep":"longest","split":"star"}`},
	{name: "within/auto", scene: "scopes", change: `{"keys":"auto","within":"lang","lanes":2}`},
	{
		name:   "within/reference",
		scene:  "scopes, reference",
		change: `{"keys":"exact","within":"lang","keep":"longest","split":"star"}`,
	},
	{
		name:   "within/reference by minhash",
		scene:  "scopes, reference",
		change: `{"keys":"minhash","recall":0.999999,"within":"lang"}`,
	},
	{name: "within/reference by all pairs", scene: "scopes, reference", change: `{"keys":"all","within":"lang"}`},

	{name: "across/exact", scene: "sides", change: `{"keys":"exact","across":"source"}`},
	{
		name:   "across/minhash",
		scene:  "sides",
		change: `{"keys":"minhash","recall":0.999999,"across":"source","keep":"longest","split":"star"}`,
	},
	{name: "across/all", scene: "sides", change: `{"keys":"all","across":"source"}`},
	{
		name:   "across/few, exact",
		scene:  "few of a side",
		change: `{"keys":"exact","across":"source","keep":"longest","split":"star"}`,
	},
	{
		name:   "across/few, minhash",
		scene:  "few of a side",
		change: `{"keys":"minhash","recall":0.999999,"audit":"100000","across":"source"}`,
	},
	{
		name:   "across/few, all",
		scene:  "few of a side",
		change: `{"keys":"all","across":"source","keep":"longest","split":"star"}`,
	},

	{name: "sources/some", scene: "sources", change: `{"source_field":"site"}`},
	{
		name:   "sources/many",
		scene:  "many sources",
		change: `{"source_field":"site","keys":"minhash","recall":0.999999,"keep":"longest","split":"star"}`,
	},
	{name: "sources/reference", scene: "many sources, reference", change: `{"source_field":"site"}`},
	{
		name:   "sources/across",
		scene:  "sources and sides",
		change: `{"source_field":"site","across":"source","keys":"all"}`,
	},

	{name: "keep/greatest", scene: "scored", change: `{"keys":"exact","keep":"max:of.score"}`},
	{
		name:   "keep/least",
		scene:  "scored, least",
		change: `{"keys":"minhash","recall":0.999999,"keep":"min:of.score","split":"star"}`,
	},
	{name: "keep/last", scene: "last", change: `{"keys":"all","keep":"last"}`},
	{name: "keep/shortest", scene: "shortest", change: `{"keys":"exact","keep":"shortest"}`},
	{name: "keep/ranked sources", scene: "ranked", change: `{"source_field":"source"}`},
	{name: "keep/ranked files", scene: "ranked files", change: `{}`},

	{
		name:   "simhash/32 bits",
		scene:  "oddities",
		change: `{"keys":"simhash","bits":32,"hamming":3,"threshold":0.8}`,
		check:  checkFingerprints,
	},
	{
		name:   "simhash/blocks of 32 bits",
		scene:  "oddities",
		change: `{"keys":"simhash","bits":32,"hamming":8,"blocks":[10],"threshold":0.8}`,
		check:  checkFingerprints,
	},
	{
		name:     "simhash/64 bits",
		scene:    "oddities",
		change:   `{"keys":"simhash","bits":64,"hamming":8,"threshold":0.8}`,
		check:    checkFingerprints,
		everyWay: true,
	},
	{
		name:   "simhash/pairs of blocks",
		scene:  "oddities",
		change: `{"keys":"simhash","bits":64,"hamming":3,"blocks":[4,4],"threshold":0.8}`,
		check:  checkFingerprints,
	},
	{
		name:   "simhash/equal",
		scene:  "oddities",
		change: `{"keys":"simhash","bits":64,"hamming":0,"threshold":0.8}`,
		check:  checkFingerprints,
	},
	{
		name:   "simhash/128 bits",
		scene:  "oddities",
		change: `{"keys":"simhash","bits":128,"hamming":10,"threshold":0.8}`,
		check:  checkFingerprints,
	},
	{
		name:   "simhash/256 bits",
		scene:  "oddities",
		change: `{"keys":"simhash","bits":256,"hamming":40,"threshold":0.8}`,
		check:  checkFingerprints,
	},
	{
		name:   "simhash/then sets",
		scene:  "oddities",
		change: `{"keys":"simhash","score":"jaccard","hamming":6,"threshold":0.7,"audit":"100000"}`,
		check:  checkCandidates,
	},

	{name: "same bytes", scene: "oddities", change: `{"keys":"same-bytes","threshold":0.8}`, check: checkIdentical},
	{name: "same words", scene: "oddities", change: `{"keys":"same-words","threshold":0.8}`, check: checkIdentical},
	{
		name:   "same bytes as a reference",
		scene:  "reference",
		change: `{"keys":"same-bytes","threshold":0.8}`,
		check:  checkIdentical,
	},
	{
		name:   "same words as a reference",
		scene:  "reference",
		change: `{"keys":"same-words","threshold":0.8}`,
		check:  checkIdentical,
	},

	{
		name:   "sketches",
		scene:  "long",
		change: `{"keys":"minhash","verify":"sketch","threshold":0.6}`,
		check:  checkEstimates,
	},
	{
		name:   "long sketches",
		scene:  "long",
		change: `{"keys":"minhash","verify":"sketch","sketch_size":300,"threshold":0.6}`,
		check:  checkEstimates,
	},
	{
		name:   "no verification",
		scene:  "long",
		change: `{"keys":"minhash","verify":"none","threshold":0.6}`,
		check:  checkEstimates,
	},

	{
		name:     "passages",
		scene:    "excerpts",
		change:   `{"similarity":"containment","keys":"auto","threshold":0.4,"excerpt":20,"emit":["auto"]}`,
		check:    checkAllPassages,
		everyWay: true,
	},
	{
		name:   "passages/long",
		scene:  "excerpts",
		change: `{"similarity":"containment","keys":"auto","threshold":1,"excerpt":50,"emit":["auto"]}`,
		check:  checkAllPassages,
	},
	{
		name:   "passages/no excerpts",
		scene:  "excerpts",
		change: `{"similarity":"containment","keys":"auto","threshold":0.2,"excerpt":0,"emit":["auto"]}`,
		check:  checkAllPassages,
	},
	{
		name:   "passages/short",
		scene:  "excerpts",
		change: `{"similarity":"containment","keys":"auto","threshold":0.4,"excerpt":8,"passage":4,"emit":["auto"]}`,
		check:  checkAllPassages,
	},
	{
		name:   "passages/reference",
		scene:  "excerpts, reference",
		change: `{"similarity":"containment","keys":"auto","threshold":0.4,"excerpt":20,"emit":["auto"]}`,
		check:  checkAllPassages,
	},
	{
		name:   "passages/rarity",
		scene:  "excerpts",
		change: `{"similarity":"containment","keys":"auto","threshold":0.6,"excerpt":8,"rarity":30,"emit":["auto"]}`,
		check:  checkSome,
	},

	{
		name:     "trimmed",
		scene:    "oddities",
		change:   `{"keys":"same-bytes","threshold":0.8,"emit":["clusters","trimmed","passages"],"passage_words":5}`,
		check:    checkTrimmed,
		everyWay: true,
	},
	{
		name:   "trimmed/copies",
		scene:  "oddities",
		change: `{"keys":"exact","emit":["clusters","trimmed","passages"],"passage_words":3,"passage_copies":4,"min_words":6}`,
		check:  checkTrimmed,
	},
	{
		name:   "trimmed/reference",
		scene:  "reference",
		change: `{"keys":"same-bytes","threshold":0.8,"emit":["trimmed"],"passage_words":2,"min_words":0}`,
		check:  checkTrimmed,
	},

	{
		name:     "sites/exact",
		scene:    "sites",
		change:   `{"keys":"exact","threshold":0.6,"emit":["mirrors","sites","suspects"],"mirror_threshold":0.02,"mirror_pages":1,"mirror_sites":9}`,
		check:    checkSites,
		everyWay: true,
	},
	{
		name:   "sites/simhash",
		scene:  "sites",
		change: `{"keys":"simhash","hamming":8,"threshold":0.8,"emit":["mirrors","sites","suspects"],"mirror_threshold":0.02,"mirror_pages":1,"mirror_sites":9}`,
		check:  checkSites,
	},
}
