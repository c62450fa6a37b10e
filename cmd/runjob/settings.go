package main

import (
	"slices"

	"mirrorbeam/internal/plan"
	"mirrorbeam/job"
)

// settingFlag is a flag that sets a field of a configuration. Its default is what the
// field holds.
type settingFlag struct {
	// group is the heading under which the help lists it.
	group string
	// name is that of the setting, with hyphens.
	name string
	// field points to the field.
	field any
	// value stands for its value in the help; empty: the default, or the name.
	value  string
	traits traits
	help   string
}

// traits are what sets a flag apart from others.
type traits uint8

const (
	// required: the command does not work without it.
	required traits = 1 << iota
	// whole: its value is one item of a list, commas and all.
	whole
	// negatable: it is a switch that --no- turns off.
	negatable
	// quiet: its help says what it is by default in its own words.
	quiet
)

// jobFlags are the flags of 'runjob run'.
func jobFlags(c *job.Config) []settingFlag {
	input := settingFlag{
		"Input", "input", &c.Input, "PATH", required | whole,
		"File, folder or quoted pattern to read, on the disk or in a bucket (gs://, s3://); may be repeated. A folder stands for its files of the format, plain, .gz or .zst; ** matches any number of folders.",
	}
	return slices.Concat([]settingFlag{input}, measureFlags(&c.Measure), []settingFlag{
		{
			"Measure", "similarity", &c.Similarity, "WHAT", 0,
			"What is looked for: jaccard (documents of which most is the same) or containment (copied passages: pairs of which one has much of the other, or an excerpt, and where; --threshold is then of the shingles in both over those of the document that has fewer).",
		},
		{
			"Measure", "excerpt", &c.Excerpt, "N", 0,
			"With containment, words of the shortest copied passage that makes a pair whatever the threshold; 0: none does.",
		},
		{
			"Measure", "no-quotations", &c.NoQuotations, "", 0,
			"With containment, leave out what stands between quotation marks, and lines that begin with >.",
		},
		{
			"Measure", "verify", &c.Verify, "HOW", 0,
			"What a pair rests on: exact (the full shingle sets of both), sketch (an estimate from 128 hashes each, on less disk), none (a common key).",
		},
		{
			"Measure", "audit", &c.Audit, "N", 0,
			"Measure the recall on a sample of at most N documents; auto: 5000 where keys may miss a pair and sets are compared exactly, 1250 with exact keys; off.",
		},
		{
			"Output", "output", &c.Output, "DIR", required,
			"Folder for the results, on the disk or in a bucket; must be empty or new, see --overwrite.",
		},
		{
			"Output", "overwrite", &c.Overwrite, "", 0,
			"Replace the results of an earlier job in the output folder. Other files in it are left alone.",
		},
		{
			"Output", "emit", &c.Emit, "NAME", 0,
			"What to write: auto (clusters; pairs with containment), clusters, pairs, unique (the records that stay), annotated (all records, each with cluster, cluster_size, kept and kept_id), removed, sketches (bottom-k and SimHash fingerprints of every document), index (what 'runjob query' searches). Rejects, summary and manifest always are.",
		},
		{
			"Output", "output-format", &c.OutputFormat, "FORMAT", 0,
			"jsonl, jsonl.zst, jsonl.gz or parquet (typed columns, see docs/outputs.md). unique and annotated keep the format of the input.",
		},
		{
			"Output", "keep", &c.Keep, "ORDER", 0,
			"Which documents of a cluster are preferred when those to keep are chosen: first, longest.",
		},
		{
			"Output", "split", &c.Split, "HOW", 0,
			"What a cluster is: component (documents joined through similar ones) or star (a kept document and those that go for it).",
		},
		{
			"Running", "temp", &c.Temp, "DIR", 0,
			"Folder for temporary files, some 1 to 2 bytes for each byte of text; default: beside the output, or on the disk where a local job writes to a bucket. Workers of a cluster must share it.",
		},
		{
			"Running", "memory", &c.Memory, "SIZE", 0,
			"Size that a process aims to stay below, 100MiB or more: tasks become smaller, and memory is cleared more often. Clusters of millions of pairs may need more. 0: no limit. The results are the same, but that .zst files with a window above an eighth of it are rejects.",
		},
		{
			"Running", "lanes", &c.Lanes, "N", 0,
			"Tasks of a stage that a local runner works on at a time; 0: one a core. The results are the same.",
		},
	})
}

