# Made from the settings of runjob by UPDATE=1 go test ./cmd/runjob -run TestPython: change cmd/runjob/settings.go.
from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Callable, Union

from ._job import run_job
from ._results import Results

Text = Union[str, PathLike]  # a path for names of files


def run(
    input: Sequence[Text] | Text,
    output: Text | None = None,
    *,
    preset: Text | None = None,
    reference: Sequence[Text] | Text | None = None,
    include: Sequence[Text] | Text | None = None,
    exclude: Sequence[Text] | Text | None = None,
    format: Text | None = None,
    delimiter: Text | None = None,
    quote: Text | None = None,
    escape: Text | None = None,
    skip_lines: int | str | None = None,
    encoding: Text | None = None,
    id_field: Text | None = None,
    text_field: Text | None = None,
    features: Text | None = None,
    feature_weight: int | str | None = None,
    text_format: Text | None = None,
    html_text: Text | None = None,
    max_document: int | str | None = None,
    max_expanded: int | str | None = None,
    max_rejects: int | str | None = None,
    tokens: Text | None = None,
    code: int | str | None = None,
    normalize: int | str | None = None,
    stopwords: Text | None = None,
    stopwords_use: Text | None = None,
    ignore: Sequence[Text] | Text | None = None,
    weight: Mapping[str, float] | None = None,
    shingle: int | str | None = None,
    min_shingles: int | str | None = None,
    seed: int | str | None = None,
    threshold: float | None = None,
    keys: Text | None = None,
    recall: float | None = None,
    bands: int | str | None = None,
    rows: int | str | None = None,
    score: Text | None = None,
    hamming: int | str | None = None,
    bits: int | str | None = None,
    blocks: Sequence[Text] | Text | None = None,
    sketch_size: int | str | None = None,
    similarity: Text | None = None,
    excerpt: int | str | None = None,
    passage: int | str | None = None,
    rarity: float | None = None,
    no_quotations: bool | None = None,
    within: Text | None = None,
    across: Text | None = None,
    common: Text | None = None,
    verify: Text | None = None,
    audit: Text | None = None,
    overwrite: bool | None = None,
    emit: Sequence[Text] | Text | None = None,
    output_format: Text | None = None,
    layout: Text | None = None,
    keep: Text | None = None,
    source_field: Text | None = None,
    guard: Sequence[Text] | Text | None = None,
    split: Text | None = None,
    drop: Text | None = None,
    passage_words: int | str | None = None,
    passage_unit: Text | None = None,
    passage_copies: int | str | None = None,
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
    allow_removal: bool | None = None,
    allow_older_state: bool | None = None,
    fail_on: Sequence[Text] | Text | None = None,
    memory: int | str | None = None,
    worker_memory: int | str | None = None,
    lanes: int | str | None = None,
    storage_timeout: int | str | None = None,
    beam: Mapping[str, Any] | None = None,
    progress: bool | Callable[[dict], None] | None = None,
) -> Results:
    """Finds the near-duplicates of a corpus, and returns the results.

    A setting that is None has its default. Rows are written as Parquet unless output_format says otherwise, and
    results can be had only of what emit names.

    Settings of the call:
      output: Folder for the results, on the disk or in a bucket; must be empty or new, see overwrite. Without it the results
        are in a temporary folder, which goes when nobody holds the results any more.
      beam: Flags of Apache Beam, such as {"runner": "flink", "endpoint": "host:8099"}.
      progress: Whether to show how far the job is: in a notebook or on a terminal if it is None. A function gets each message
        as a dict.

    Raises UsageError, InputError, StorageError, InternalError or ConditionMet, all of them RunjobError.

    Settings of runjob:
      input: File, folder or quoted pattern to read, on the disk, in a bucket (gs://, s3://), on the web (https://) or in a data set of the hub (hf://); may be repeated. A folder stands for all its files of the format, plain or compressed, and so does an archive of tar or zip; ** matches any number of folders.
      preset: Settings for a kind of corpus, which hold where nothing else is given: corpus (texts to train on, of which few good ones are to be lost), web (pages of the web), code (program code), plagiarism (copied and rewritten passages), titles (titles, headlines and other short texts), mirrors (mirror sites, as 'runjob mirrors' looks for them). See docs/reference/presets.md.
      reference: Reference corpus, given like input; may be repeated. Input documents that are near-duplicates of reference documents are removed. Reference documents are never removed, and not compared with each other.
      include: Read only files below folders and patterns that match this pattern, as in include '*.py' or 'src/**'; may be repeated. Without a slash it matches the name of a file or folder at any depth; what is in such a folder matches, too.
      exclude: Pass over files that match this pattern, given like include; may be repeated.
      format: Format of all input files: jsonl, csv, tsv, parquet, warc (web archives), text (a file is a document), html (a file is a web page), lines (a line is a document), json (an array of objects, or objects on several lines each), arrow (files and streams of Arrow, Feather, data sets that were saved), bulk (bulk requests of Elasticsearch: a line of an action, and a line of its document), or auto (chosen for each file by its content and name) (default "auto").
      delimiter: What stands between the fields of CSV: a character, or tab; default: the comma, semicolon, tab or | that the first record of a file shows.
      quote: What encloses a field of CSV or TSV that has a delimiter or a line end in it: a character, or none; default: the double quote in CSV, and none in TSV.
      escape: What takes its meaning from a quote or delimiter behind it in CSV and TSV, such as \\; default: nothing does, but \\" is read as a quote where the field goes on.
      skip_lines: How many lines stand before the header of CSV and TSV, such as a title. Copies do not have them (default 0).
      encoding: Encoding of texts, CSV and lines without a byte order mark, such as windows-1252 or shift_jis; default: UTF-8, or what a file looks like. JSON, too, if it is given.
      id_field: Field of a record that holds its id, a string or a number; meta.id is the field id in the field meta. A record without an id is named by its place, path:position (default "id").
      text_field: Field of a record that holds its text, such as text or content.body (default "text").
      features: Compare features instead of texts. This field holds the features, which another program has found: an array of strings or 64-bit hashes, each alone or with its weight as in [["a",2],7], or an object from features to weights.
      feature_weight: Compare features and texts: the features of features stand beside the text, and each counts as N of its shingles. A document may have none. 0: features stand for the text (default 0).
      text_format: How the text in a field of a record is written: plain, or html (a web page; its text is taken as of files that are pages) (default "plain").
      html_text: Text of web pages: all, or main (without menus, headers, footers, forms and blocks of links) (default "all").
      max_document: Longest text; longer ones are rejects. So are documents that become too much for memory, however short they are (default 67108864).
      max_expanded: Fail if all compressed files together expand to more than this; 0: no limit (default 0).
      max_rejects: Fail if more records than this cannot be read; -1: no limit (default -1).
      tokens: What a token is: script (words; in scripts without spaces between words, each Han and Kana character, and runs of characters of Thai, Lao, Khmer and Myanmar), single (words, and each character of all these scripts), words (words only), chars (every letter and digit, for short strings such as names of users) (default "script").
      code: Texts are program code: leave out comments. LANG is the language, or auto (found for each text), and then, separated by commas: names (names, numbers and strings are alike, whatever they say; punctuation counts), keep-comments, only-comments. off: as any other text (default "off").
      normalize: What to do to texts first, separated by commas: nfc or nfkc (Unicode forms), skeleton (letters become those they look like, and unseen characters go), fold (full case folding), punctuation (don't becomes dont) (default "none").
      stopwords: List of stop words, one a line.
      stopwords_use: How to use stop words: remove (they are removed from texts), require (only shingles that contain one count; menus and advertisements have few) (default "remove").
      ignore: Base texts, given like input, of any format; may be repeated. What stands in them, such as licences, task sheets and the headers of editors, is left out of all documents.
      weight: Use these text fields instead of text_field, as in title=3,text=1. A document has the shingles of all of them; the weights count for its SimHash.
      shingle: How many adjacent tokens make a shingle (default 3).
      min_shingles: Documents with fewer distinct shingles are near-duplicates only of documents with the same shingles: for verses, headlines and titles (default 0).
      seed: Key of all hashes. With a number that nobody else knows, nobody can make documents that collide or are found too often. random draws one, and summary.json has it; with a state, later runs take the number of the first. A job that is repeated or resumed needs the number itself (default 0).
      threshold: Least Jaccard similarity of two near-duplicates: the number of shared shingles over the number of distinct shingles of the two (default 0.8).
      keys: How to find pairs that may be similar: exact (by their rarest shingles: no pair is missed), all (every pair is compared, for corpora of some thousand documents), minhash (by bands of their MinHash signatures: one pair in some hundreds or thousands is missed), simhash (by their SimHash fingerprints: no pair within hamming bits is missed), or only exact duplicates, in a fraction of the time: same-words (texts with the same words in the same order), same-bytes (texts with the same bytes). auto: exact or all, whichever is cheaper; minhash with recall below 1, with bands or rows, and with verify other than exact; simhash with score hamming (default "auto").
      recall: Least probability to find a pair whose similarity is exactly the threshold. More similar pairs are found more surely. A value below 1 asks for MinHash, and sets its bands and rows. Default: 1, or 0.99 with keys minhash.
      bands: Number of MinHash bands; 0: from threshold and recall (default 0).
      rows: Number of MinHash rows in a band; 0: from threshold and recall (default 0).
      score: What makes two documents near-duplicates: jaccard (the threshold), hamming (their SimHash fingerprints differ in at most hamming bits); auto: hamming with keys simhash, else jaccard (default "auto").
      hamming: With keys simhash, largest number of bits in which SimHash fingerprints may differ (default 3).
      bits: Length of SimHash fingerprints, for keys simhash and in sketches: 32, or a multiple of 64 up to 1024 (default 64).
      blocks: With keys simhash, how many blocks to cut fingerprints into, such as 6, or 4,4 for a second cut behind the first: more tables with fewer documents under a key. The pairs are the same; 'runjob plan' lists what is of use. Default: from bits and hamming.
      sketch_size: Hashes in the sketch of a document, the smallest of its set, from 32 to 4096: for verify sketch and none, and in the output sketches. Four times as many halve the error of an estimate. Longer sketches take more disk. Default: 128.
      similarity: What to look for: jaccard (documents that are mostly the same) or containment (copied passages: pairs where one document contains much of the other, or an excerpt of it, and where; threshold is then the number of shared shingles over the shingles of the document with fewer) (default "jaccard").
      excerpt: With containment, length in words of the shortest copied passage that makes a pair even below the threshold; 0: none does (default 50).
      passage: With containment, words in the passages under which documents meet: those with N+3 words in a row in common are compared for certain; 0: 6. Fewer words find more of what was rewritten, and take more time (default 0).
      rarity: With containment, least rarity of a pair, and a column of pairs to sort by: each shared shingle counts 1 if no other document has it, 1/2 with one other, and so on; 0: no such column (default 0).
      no_quotations: With containment, ignore text between quotation marks, and lines that begin with >.
      within: Compare only documents that share the value of this field, as in within lang. Documents without it are compared with each other.
      across: Compare only documents that differ in the value of this field, as in across source: what do sources share? Documents without it are not compared with each other.
      common: Leave out shingles that more than N documents have besides enough text of their own: menus, licences, the template of a site. N is a number, a share of the documents as in 2%, auto (by the size of the corpus), or off. Pairs then say how alike documents are without these, and as a whole.
      verify: How a pair is verified: exact (by the full shingle sets of both documents), sketch (by an estimate from sketch_size hashes each, which takes less disk), none (a common key is enough) (default "exact").
      audit: Measure the recall on a sample of at most N documents; auto: 5000 if keys may miss a pair and sets are compared exactly, otherwise none; off: no audit (default "auto").
      overwrite: Replace the results of an earlier job in the output folder. Other files in it are left alone.
      emit: What to write: auto (clusters; pairs with containment), clusters, pairs, unique (the records that stay), annotated (all records, each with cluster, cluster_size, kept and kept_id), removed, sketches (bottom-k and SimHash fingerprints of every document), trimmed (all records, without passages that stand elsewhere before), passages (what trimmed lacks, and where it stands first), mirrors (pairs of sites), sites, suspects (copies of protected sites). Rejects, summary and manifest always are (default ["auto"]).
      output_format: jsonl, jsonl.zst, jsonl.gz or parquet (typed columns, see docs/reference/files.md). unique, annotated and trimmed keep the format of the input (default "jsonl").
      layout: How unique, annotated and trimmed are laid out: shards (numbered files, one for each input file) or tree (a folder each, in which the folders and files of the input have their names, so that the results load as the input does) (default "shards").
      keep: Which documents of a cluster to keep rather than others: first, last (in document order), longest, shortest (text), max:FIELD, min:FIELD (a number, or a date as in ISO 8601), rank:FILE (a list of sources or sites, one a line, the most preferred first; see source_field) (default "first").
      source_field: Field of a record that holds its source, such as its site. How much of each source is in the others, and how much of it goes, is then counted by this field, not by file or folder. With keep rank:FILE the list has values of the field, or sites if these are addresses; without this flag it has names of files and folders.
      guard: Exit with 10, after all is published, if too much goes: removes:PERCENT (more than this share of a source is removed), cluster:PERCENT (one cluster has more than this share of all documents).
      split: What a cluster is: component (documents joined by chains of similar ones) or star (a kept document and the documents removed for it) (default "component").
      drop: What goes of clusters: copies (documents that are like a kept one), clusters (all their documents, so that only what nothing is like stays) or reference (only documents that are like one of reference: copies within the input stay) (default "copies").
      passage_words: With emit trimmed, words of a passage: a word is cut if it lies in this many words in a row that stood before, in an earlier document or earlier in the same one. The first occurrence stays (default 50).
      passage_unit: What a passage is: words (any passage_words in a row), lines or paragraphs (whole ones, with at least as many words), or sentences (three in a row, with at least as many words together) (default "words").
      passage_copies: Cut only passages that stand at least this many times in the corpus (default 2).
      min_words: A document that has fewer words left after a cut goes as a whole; 0: none does (default 1).
      url_field: Field of a record that holds the address of a page; web archives have url. A file that is one document has its path as its address. Without a scheme the address begins with the site, as in site/page or site:page (default "url").
      date_field: Field of a record that holds the date of a page, as in ISO 8601; web archives have date. It says which site was seen first (default "date").
      site: What a site is: host, domain (registered domain, such as example.co.uk), or prefix:N (host and the first N folders of the path) (default "host").
      mirror_threshold: Least score of two mirrors: how much of one site, of its pages and of their text by rarity, is on the other (default 0.5).
      mirror_pages: Least number of pages that two mirrors have in common (default 3).
      mirror_sites: Pages that more sites than this have, such as licences and error pages, say nothing; the fewer sites have a page, the more it weighs (default 100).
      rank: List of sites, RANK,SITE a line as Tranco has it, or a site a line. The best ranked site of a group is its primary.
      protected: List of protected sites, one a line, with all hosts below. Sites that copy them are suspects.
      allow: List of mirrors that are no suspects: a site and its mirror a line, or a mirror alone.
      temp: Folder for temporary files, some 1 to 2 bytes for each byte of text; default: beside the output, or on the disk if a local job writes to a bucket. Workers of a cluster must share it.
      resume: If the job dies, keep what it has done, and go on from there when it is run again with this flag and nothing else has changed. It takes half as much again of temporary files.
      state: Folder, on the disk or in a bucket, that keeps what the next run need not do again. Only new and changed files are then read; the results are those of a run over everything. What has changed since the last run is an output, changes.
      add: Keep the files of the last run in the corpus that input does not name; without it input is the whole corpus.
      rebuild: Read all files again: after a change of settings, or of a file that kept its size and time.
      republish: Make the results anew even if nothing has changed since the last run, which has left them in output.
      allow_removal: Go on if more than a tenth of the files of the last run are gone, which is otherwise taken for a fault, such as a disk that is not mounted.
      allow_older_state: Go on if the state is empty, or older than the results in output, which is otherwise taken for a state that was lost or restored from a backup.
      fail_on: Exit with 10 if this is so, after all is published: rejects (anything could not be read), damaged-files (a file could not be read at all, is cut short or damaged), panics (the program panicked over a document), or with a state a change since the last run: new-clusters, new-mirrors or new-suspects, or with another kind of change in place of new: grown, merged, split, shrunk or gone. Suspects neither merge nor split, but may be unseen. Or protected-changed: a protected site had too little left to tell who copies it.
      memory: Memory that a process aims to stay below, 100MiB or more: tasks become smaller, and memory is cleared more often. Clusters of millions of pairs may need more. 0: no aim, and one document may take as much as with 600MiB. The results are the same, except that documents that take more than 7/10 of it beside 64MiB are rejects, and .zst files with a window above an eighth of it (default 0).
      worker_memory: The same for a worker process on a cluster, which cuts the tasks of the job, too. Default: memory; without it tasks are cut for 2GiB, and a worker aims at three quarters of what its control group, or its machine, may have (default 0).
      lanes: How many tasks of a stage a local runner works on at a time; 0: one a core. The results are the same (default 0).
      storage_timeout: How long an operation on a bucket goes on that makes no progress, as in 30s or 10m: it is tried again, with growing pauses. Default: 2m.
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
        "id_field": id_field,
        "text_field": text_field,
        "features": features,
        "feature_weight": feature_weight,
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
        "keep": keep,
        "source_field": source_field,
        "guard": guard,
        "split": split,
        "drop": drop,
        "passage_words": passage_words,
        "passage_unit": passage_unit,
        "passage_copies": passage_copies,
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
        "allow_removal": allow_removal,
        "allow_older_state": allow_older_state,
        "fail_on": fail_on,
        "memory": memory,
        "worker_memory": worker_memory,
        "lanes": lanes,
        "storage_timeout": storage_timeout,
    }
    return run_job(settings, beam, progress)
