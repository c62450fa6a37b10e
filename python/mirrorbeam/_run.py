# Made from the settings of runjob by go generate ./cmd/runjob: change cmd/runjob/settings.txt.
from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Callable, Literal, TypedDict, Union

from ._job import run_job
from ._results import Results

Text = Union[str, "PathLike[str]"]  # a path for names of files


Preset = Literal["corpus", "web", "code", "plagiarism", "decontaminate", "titles", "mirrors", "fineweb", "fineweb2", "refinedweb", "slimpajama", "redpajama2", "zyda", "nemotron-cc", "gneissweb", "gopher", "stack2", "dolma3", "c4", "ccnet", "llama3-lines"]
Format = Literal["auto", "jsonl", "csv", "tsv", "parquet", "warc", "text", "html", "lines", "json", "arrow", "bulk"]
FingerprintEncoding = Literal["hex", "decimal", "base64"]
TextFormat = Literal["plain", "html"]
HtmlText = Literal["all", "main"]
Tokens = Literal["script", "single", "words", "chars"]
StopwordsUse = Literal["remove", "require"]
Keys = Literal["auto", "all", "exact", "minhash", "none", "same-bytes", "same-words", "simhash"]
Score = Literal["auto", "jaccard", "hamming"]
Similarity = Literal["jaccard", "containment"]
Verify = Literal["exact", "sketch", "none"]
OutputFormat = Literal["jsonl", "jsonl.zst", "jsonl.gz", "parquet"]
Layout = Literal["shards", "tree"]
Split = Literal["component", "star"]
Drop = Literal["copies", "clusters", "reference"]


class Settings(TypedDict, total=False):
    """The settings of run."""

    preset: Preset | None
    reference: Sequence[Text] | Text | None
    include: Sequence[Text] | Text | None
    exclude: Sequence[Text] | Text | None
    format: Format | None
    delimiter: Text | None
    quote: Text | None
    escape: Text | None
    skip_lines: int | str | None
    encoding: Text | None
    records: Text | None
    id_field: Text | None
    text_field: Text | None
    features: Text | None
    feature_weight: int | str | None
    fingerprints: Text | None
    fingerprint_encoding: FingerprintEncoding | None
    text_format: TextFormat | None
    html_text: HtmlText | None
    max_document: int | str | None
    max_expanded: int | str | None
    max_rejects: int | str | None
    tokens: Tokens | None
    code: int | str | None
    normalize: int | str | None
    stopwords: Text | None
    stopwords_use: StopwordsUse | None
    ignore: Sequence[Text] | Text | None
    weight: Mapping[str, float] | None
    shingle: int | str | None
    min_shingles: int | str | None
    seed: int | str | None
    threshold: float | None
    keys: Keys | None
    recall: float | None
    bands: int | str | None
    rows: int | str | None
    score: Score | None
    hamming: int | str | None
    bits: int | str | None
    blocks: Sequence[Text] | Text | None
    sketch_size: int | str | None
    similarity: Similarity | None
    excerpt: int | str | None
    passage: int | str | None
    rarity: float | None
    no_quotations: bool | None
    within: Text | None
    across: Text | None
    common: Text | None
    verify: Verify | None
    audit: Text | None
    output: Text | None
    overwrite: bool | None
    emit: Sequence[Text] | Text | None
    output_format: OutputFormat | None
    layout: Layout | None
    columns: Sequence[Text] | Text | None
    keep: Text | None
    source_field: Text | None
    guard: Sequence[Text] | Text | None
    split: Split | None
    drop: Drop | None
    remove_if: Text | None
    variants: Text | None
    passage_words: int | str | None
    passage_unit: Text | None
    passage_copies: int | str | None
    passage_share: float | None
    cut: int | str | None
    item_fields: Sequence[Text] | Text | None
    min_words: int | str | None
    url_field: Text | None
    date_field: Text | None
    site: Text | None
    mirror_threshold: float | None
    mirror_pages: int | str | None
    mirror_sites: int | str | None
    rank: Text | None
    protected: Text | None
    allow: Text | None
    temp: Text | None
    resume: bool | None
    state: Text | None
    add: bool | None
    rebuild: bool | None
    republish: bool | None
    removal_limit: float | None
    allow_removal: bool | None
    allow_older_state: bool | None
    fail_on: Sequence[Text] | Text | None
    memory: int | str | None
    worker_memory: int | str | None
    lanes: int | str | None
    storage_timeout: int | str | None
    wait_for_lease: int | str | None


