package main

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"

	"mirrorbeam/internal/ground/setting"
	"mirrorbeam/internal/look/plan"
	"mirrorbeam/internal/read/corpus"
	"mirrorbeam/job"
)

// settingFlag is a flag that sets a field of a configuration. Its default is what the
// field holds.
type settingFlag struct {
	// group is the heading under which the help lists it.
	group string
	name  string
	field any
	// value stands for the flag's value in the help. If it is empty, the help shows the default or the name.
	value  string
	traits traits
	help   string
}

// traits say what is special about a flag.
type traits uint8

const (
	// required: the command does not work without the flag.
	required traits = 1 << iota
	// whole: the value is one item of a list, even if it has commas.
	whole
	// quiet: the help text names the default itself.
	quiet
)

type flagList struct {
	group string // of the flags that are added next
	flags []settingFlag
}

func (l *flagList) add(name string, field any, value string, traits traits, help string) {
	l.flags = append(l.flags, settingFlag{l.group, name, field, value, traits, help})
}

func jobFlags(c *job.Config) []settingFlag {
	l := &flagList{group: "Input"}
	l.add("input", &c.Input, "PATH", required|whole,
		"File, folder or quoted pattern to read, on the disk, in a bucket (gs://, s3://), on the web (https://) or in a data set of the hub (hf://); may be repeated. A folder stands for all its files of the format, plain or compressed, and so does an archive of tar or zip; ** matches any number of folders.")
	l.flags = append(l.flags, measureFlags(&c.Measure)...)
	l.group = "Measure"
	l.add("similarity", &c.Similarity, "WHAT", 0,
		"What to look for: jaccard (documents that are mostly the same) or containment (copied passages: pairs where one document contains much of the other, or an excerpt of it, and where; --threshold is then the number of shared shingles over the shingles of the document with fewer).")
	l.add("excerpt", &c.Excerpt, "N", 0,
		"With containment, length in words of the shortest copied passage that makes a pair even below the threshold; 0: none does.")
	l.add("passage", &c.Passage, "N", 0,
		"With containment, words in the passages under which documents meet: those with N+3 words in a row in common are compared for certain; 0: 6. Fewer words find more of what was rewritten, and take more time.")
	l.add("rarity", &c.Rarity, "X", 0,
		"With containment, least rarity of a pair, and a column of pairs to sort by: each shared shingle counts 1 if no other document has it, 1/2 with one other, and so on; 0: no such column.")
	l.add("no-quotations", &c.NoQuotations, "", 0,
		"With containment, ignore text between quotation marks, and lines that begin with >.")
	l.add("within", &c.Within, "FIELD", 0,
		"Compare only documents that share the value of this field, as in --within lang. Documents without it are compared with each other.")
	l.add("across", &c.Across, "FIELD", 0,
		"Compare only documents that differ in the value of this field, as in --across source: what do sources share? Documents without it are not compared with each other.")
	l.add("common", &c.Common, "N", 0,
		"Leave out shingles that more than N documents have besides enough text of their own: menus, licences, the template of a site. N is a number, a share of the documents as in 2%, auto (by the size of the corpus), or off. Pairs then say how alike documents are without these, and as a whole.")
	l.add("verify", &c.Verify, "HOW", 0,
		"How a pair is verified: exact (by the full shingle sets of both documents), sketch (by an estimate from --sketch-size hashes each, which takes less disk), none (a common key is enough).")
	l.add("audit", &c.Audit, "N", 0,
		"Measure the recall on a sample of at most N documents; auto: 5000 if keys may miss a pair and sets are compared exactly, otherwise none; off: no audit.")
	l.group = "Output"
	l.add("output", &c.Output, "DIR", required,
		"Folder for the results, on the disk or in a bucket; must be empty or new, see --overwrite.")
	l.add("overwrite", &c.Overwrite, "", 0,
		"Replace the results of an earlier job in the output folder. Other files in it are left alone.")
	l.add("emit", &c.Emit, "NAME", 0,
		"What to write: auto (clusters; pairs with containment), clusters, pairs, unique (the records that stay), annotated (all records, each with cluster, cluster_size, kept and kept_id), removed, sketches (bottom-k and SimHash fingerprints of every document), trimmed (all records, without passages that stand elsewhere before), passages (what trimmed lacks, and where it stands first), mirrors (pairs of sites), sites, suspects (copies of --protected sites). Rejects, summary and manifest always are.")
	l.add("output-format", &c.OutputFormat, "FORMAT", 0,
		"jsonl, jsonl.zst, jsonl.gz or parquet (typed columns, see docs/outputs.md). unique, annotated and trimmed keep the format of the input.")
	l.add("layout", &c.Layout, "HOW", 0,
		"How unique, annotated and trimmed are laid out: shards (numbered files, one for each input file) or tree (a folder each, in which the folders and files of the input have their names, so that the results load as the input does).")
	l.add("keep", &c.Keep, "ORDER", 0,
		"Which documents of a cluster to keep rather than others: first, last (in document order), longest, shortest (text), max:FIELD, min:FIELD (a number, or a date as in ISO 8601), rank:FILE (a list of sources or sites, one a line, the most preferred first; see --source-field).")
	l.add("source-field", &c.SourceField, "FIELD", 0,
		"Field of a record that holds its source, such as its site. How much of each source is in the others, and how much of it goes, is then counted by this field, not by file or folder. With --keep rank:FILE the list has values of the field, or sites if these are addresses; without this flag it has names of files and folders.")
	l.add("guard", &c.Guard, "WHAT", 0,
		"Exit with 10, after all is published, if too much goes: removes:PERCENT (more than this share of a source is removed), cluster:PERCENT (one cluster has more than this share of all documents).")
	l.add("split", &c.Split, "HOW", 0,
		"What a cluster is: component (documents joined by chains of similar ones) or star (a kept document and the documents removed for it).")
	l.add("drop", &c.Drop, "WHAT", 0,
		"What goes of clusters: copies (documents that are like a kept one), clusters (all their documents, so that only what nothing is like stays) or reference (only documents that are like one of --reference: copies within the input stay).")
	l.group = "Passages"
	l.add("passage-words", &c.PassageWords, "N", 0,
		"With --emit trimmed, words of a passage: a word is cut if it lies in this many words in a row that stood before, in an earlier document or earlier in the same one. The first occurrence stays.")
	l.add("passage-unit", &c.PassageUnit, "WHAT", 0,
		"What a passage is: words (any --passage-words in a row), lines or paragraphs (whole ones, with at least as many words), or sentences (three in a row, with at least as many words together).")
	l.add("passage-copies", &c.PassageCopies, "N", 0,
		"Cut only passages that stand at least this many times in the corpus.")
	l.add("min-words", &c.MinWords, "N", 0,
		"A document that has fewer words left after a cut goes as a whole; 0: none does.")
	l.group = "Sites"
	l.add("url-field", &c.URLField, "FIELD", 0,
		"Field of a record that holds the address of a page; web archives have url. A file that is one document has its path as its address. Without a scheme the address begins with the site, as in site/page or site:page.")
	l.add("date-field", &c.DateField, "FIELD", 0,
		"Field of a record that holds the date of a page, as in ISO 8601; web archives have date. It says which site was seen first.")
	l.add("site", &c.Site, "RULE", 0,
		"What a site is: host, domain (registered domain, such as example.co.uk), or prefix:N (host and the first N folders of the path).")
	l.add("mirror-threshold", &c.MirrorThreshold, "S", 0,
		"Least score of two mirrors: how much of one site, of its pages and of their text by rarity, is on the other.")
	l.add("mirror-pages", &c.MirrorPages, "N", 0,
		"Least number of pages that two mirrors have in common.")
	l.add("mirror-sites", &c.MirrorSites, "N", 0,
		"Pages that more sites than this have, such as licences and error pages, say nothing; the fewer sites have a page, the more it weighs.")
	l.add("rank", &c.Rank, "FILE", 0,
		"List of sites, RANK,SITE a line as Tranco has it, or a site a line. The best ranked site of a group is its primary.")
	l.add("protected", &c.Protected, "FILE", 0,
		"List of protected sites, one a line, with all hosts below. Sites that copy them are suspects.")
	l.add("allow", &c.Allow, "FILE", 0,
		"List of mirrors that are no suspects: a site and its mirror a line, or a mirror alone.")
	l.group = "Running"
	l.add("temp", &c.Temp, "DIR", 0,
		"Folder for temporary files, some 1 to 2 bytes for each byte of text; default: beside the output, or on the disk if a local job writes to a bucket. Workers of a cluster must share it.")
	l.add("resume", &c.Resume, "", 0,
		"If the job dies, keep what it has done, and go on from there when it is run again with this flag and nothing else has changed. It takes half as much again of temporary files.")
	l.group = "Scheduled runs"
	l.add("state", &c.State, "DIR", 0,
		"Folder, on the disk or in a bucket, that keeps what the next run need not do again. Only new and changed files are then read; the results are those of a run over everything. What has changed since the last run is an output, changes.")
	l.add("add", &c.Add, "", 0,
		"Keep the files of the last run in the corpus that --input does not name; without it --input is the whole corpus.")
	l.add("rebuild", &c.Rebuild, "", 0,
		"Read all files again: after a change of settings, or of a file that kept its size and time.")
	l.add("republish", &c.Republish, "", 0,
		"Make the results anew even if nothing has changed since the last run, which has left them in --output.")
	l.add("allow-removal", &c.AllowRemoval, "", 0,
		"Go on if more than a tenth of the files of the last run are gone, which is otherwise taken for a fault, such as a disk that is not mounted.")
	l.add("allow-older-state", &c.AllowOlderState, "", 0,
		"Go on if the state is empty, or older than the results in --output, which is otherwise taken for a state that was lost or restored from a backup.")
	l.add("fail-on", &c.FailOn, "WHAT", 0,
		"Exit with 10 if this is so, after all is published: rejects (anything could not be read), damaged-files (a file could not be read at all, is cut short or damaged), panics (the program panicked over a document), or with a --state a change since the last run: new-clusters, new-mirrors or new-suspects, or with another kind of change in place of new: grown, merged, split, shrunk or gone. Suspects neither merge nor split, but may be unseen. Or protected-changed: a protected site had too little left to tell who copies it.")
	l.group = "Running"
	l.add("memory", &c.Memory, "SIZE", 0,
		"Memory that a process aims to stay below, 100MiB or more: tasks become smaller, and memory is cleared more often. Clusters of millions of pairs may need more. 0: no aim, and one document may take as much as with 600MiB. The results are the same, except that documents that take more than 7/10 of it beside 64MiB are rejects, and .zst files with a window above an eighth of it.")
	l.add("worker-memory", &c.WorkerMemory, "SIZE", 0,
		"The same for a worker process on a cluster, which cuts the tasks of the job, too. Default: --memory; without it tasks are cut for 2GiB, and a worker aims at three quarters of what its control group, or its machine, may have.")
	l.add("lanes", &c.Lanes, "N", 0,
		"How many tasks of a stage a local runner works on at a time; 0: one a core. The results are the same.")
	l.addStorageTimeout(&c.StorageTimeout)
	return l.flags
}