// measureFlags are the flags that 'runjob run' and 'runjob plan' share.
func measureFlags(c *job.Measure) []settingFlag {
	return []settingFlag{
		{
			"Input", "reference", &c.Reference, "PATH", whole,
			"Reference corpus, named as --input is; may be repeated. Documents of the input that are near-duplicates of its documents are removed; its own are never removed and not compared with each other.",
		},
		{
			"Input", "format", &c.Format, "FORMAT", 0,
			"Format of all input files: jsonl, csv, tsv, parquet, warc (web archives), text or html (a file is a document); auto: that of each file, by its content and name.",
		},
		{
			"Input", "id-field", &c.IDField, "", 0,
			"Field of a record that holds its id, a string or a number; meta.id is the field id in the field meta. A record without one is called by its place, path:position.",
		},
		{
			"Input", "text-field", &c.TextField, "", 0,
			"Field of a record that holds its text, such as text or content.body.",
		},
		{
			"Input", "features", &c.Features, "FIELD", 0,
			`Take documents not from texts but from the features in this field, which another program has found: an array of strings or 64-bit hashes, each alone or with its weight as in [["a",2],7], or an object from features to weights.`,
		},
		{
			"Input", "html-text", &c.HTMLText, "WHICH", 0,
			"Text of web pages: all, or main (without menus, headers, footers, forms and blocks of links).",
		},
		{
			"Input", "max-document", &c.MaxDocument, "SIZE", 0,
			"Longest text; longer ones are rejects.",
		},
		{
			"Input", "max-rejects", &c.MaxRejects, "N", 0,
			"Fail if more records than this cannot be read; -1: no limit.",
		},
		{
			"Measure", "cjk-split", &c.CJKSplit, "", negatable,
			"Take each Han, Kana, Thai, Lao, Khmer and Myanmar character for a token of its own: these scripts put no spaces between words.",
		},
		{
			"Measure", "normalize", &c.Normalize, "STEPS", 0,
			"What is done to texts first, with commas between: nfc or nfkc (Unicode forms), fold (full case folding), punctuation (don't becomes dont).",
		},
		{
			"Measure", "stopwords", &c.StopWords, "FILE", 0,
			"List of stop words, one a line.",
		},
		{
			"Measure", "stopwords-use", &c.StopWordUse, "HOW", 0,
			"What stop words are for: remove (they are taken out of texts), require (only shingles that hold one count; menus and advertisements have few).",
		},
		{
			"Measure", "weight", &c.Weight, "FIELD=W", 0,
			"Take these text fields in place of --text-field, as in title=3,text=1. A document is all of their shingles; the weights count for its SimHash.",
		},
		{
			"Measure", "shingle", &c.Shingle, "N", 0,
			"Adjacent tokens in a shingle.",
		},
		{
			"Measure", "seed", &c.Seed, "N", 0,
			"Key of all hashes: documents that were made to collide, or to be found too often, are harmless with a number that their author does not know.",
		},
		{
			"Measure", "threshold", &c.Threshold, "J", 0,
			"Least Jaccard similarity of two near-duplicates: shingles in both over shingles in either.",
		},
		{
			"Measure", "keys", &c.Keys, "KEYS", 0,
			"How documents that may be similar are brought together: exact (by their rarest shingles: none is missed), all (every pair is compared, for corpora of some thousand documents), minhash (by bands of their MinHash signatures: a pair in some hundreds or thousands is missed), simhash (by their SimHash fingerprints: none within --hamming bits is missed). auto: exact or all, whichever is cheaper; minhash with --recall below 1, with --bands or --rows, and with --verify other than exact; simhash with --score hamming.",
		},
		{
			"Measure", "recall", &c.Recall, "P", quiet,
			"Least probability that a pair of exactly the threshold is found. Below 1 it asks for MinHash and sets its bands and rows, which find more similar pairs more surely. Default: 1, or 0.99 with --keys minhash.",
		},
		{
			"Measure", "bands", &c.Bands, "N", 0,
			"MinHash bands; 0: from threshold and recall.",
		},
		{
			"Measure", "rows", &c.Rows, "N", 0,
			"MinHash rows a band; 0: from threshold and recall.",
		},
		{
			"Measure", "score", &c.Score, "SCORE", 0,
			"What makes two documents near-duplicates: jaccard (the threshold), hamming (their SimHash fingerprints differ in at most --hamming bits); auto: hamming with --keys simhash, else jaccard.",
		},
		{
			"Measure", "hamming", &c.Hamming, "K", 0,
			"Most bits in which SimHash fingerprints may differ, with --keys simhash.",
		},
		{
			"Measure", "bits", &c.Bits, "N", 0,
			"Length of SimHash fingerprints, for --keys simhash and in sketches: a multiple of 64 up to 1024.",
		},
	}
}

// planFlags are the flags of 'runjob plan'.
func planFlags(c *plan.Config) []settingFlag {
	input := settingFlag{
		"Input", "input", &c.Input, "PATH", whole,
		"File, folder or quoted pattern to read; may be repeated: candidates are measured there. See 'runjob run --help'.",
	}
	return slices.Concat([]settingFlag{input}, measureFlags(&c.Measure), []settingFlag{
		{
			"Plan", "documents", &c.Documents, "N", 0,
			"Plan for so many documents of which nothing is known, without --input.",
		},
		{
			"Plan", "shingles", &c.Shingles, "N", 0,
			"Distinct shingles a document, with --documents.",
		},
		{
			"Plan", "memory", &c.Memory, "SIZE", 0,
			"Room for the keys of all documents, on disk or in memory; choices that need more are ranked last. 0: no limit.",
		},
		{
			"Plan", "comparison", &c.Comparison, "TIME", 0,
			"CPU time to compare the two documents of a candidate pair; 0: as it was measured, by the sizes of their sets.",
		},
	})
}