SETTINGS = frozenset(Settings.__annotations__)


def run(
    input: Any,
    output: Text | None = None,
    *,
    preset: Preset | None = None,
    reference: Sequence[Text] | Text | None = None,
    include: Sequence[Text] | Text | None = None,
    exclude: Sequence[Text] | Text | None = None,
    format: Format | None = None,
    delimiter: Text | None = None,
    quote: Text | None = None,
    escape: Text | None = None,
    skip_lines: int | str | None = None,
    encoding: Text | None = None,
    records: Text | None = None,
    id_field: Text | None = None,
    text_field: Text | None = None,
    features: Text | None = None,
    feature_weight: int | str | None = None,
    fingerprints: Text | None = None,
    fingerprint_encoding: FingerprintEncoding | None = None,
    text_format: TextFormat | None = None,
    html_text: HtmlText | None = None,
    max_document: int | str | None = None,
    max_expanded: int | str | None = None,
    max_rejects: int | str | None = None,
    tokens: Tokens | None = None,
    code: int | str | None = None,
    normalize: int | str | None = None,
    stopwords: Text | None = None,
    stopwords_use: StopwordsUse | None = None,
    ignore: Sequence[Text] | Text | None = None,
    weight: Mapping[str, float] | None = None,
    shingle: int | str | None = None,
    min_shingles: int | str | None = None,
    seed: int | str | None = None,
    threshold: float | None = None,
    keys: Keys | None = None,
    recall: float | None = None,
    bands: int | str | None = None,
    rows: int | str | None = None,
    score: Score | None = None,
    hamming: int | str | None = None,
    bits: int | str | None = None,
    blocks: Sequence[Text] | Text | None = None,
    sketch_size: int | str | None = None,
    similarity: Similarity | None = None,
    excerpt: int | str | None = None,
    passage: int | str | None = None,
    rarity: float | None = None,
    no_quotations: bool | None = None,
    within: Text | None = None,
    across: Text | None = None,
    common: Text | None = None,
    verify: Verify | None = None,
    audit: Text | None = None,
    overwrite: bool | None = None,
    emit: Sequence[Text] | Text | None = None,
    output_format: OutputFormat | None = None,
    layout: Layout | None = None,
    columns: Sequence[Text] | Text | None = None,
    keep: Text | None = None,
    source_field: Text | None = None,
    guard: Sequence[Text] | Text | None = None,
    split: Split | None = None,
    drop: Drop | None = None,
    remove_if: Text | None = None,
    variants: Text | None = None,
    passage_words: int | str | None = None,
    passage_unit: Text | None = None,
    passage_copies: int | str | None = None,
    passage_share: float | None = None,
    cut: int | str | None = None,
    item_fields: Sequence[Text] | Text | None = None,
    min_words: int | str | None = None,
    url_field: Text | None = None,
    date_field: Text | None = None,
    site: Text | None = None,
    mirror_threshold: float | None = None,
    mirror_pages: int | str | None = None,
    mirror_sites: int | str | None = None,
    rank: Text | None = None,
    protected: Text | None = None,
    allow: Text | None = None,
    temp: Text | None = None,
    resume: bool | None = None,
    state: Text | None = None,
    add: bool | None = None,
    rebuild: bool | None = None,
    republish: bool | None = None,
    removal_limit: float | None = None,
    allow_removal: bool | None = None,
    allow_older_state: bool | None = None,
    fail_on: Sequence[Text] | Text | None = None,
    memory: int | str | None = None,
    worker_memory: int | str | None = None,
    lanes: int | str | None = None,
    storage_timeout: int | str | None = None,
    wait_for_lease: int | str | None = None,
    paths: bool = True,
    beam: Mapping[str, Any] | None = None,
    progress: bool | Callable[[dict[str, Any]], None] | None = None,
) -> Results:
    """Finds the near-duplicates of a corpus, and returns the results.

    A setting that is None has its default. Rows are written as Parquet unless output_format says otherwise, and
    results can be had only of what emit names.

    Settings of the call:
      input: Files, folders and patterns, or data in memory as for dedupe: a frame, a table, a Dataset, dicts, texts. Of
        data, clusters, pairs and removed are written, and unique() is what stays of it, as the same kind of data.
      paths: Whether a string, or a list of strings, names files. Otherwise they are texts.
      output: Folder for the results, on the disk or in a bucket; must be empty or new, see overwrite. Without it the results
        are in a temporary folder, which goes when nobody holds the results any more.
      beam: Flags of Apache Beam, such as {"runner": "flink", "endpoint": "host:8099"}.
      progress: Whether to show how far the job is: in a notebook or on a terminal if it is None. A function gets each message
        as a dict.

    Raises UsageError, InputError, StorageError, InternalError or ConditionMet, all of them RunjobError.

    Settings of runjob:
      input: File, folder or quoted pattern to read, on the disk, in a bucket (gs://, s3://), on the web (https://) or in a dataset on Hugging Face (hf://); may be repeated, and arguments without a flag are inputs, too. A folder or an archive (tar or zip) means all files in it of the format, plain or compressed. ** matches any number of folders.
      preset: Defaults for a kind of corpus: corpus (texts to train on, of which few good ones are to be lost), web (pages of the web), code (program code), plagiarism (copied and rewritten passages), decontaminate (a corpus without benchmarks, as 'runjob decontaminate' makes it), titles (titles, headlines and other short texts), mirrors (mirror sites, as 'runjob mirrors' looks for them); or the published settings of a corpus: fineweb, fineweb2, refinedweb, slimpajama, redpajama2, zyda, nemotron-cc, gneissweb, gopher, stack2, dolma3, c4, ccnet, llama3-lines. Any setting given elsewhere overrides them. See docs/reference/presets.md.
      reference: Reference corpus, given like input; may be repeated. Input documents that are near-duplicates of reference documents are removed. Reference documents are never removed, and are not compared with each other.
      include: Read only files that match this pattern, as in include '*.py' or 'src/**', from folders and patterns of input; may be repeated. A pattern without a slash matches a file or folder name at any depth, and everything in such a folder.
      exclude: Skip files that match this pattern, given like include; may be repeated.
      format: Format of all input files: jsonl, csv, tsv, parquet, warc (web archives), text (a file is a document), html (a file is a web page), lines (a line is a document), json (an array of objects, or objects on several lines each), arrow (files and streams of Arrow, Feather, data sets that were saved), bulk (bulk requests of Elasticsearch: a line of an action, and a line of its document), or auto (chosen for each file by its content and name) (default "auto").
      delimiter: Character between the fields of CSV, or tab; default: the comma, semicolon, tab or | found in the first record of a file.
      quote: Character that encloses CSV or TSV fields with a delimiter or a line end in them, or none; default: the double quote in CSV, none in TSV.
      escape: Character, such as \\, that escapes a quote or delimiter after it in CSV and TSV; default: none, but \\" is read as a quote where the field goes on.
      skip_lines: Number of lines to skip before the header of CSV and TSV, such as a title. They are not copied to the output (default 0).
      encoding: Encoding of texts, CSV and lines without a byte order mark, such as windows-1252 or shift_jis; default: UTF-8, or what a file looks like. If given, it also applies to JSON.
      records: Field with the list of records in a file of JSON that is one object, as in data or hits.hits.
      id_field: Field of a record with its id, a string or a number; meta.id means the field id inside the field meta. A record without an id is named by its position, path:position (default "id").
      text_field: Field of a record with its text, such as text or content.body. Without text: a usual name such as content, body or messages.content, else the field with by far the longest texts (default "text").
      features: Compare the features in this field instead of texts. The field has an array of strings or 64-bit hashes, each alone or with a weight as in [["a",2],7], or an object that maps features to weights.
      feature_weight: Compare features as well as the text, each feature counting as N shingles of the text. A document may have no features. 0: compare only features (default 0).
      fingerprints: Compare the fingerprints in this field, such as hashes of images or sounds, instead of texts: bits bits each, of which hamming may differ. The field has hexadecimal digits, a whole number, or bytes in Parquet and Arrow.
      fingerprint_encoding: Encoding of fingerprints that are texts: hex, decimal (32 or 64 bits, with or without a sign) or base64. Default: hex. Numbers are always decimal.
      text_format: Markup of the text field: plain, or html (a web page, whose text is extracted as from HTML files) (default "plain").
      html_text: Which text of a web page to use: all, or main (without menus, headers, footers, forms and blocks of links) (default "all").
      max_document: Longest text; longer ones are rejected. So are documents that need too much of memory, whatever their length (default 67108864).
      max_expanded: Fail if all compressed files together expand to more than this; 0: no limit (default 0).
      max_rejects: Fail if more records than this cannot be read; -1: no limit (default -1).
      tokens: What a token is: script (words; in scripts without spaces, each Han and Kana character, and runs of Thai, Lao, Khmer and Myanmar characters), single (words, and each character of all these scripts), words (words only), chars (every letter and digit, for short strings such as user names) (default "script").
      code: Treat texts as program code without its comments. LANG is the language, or auto (detected per text), and then, separated by commas: operators (operators and punctuation count), names (they count, and all names, numbers and strings are equal), keep-comments, only-comments. off: no program code (default "off").
      normalize: How to normalize texts first, separated by commas: nfc or nfkc (Unicode forms), skeleton (replace letters by their lookalikes, drop invisible characters), fold (full case folding), accents (drop accents and other marks), digits (replace each digit by 0) or numbers (replace each number, as in 3.50, by 0), punctuation (don't becomes dont) (default "none").
      stopwords: List of stop words, one per line.
      stopwords_use: How to use stop words: remove (remove them from texts), require (count only shingles that contain one; menus and advertisements have few) (default "remove").
      ignore: Texts to leave out of all documents, such as licences, task sheets and editors' headers, given like input, in any format; may be repeated.
      weight: Use these text fields instead of text_field, as in title=3,text=1; of web pages text, title and headings. A document has the shingles of all of them; the weights only count for its SimHash.
      shingle: Number of adjacent tokens in a shingle (default 3).
      min_shingles: Match documents with fewer distinct shingles only if their shingles are the same: for verses, headlines and titles (default 0).
      seed: Key of all hashes. A secret number keeps others from making documents that collide. random draws one, which summary.json shows and later runs with the same state use again; to repeat or resume a job, give the number itself (default 0).
      threshold: Lowest Jaccard similarity of near-duplicates: shared distinct shingles divided by all distinct shingles of the two (default 0.8).
      keys: How to find candidate pairs: exact (by their rarest shingles; misses no pair), all (compare every pair, for a few thousand documents), minhash (by MinHash bands; misses one pair in some hundreds or thousands), simhash (by SimHash fingerprints; misses no pair within hamming bits), or only exact duplicates, in a fraction of the time: same-words (texts with the same words in the same order), same-bytes (texts with the same bytes); or none (compare no documents, for emit trimmed). auto: exact or all, whichever is cheaper; minhash with recall below 1, with bands or rows, or with verify other than exact; simhash with score hamming (default "auto").
      recall: Lowest probability of finding a pair whose similarity is exactly the threshold; more similar pairs are found with a higher one. A value below 1 selects MinHash and sets its bands and rows. Default: 1, or 0.99 with keys minhash.
      bands: Number of MinHash bands; 0: from threshold and recall (default 0).
      rows: Number of MinHash rows per band; 0: from threshold and recall (default 0).
      score: What makes two documents near-duplicates: jaccard (threshold), hamming (SimHash fingerprints that differ in at most hamming bits); auto: hamming with keys simhash, else jaccard (default "auto").
      hamming: Largest number of bits in which fingerprints may differ, with keys simhash and fingerprints (default 3).
      bits: Length of fingerprints in bits, for keys simhash, fingerprints and sketches: 32, or a multiple of 64 up to 1024 (default 64).
      blocks: Number of blocks to cut SimHash fingerprints into, with keys simhash, such as 6, or 4,4 to cut twice: more tables with fewer documents per key. The pairs are the same; 'runjob plan' lists useful values. Default: from bits and hamming.
      sketch_size: Number of hashes in a bottom-k sketch, from 32 to 4096, for verify sketch and none, and for the output sketches. Four times as many halve the error of an estimate, and take more disk. Default: 128.
      similarity: What to look for: jaccard (documents that are mostly the same) or containment (copied passages and where they are: pairs in which one document contains much of the other, or an excerpt of it; threshold is then the number of shared shingles divided by the shingles of the document with fewer) (default "jaccard").
      excerpt: Shortest copied passage in words, with containment, that makes a pair even below the threshold; 0: none does (default 50).
      passage: Number of words in the passages by which containment finds candidate pairs; 0: 6. Documents with N+3 words in a row in common are always compared. Fewer words find more rewritten text, and take more time (default 0).
      rarity: Lowest rarity of a pair, with containment; adds a column to pairs to sort by. Each shared shingle counts 1 if no other document has it, 1/2 with one other, and so on. 0: no such column (default 0).
      no_quotations: Ignore text in quotation marks, and lines that begin with >, with containment.
      within: Compare only documents that have the same value of this field, as in within lang. Documents without it are compared with each other.
      across: Compare only documents that have different values of this field, as in across source to find what sources share. Documents without it are not compared with each other.
      common: Leave out shingles that more than N documents have, such as menus, licences and site templates, if enough text remains. N is a number, a share of the documents as in 2%, auto (by the size of the corpus), or off. Pairs then show the similarity without these shingles, and with them.
      verify: How to verify a pair: exact (with the full shingle sets of both documents), sketch (with an estimate from sketch_size hashes each, which takes less disk), none (a common key is enough) (default "exact").
      audit: Measure the recall on a sample of at most N documents; auto: 5000 if keys may miss a pair and sets are compared exactly, otherwise off; off: no audit (default "auto").
      overwrite: Replace the results of an earlier job in the output folder. Other files in it stay as they are.
      emit: What to write: auto (clusters; pairs with containment), clusters, pairs, unique (the kept records), annotated (all records, with cluster, cluster_size, kept and kept_id), removed, sketches (bottom-k and SimHash fingerprints of every document), trimmed (all records without passages that occur earlier), passages (what trimmed leaves out, and where it occurs first), mirrors (pairs of sites), sites, suspects (copies of protected sites). Rejects, summary and manifest are always written (default ["auto"]).
      output_format: Format of the rows: jsonl, jsonl.zst, jsonl.gz or parquet (typed columns, see docs/reference/files.md). unique, annotated and trimmed keep the format of the input (default "jsonl").
      layout: Files of unique, annotated and trimmed: shards (numbered files, one per input file) or tree (the folders and file names of the input, so that the results load as the input does) (default "shards").
      columns: Fields to add to the records of unique and annotated: cluster, cluster_size, kept, kept_id, n_sources, n_files. The last two say in how many sources and files the documents of its cluster are (sources as in the summary, which tells 100 apart); annotated always has the others.
      keep: Which document of a cluster to keep: first, last (in document order), longest, shortest (text), max:FIELD, min:FIELD (a number, or a date as in ISO 8601), rank:FILE (a list of sources or sites, one a line, the most preferred first; see source_field). Up to three, as in max:stars,max:forks,longest: each decides where those before it do not (default "first").
      source_field: Field of a record with its source, such as its site. The summary then counts copies and removals by this field instead of by file or folder. keep rank:FILE then ranks values of the field (or sites, if these are addresses) instead of names of files and folders.
      guard: Exit with 10, after publishing, if too much is removed or joined: removes:PERCENT (of one source is removed), cluster:PERCENT (of all documents is in one cluster).
      split: What a cluster is: component (documents joined by chains of similar pairs) or star (a kept document and the documents removed for it) (default "component").
      drop: What to remove of clusters: copies (documents similar to a kept one), clusters (all their documents, so that only documents without a near-duplicate stay) or reference (only documents similar to one of reference; copies within the input stay) (default "copies").
      remove_if: Remove a similar document only if its text is in the document that stays: contained (all its shingles are) or contained:SHARE (at least that share of them, such as contained:0.95). Use it with keep longest.
      variants: What to do with similar documents about different things, such as records of one form: warn (count them in a sample), keep (remove neither for the other, by a rule about rare words that are exchanged) or wide (the same for all pairs that differ in more than numbers and a few frequent words) (default "warn").
      passage_words: Length of a passage in words, with emit trimmed. A word is cut if it is in a passage that occurred before, in an earlier document or earlier in the same one. The first occurrence stays (default 50).
      passage_unit: What a passage is: words (any passage_words in a row), lines or paragraphs (whole ones, with at least as many words), sentences (three in a row, with at least as many words together), or items (whole texts of reference with at least as many words, such as questions of a benchmark, also with some words changed) (default "words").
      passage_copies: Cut only passages that occur at least this many times in the corpus (default 2).
      passage_share: Least share of the words of an item that a text must have, in their order, with passage_unit items; 0: 0.75 (default 0).
      cut: Cut an item and N characters on both sides out of a text, with passage_unit items; 0: remove the whole document (default 0).
      item_fields: Fields of the reference that are items, each apart, such as question,answer; default: the text.
      min_words: Remove a document with fewer words left after cutting; 0: never (default 1).
      url_field: Field of a record with the address of a page; web archives have url. Without a scheme the address begins with the site, as in site/page or site:page. A single-document file has its path as its address (default "url").
      date_field: Field of a record with the date of a page, as in ISO 8601; web archives have date. It tells which site was seen first (default "date").
      site: What a site is: host, domain (registered domain, such as example.co.uk), or prefix:N (host and the first N folders of the path) (default "host").
      mirror_threshold: Lowest score of two mirrors: the share of one site's pages, and of their text by rarity, that is on the other site (default 0.5).
      mirror_pages: Lowest number of pages that two mirrors have in common (default 3).
      mirror_sites: Ignore pages that are on more sites than this, such as licences and error pages. The fewer sites have a page, the more it weighs (default 100).
      rank: List of ranked sites, RANK,SITE per line as Tranco has it, or one site per line. The best-ranked site of a group is its primary.
      protected: List of protected sites, one per line, including all hosts below. Sites that copy them are suspects.
      allow: List of mirrors that are not suspects: a site and its mirror per line, or a mirror alone.
      temp: Folder for temporary files, about 1 to 2 bytes for each byte of text; default: next to the output, or on the local disk if a local job writes to a bucket. Workers of a cluster must share it.
      resume: Store progress, and continue an interrupted job when it is run again with this flag and nothing else has changed. Temporary files take half as much again.
      state: Folder, on the disk or in a bucket, for what the next run can reuse. An incremental run reads only new and changed files; its results are those of a full run. The output changes shows what has changed since the last run.
      add: Keep the files of the last run that input does not name; without it, input is the whole corpus.
      rebuild: Read all files again, from scratch: after a change of settings, or of a file whose size and time stayed the same.
      republish: Write the results even if nothing has changed since the last run, which left them in output.
      removal_limit: Largest share of the files of the last run that may be gone, such as 0.2 for a window of seven days; 0: 0.1. More is an error: a disk may not be mounted (default 0).
      allow_removal: Continue however many files of the last run are gone.
      allow_older_state: Continue if the state is empty, or older than the results in output. Otherwise that is an error: the state may have been lost, or restored from a backup.
      fail_on: Exit with 10, after publishing, on a condition: rejects (something could not be read), damaged-files (a file could not be read, is cut short or damaged), panics (the program panicked over a document), protected-changed (a protected site has too little left of it to be compared), or with state a change since the last run: new-clusters, new-mirrors or new-suspects, or grown, merged, split, shrunk or gone instead of new. Suspects neither merge nor split, but may be unseen.
      memory: Memory that a process should stay below, 100MiB or more, by smaller tasks and more frequent garbage collection; 0: no bound, and one document may take as much as with 600MiB. Clusters of millions of pairs may need more. Results do not change, except that documents that take more than 7/10 of what exceeds 64MiB, and .zst files with a window above an eighth of it, are rejected (default 0).
      worker_memory: Memory that a worker process on a cluster should stay below; it also sizes the tasks. Default: memory; without either, tasks are sized for 2GiB, and a worker uses up to three quarters of the memory of its control group or machine (default 0).
      lanes: Number of tasks of a stage that a local runner works on at once; 0: one per core. The results are the same (default 0).
      storage_timeout: How long to retry an operation on a bucket that makes no progress, as in 30s or 10m, with growing pauses. Default: 2m.
      wait_for_lease: How long to wait at the start for another run that holds the state or the output folder, as in 10m. The lease of a dead run in a bucket ends by itself within two minutes. Without state a run only waits if this is given (default "3m").
    """
    settings = {
        "input": input,
        "preset": preset,
        "reference": reference,
        "include": include,
        "exclude": exclude,
        "format": format,
        "delimiter": delimiter,
        "quote": quote,
        "escape": escape,
        "skip_lines": skip_lines,
        "encoding": encoding,
        "records": records,
        "id_field": id_field,
        "text_field": text_field,
        "features": features,
        "feature_weight": feature_weight,
        "fingerprints": fingerprints,
        "fingerprint_encoding": fingerprint_encoding,
        "text_format": text_format,
        "html_text": html_text,
        "max_document": max_document,
        "max_expanded": max_expanded,
        "max_rejects": max_rejects,
        "tokens": tokens,
        "code": code,
        "normalize": normalize,
        "stopwords": stopwords,
        "stopwords_use": stopwords_use,
        "ignore": ignore,
        "weight": weight,
        "shingle": shingle,
        "min_shingles": min_shingles,
        "seed": seed,
        "threshold": threshold,
        "keys": keys,
        "recall": recall,
        "bands": bands,
        "rows": rows,
        "score": score,
        "hamming": hamming,
        "bits": bits,
        "blocks": blocks,
        "sketch_size": sketch_size,
        "similarity": similarity,
        "excerpt": excerpt,
        "passage": passage,
        "rarity": rarity,
        "no_quotations": no_quotations,
        "within": within,
        "across": across,
        "common": common,
        "verify": verify,
        "audit": audit,
        "output": output,
        "overwrite": overwrite,
        "emit": emit,
        "output_format": output_format,
        "layout": layout,
        "columns": columns,
        "keep": keep,
        "source_field": source_field,
        "guard": guard,
        "split": split,
        "drop": drop,
        "remove_if": remove_if,
        "variants": variants,
        "passage_words": passage_words,
        "passage_unit": passage_unit,
        "passage_copies": passage_copies,
        "passage_share": passage_share,
        "cut": cut,
        "item_fields": item_fields,
        "min_words": min_words,
        "url_field": url_field,
        "date_field": date_field,
        "site": site,
        "mirror_threshold": mirror_threshold,
        "mirror_pages": mirror_pages,
        "mirror_sites": mirror_sites,
        "rank": rank,
        "protected": protected,
        "allow": allow,
        "temp": temp,
        "resume": resume,
        "state": state,
        "add": add,
        "rebuild": rebuild,
        "republish": republish,
        "removal_limit": removal_limit,
        "allow_removal": allow_removal,
        "allow_older_state": allow_older_state,
        "fail_on": fail_on,
        "memory": memory,
        "worker_memory": worker_memory,
        "lanes": lanes,
        "storage_timeout": storage_timeout,
        "wait_for_lease": wait_for_lease,
    }
    return run_job("run", input, settings, beam, progress, paths=paths, emit=("clusters", "pairs", "removed"))