func (l *flagList) addStorageTimeout(field *job.Span) {
	l.add("storage-timeout", field, "TIME", quiet,
		"How long an operation on a bucket goes on that makes no progress, as in 30s or 10m: it is tried again, with growing pauses. Default: 2m.")
}

func measureFlags(c *job.Measure) []settingFlag {
	l := &flagList{}
	l.group = "Input"
	l.add("preset", &c.Preset, "NAME", 0,
		"Settings for a kind of corpus, which hold where nothing else is given: "+presetHelp()+". See docs/presets.md.")
	l.add("reference", &c.Reference, "PATH", whole,
		"Reference corpus, given like --input; may be repeated. Input documents that are near-duplicates of reference documents are removed. Reference documents are never removed, and not compared with each other.")
	l.add("include", &c.Include, "PATTERN", whole,
		"Read only files below folders and patterns that match this pattern, as in --include '*.py' or 'src/**'; may be repeated. Without a slash it matches the name of a file or folder at any depth; what is in such a folder matches, too.")
	l.add("exclude", &c.Exclude, "PATTERN", whole,
		"Pass over files that match this pattern, given like --include; may be repeated.")
	l.add("format", &c.Format, "FORMAT", 0,
		"Format of all input files: "+corpus.FormatHelp()+".")
	l.add("delimiter", &c.Delimiter, "CHAR", 0,
		"What stands between the fields of CSV: a character, or tab; default: the comma, semicolon, tab or | that the first record of a file shows.")
	l.add("quote", &c.Quote, "CHAR", 0,
		"What encloses a field of CSV or TSV that has a delimiter or a line end in it: a character, or none; default: the double quote in CSV, and none in TSV.")
	l.add("escape", &c.Escape, "CHAR", 0,
		`What takes its meaning from a quote or delimiter behind it in CSV and TSV, such as \; default: nothing does, but \" is read as a quote where the field goes on.`)
	l.add("skip-lines", &c.SkipLines, "N", 0,
		"How many lines stand before the header of CSV and TSV, such as a title. Copies do not have them.")
	l.add("encoding", &c.Encoding, "NAME", 0,
		"Encoding of texts, CSV and lines without a byte order mark, such as windows-1252 or shift_jis; default: UTF-8, or what a file looks like. JSON, too, if it is given.")
	l.add("id-field", &c.IDField, "FIELD", 0,
		"Field of a record that holds its id, a string or a number; meta.id is the field id in the field meta. A record without an id is named by its place, path:position.")
	l.add("text-field", &c.TextField, "FIELD", 0,
		"Field of a record that holds its text, such as text or content.body.")
	l.add("features", &c.Features, "FIELD", 0,
		`Compare features instead of texts. This field holds the features, which another program has found: an array of strings or 64-bit hashes, each alone or with its weight as in [["a",2],7], or an object from features to weights.`)
	l.add("feature-weight", &c.FeatureWeight, "N", 0,
		"Compare features and texts: the features of --features stand beside the text, and each counts as N of its shingles. A document may have none. 0: features stand for the text.")
	l.add("text-format", &c.TextFormat, "HOW", 0,
		"How the text in a field of a record is written: plain, or html (a web page; its text is taken as of files that are pages).")
	l.add("html-text", &c.HTMLText, "WHICH", 0,
		"Text of web pages: all, or main (without menus, headers, footers, forms and blocks of links).")
	l.add("max-document", &c.MaxDocument, "SIZE", 0,
		"Longest text; longer ones are rejects. So are documents that become too much for --memory, however short they are.")
	l.add("max-expanded", &c.MaxExpanded, "SIZE", 0,
		"Fail if all compressed files together expand to more than this; 0: no limit.")
	l.add("max-rejects", &c.MaxRejects, "N", 0,
		"Fail if more records than this cannot be read; -1: no limit.")
	l.group = "Measure"
	l.add("tokens", &c.Tokens, "WHAT", 0,
		"What a token is: script (words; in scripts without spaces between words, each Han and Kana character, and runs of characters of Thai, Lao, Khmer and Myanmar), single (words, and each character of all these scripts), words (words only), chars (every letter and digit, for short strings such as names of users).")
	l.add("code", &c.Code, "LANG", 0,
		"Texts are program code: leave out comments. LANG is the language, or auto (found for each text), and then, separated by commas: names (names, numbers and strings are alike, whatever they say; punctuation counts), keep-comments, only-comments. off: as any other text.")
	l.add("normalize", &c.Normalize, "STEPS", 0,
		"What to do to texts first, separated by commas: nfc or nfkc (Unicode forms), skeleton (letters become those they look like, and unseen characters go), fold (full case folding), punctuation (don't becomes dont).")
	l.add("stopwords", &c.StopWords, "FILE", 0,
		"List of stop words, one a line.")
	l.add("stopwords-use", &c.StopWordUse, "HOW", 0,
		"How to use stop words: remove (they are removed from texts), require (only shingles that contain one count; menus and advertisements have few).")
	l.add("ignore", &c.Ignore, "PATH", whole,
		"Base texts, given like --input, of any format; may be repeated. What stands in them, such as licences, task sheets and the headers of editors, is left out of all documents.")
	l.add("weight", &c.Weight, "FIELD=W", 0,
		"Use these text fields instead of --text-field, as in title=3,text=1. A document has the shingles of all of them; the weights count for its SimHash.")
	l.add("shingle", &c.Shingle, "N", 0,
		"How many adjacent tokens make a shingle.")
	l.add("min-shingles", &c.MinShingles, "N", 0,
		"Documents with fewer distinct shingles are near-duplicates only of documents with the same shingles: for verses, headlines and titles.")
	l.add("seed", &c.Seed, "N", 0,
		"Key of all hashes. With a number that nobody else knows, nobody can make documents that collide or are found too often. random draws one, and summary.json has it; with a state, later runs take the number of the first. A job that is repeated or resumed needs the number itself.")
	l.add("threshold", &c.Threshold, "J", 0,
		"Least Jaccard similarity of two near-duplicates: the number of shared shingles over the number of distinct shingles of the two.")
	l.add("keys", &c.Keys, "KEYS", 0,
		"How to find pairs that may be similar: exact (by their rarest shingles: no pair is missed), all (every pair is compared, for corpora of some thousand documents), minhash (by bands of their MinHash signatures: one pair in some hundreds or thousands is missed), simhash (by their SimHash fingerprints: no pair within --hamming bits is missed). Only exact duplicates, in a fraction of the time: same-words (texts with the same words in the same order), same-bytes (texts with the same bytes). auto: exact or all, whichever is cheaper; minhash with --recall below 1, with --bands or --rows, and with --verify other than exact; simhash with --score hamming.")
	l.add("recall", &c.Recall, "P", quiet,
		"Least probability to find a pair whose similarity is exactly the threshold. More similar pairs are found more surely. A value below 1 asks for MinHash, and sets its bands and rows. Default: 1, or 0.99 with --keys minhash.")
	l.add("bands", &c.Bands, "N", 0,
		"Number of MinHash bands; 0: from threshold and recall.")
	l.add("rows", &c.Rows, "N", 0,
		"Number of MinHash rows in a band; 0: from threshold and recall.")
	l.add("score", &c.Score, "SCORE", 0,
		"What makes two documents near-duplicates: jaccard (the threshold), hamming (their SimHash fingerprints differ in at most --hamming bits); auto: hamming with --keys simhash, else jaccard.")
	l.add("hamming", &c.Hamming, "K", 0,
		"With --keys simhash, largest number of bits in which SimHash fingerprints may differ.")
	l.add("bits", &c.Bits, "N", 0,
		"Length of SimHash fingerprints, for --keys simhash and in sketches: 32, or a multiple of 64 up to 1024.")
	l.add("blocks", &c.Blocks, "N", 0,
		"With --keys simhash, how many blocks to cut fingerprints into, such as 6, or 4,4 for a second cut behind the first: more tables with fewer documents under a key. The pairs are the same; 'runjob plan' lists what is of use. Default: from --bits and --hamming.")
	l.add("sketch-size", &c.SketchSize, "N", quiet,
		"Hashes in the sketch of a document, the smallest of its set, from 32 to 4096: for --verify sketch and none, and in the output sketches. Four times as many halve the error of an estimate. Longer sketches take more disk. Default: 128.")
	return l.flags
}

// presetHelp names the presets with what they are for.
func presetHelp() string {
	var all []string
	for _, p := range job.Presets() {
		all = append(all, fmt.Sprintf("%s (%s)", p.Name, p.For))
	}
	return strings.Join(all, ", ")
}

func planFlags(c *plan.Config) []settingFlag {
	l := &flagList{group: "Input"}
	l.add("input", &c.Input, "PATH", whole,
		"File, folder or quoted pattern to read; may be repeated. Candidates are measured on it. See 'runjob run --help'.")
	l.flags = append(l.flags, measureFlags(&c.Measure)...)
	l.group = "Plan"
	l.add("documents", &c.Documents, "N", 0,
		"Without --input: plan for this many documents, of which nothing else is known.")
	l.add("memory", &c.Memory, "SIZE", 0,
		"Room for the keys of all documents, on disk or in memory. Choices that need more are ranked last. 0: no limit.")
	l.add("temp", &c.Temp, "DIR", 0,
		"Folder for the temporary files of the job: say whether its disk has room for them.")
	l.addStorageTimeout(&c.StorageTimeout)
	return l.flags
}

func addFlags(command *kong.Node, flags []settingFlag, mappers *kong.Registry) error {
	var added []*kong.Flag
	for _, f := range flags {
		text, err := f.usual()
		if err != nil {
			return fmt.Errorf("default of --%s: %w", f.name, err)
		}
		field := reflect.ValueOf(f.field).Elem()
		tag := &kong.Tag{Sep: ',', MapSep: ','}
		if f.traits&whole != 0 {
			tag.Sep = -1
		}
		value := &kong.Value{
			Name: f.name, Help: f.help, OrigHelp: f.help, Default: text, HasDefault: text != "",
			Target: field, DefaultValue: reflect.New(field.Type()).Elem(), Mapper: mappers.ForValue(field),
			Tag: tag, Required: f.traits&required != 0,
		}
		value.Flag = &kong.Flag{Value: value, PlaceHolder: f.value, Group: &kong.Group{Key: f.group, Title: f.group}}
		added = append(added, value.Flag)
	}
	command.Flags = append(added, command.Flags...)
	return nil
}

func optional(flags []settingFlag) []settingFlag {
	for i := range flags {
		flags[i].traits &^= required
	}
	return flags
}

// usual returns the default of a flag in the form in which it is given. It is empty if the help should not
// show it.
func (f *settingFlag) usual() (string, error) {
	if f.traits&quiet != 0 {
		return "", nil
	}
	switch value := reflect.ValueOf(f.field).Elem().Interface().(type) {
	case encoding.TextMarshaler:
		text, err := value.MarshalText()
		return string(text), err
	case []string:
		return strings.Join(value, ","), nil
	case bool:
		return map[bool]string{true: "true"}[value], nil
	case map[string]float64, []int:
		if reflect.ValueOf(value).Len() > 0 {
			return "", fmt.Errorf("%v cannot be shown", value)
		}
		return "", nil
	default:
		return fmt.Sprint(value), nil
	}
}

// given returns the settings of those flags that are chosen, even if their value is the default. A preset chooses none.
func (c *chooser) given(parsed *kong.Context, flags []settingFlag) []string {
	var settings []string
	for _, step := range parsed.Path {
		if step.Flag == nil {
			continue
		}
		name := settingName(step.Flag.Name)
		if hasSetting(flags, name) && !c.origins[name].isPreset() {
			settings = append(settings, name)
		}
	}
	return settings
}

func settingName(flag string) string { return strings.ReplaceAll(flag, "-", "_") }

// checkArgument refuses an address that no storage knows, as an argument that the help calls <name>.
func checkArgument(name, path string) error {
	if err := job.CheckPlace("argument", path); err != nil {
		return errors.New(setting.Text(err, func(string) string { return "<" + name + ">" }))
	}
	return nil
}
