"""What scripts/bench runs of peers that are packages of Python, and how results are read that name no documents.

    python3 peers.py NAME CORPUS.jsonl

It works in the current folder. A library leaves found.tsv: two ids a row for pairs, an id and a cluster for clusters. A
NAME-found reads what a program left, and is not part of what is measured.
"""

import glob
import gzip
import json
import sys

THRESHOLD, HASHES, BANDS, ROWS = 0.8, 128, 16, 8


def documents(corpus):
    import orjson

    with open(corpus, "rb") as lines:
        for line in lines:
            document = orjson.loads(line)
            yield document["id"], document["text"]


def shingled(corpus):
    """Yields the documents that have words, with their sets of three adjacent words."""
    import regex

    token = regex.compile(r"[\p{L}\p{Nd}][\p{L}\p{Nd}\p{M}]*")
    for name, text in documents(corpus):
        words = token.findall(text.lower())
        if words:
            count = max(1, len(words) - 2)
            yield name, list({" ".join(words[i : i + 3]) for i in range(count)})


def batches(items, size):
    names, values = [], []
    for name, value in items:
        names.append(name)
        values.append(value)
        if len(names) == size:
            yield names, values
            names, values = [], []
    if names:
        yield names, values


def write(rows):
    with open("found.tsv", "w", encoding="utf-8") as out:
        for a, b in rows:
            out.write(f"{a}\t{b}\n")


def gaoya(corpus):
    from gaoya.minhash import MinHashStringIndex

    index = MinHashStringIndex(
        hash_size=32, jaccard_threshold=THRESHOLD, num_bands=BANDS, band_size=ROWS, analyzer="word", lowercase=True, ngram_range=(3, 3)
    )

    def pairs():
        all_names = []
        # Each batch is looked up after it was inserted: otherwise the pairs within it would be missing.
        for names, texts in batches(documents(corpus), 2000):
            numbers = list(range(len(all_names), len(all_names) + len(names)))
            all_names += names
            index.par_bulk_insert_docs(numbers, texts)
            for number, similar in zip(numbers, index.par_bulk_query(texts)):
                for other in similar:
                    if other < number:
                        yield all_names[other], all_names[number]

    write(pairs())


def rensa(corpus):
    from rensa import RMinHash, RMinHashLSH

    index = RMinHashLSH(threshold=THRESHOLD, num_perm=HASHES, num_bands=BANDS)

    def pairs():
        all_names, signatures = [], []
        for names, sets in batches(shingled(corpus), 5000):
            for name, signature in zip(names, RMinHash.from_token_sets(sets, HASHES, 42)):
                for other in index.query(signature):
                    if signatures[other].jaccard(signature) >= THRESHOLD:
                        yield all_names[other], name
                index.insert(len(signatures), signature)
                signatures.append(signature)
                all_names.append(name)

    write(pairs())


def fastsketchlsh(corpus):
    import numpy
    from FastSketchLSH import LSH, FastSimilaritySketch

    sketch = FastSimilaritySketch(size=HASHES, seed=42)
    all_names, rows = [], []
    for names, sets in batches(shingled(corpus), 5000):
        all_names += names
        rows.append(sketch.batch(sets))
    matrix = numpy.ascontiguousarray(numpy.vstack(rows))
    index = LSH(num_perm=HASHES, num_bands=BANDS)
    index.insert(matrix)
    others, starts = (numpy.asarray(array, dtype=numpy.int64) for array in index.query(matrix, format="csr"))
    numbers = numpy.repeat(numpy.arange(len(all_names)), numpy.diff(starts))
    before = others < numbers
    numbers, others = numbers[before], others[before]

    def pairs():
        for at in range(0, len(numbers), 200_000):
            a, b = others[at : at + 200_000], numbers[at : at + 200_000]
            for i in numpy.flatnonzero((matrix[a] == matrix[b]).mean(axis=1) >= THRESHOLD):
                yield all_names[a[i]], all_names[b[i]]

    write(pairs())


def datasketch(corpus):
    import xxhash
    from datasketch import MinHash, MinHashLSH

    index = MinHashLSH(num_perm=HASHES, params=(BANDS, ROWS))
    empty = MinHash(num_perm=HASHES, hashfunc=xxhash.xxh32_intdigest)

    def pairs():
        signatures = {}
        for name, shingles in shingled(corpus):
            signature = empty.copy()
            signature.update_batch([shingle.encode() for shingle in shingles])
            for other in index.query(signature):
                if signatures[other].jaccard(signature) >= THRESHOLD:
                    yield other, name
            index.insert(name, signature)
            signatures[name] = signature

    write(pairs())


def data_juicer(corpus):
    from data_juicer.ops.deduplicator.document_minhash_deduplicator import DocumentMinhashDeduplicator
    from datasets import load_dataset

    method = DocumentMinhashDeduplicator(
        window_size=3, num_permutations=HASHES, jaccard_threshold=THRESHOLD, num_bands=BANDS, num_rows_per_band=ROWS
    )
    data = load_dataset("json", data_files=corpus, split="train").map(method.compute_hash, num_proc=2)
    # It keeps the first document of a cluster, and shows the clusters that it is asked for.
    _, clusters = method.process(data, show_num=len(data))
    write((document["id"], cluster) for cluster, members in clusters.items() for document in members)


def text_dedup(corpus):
    import runpy

    with open("config.toml", "w") as config:
        config.write(f"""
[input]
input_type = "local_files"
file_type = "json"
[input.read_arguments]
path = "json"
data_files = {json.dumps(corpus)}
split = "train"
[algorithm]
algorithm_name = "minhash"
text_column = "text"
num_perm = {HASHES}
bands = {BANDS}
rows = {ROWS}
threshold = {THRESHOLD}
ngram_size = 3
min_length = 0
num_proc = 2
check_false_positive = true
[output]
output_dir = "kept"
save_clusters = true
skip_filtering = true
[debug]
enable_profiling = false
""")
    sys.argv = ["text_dedup.minhash"]
    runpy.run_module("text_dedup.minhash", run_name="__main__")


def text_dedup_found(corpus):
    import pickle

    names = [json.loads(line)["id"] for line in open(corpus, "rb")]
    with open("kept/clusters.pickle", "rb") as file:
        write((names[row], cluster) for row, cluster in pickle.load(file).items())


def datatrove(_):
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.dedup import MinhashDedupSignature
    from datatrove.pipeline.dedup.minhash import MinhashConfig, MinhashDedupBuckets, MinhashDedupCluster, MinhashDedupFilter
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.writers.jsonl import JsonlWriter
    from datatrove.utils.hashing import HashConfig
    from datatrove.utils.typeshelper import Languages

    config = MinhashConfig(hash_config=HashConfig(precision=64), num_buckets=14, hashes_per_bucket=ROWS, n_grams=3)
    english = Languages.english

    def run(step, tasks, pipeline):
        LocalPipelineExecutor(pipeline=pipeline, tasks=tasks, workers=2, start_method="fork", logging_dir=f"log/{step}").run()

    run(1, 2, [JsonlReader("shards"), MinhashDedupSignature(output_folder="signatures", config=config, language=english)])
    run(2, 14, [MinhashDedupBuckets(input_folder="signatures", output_folder="buckets", config=config, lines_to_buffer=-1)])
    run(3, 1, [MinhashDedupCluster(input_folder="buckets", output_folder="remove", config=config, save_cluster_id=True, save_cluster_size=True)])
    removed = MinhashDedupFilter(
        input_folder="remove", exclusion_writer=JsonlWriter("removed"), load_cluster_ids=True, load_cluster_sizes=True
    )
    run(4, 2, [JsonlReader("shards"), removed, JsonlWriter("kept")])


def datatrove_found(_):
    def clusters():
        for path in glob.glob("kept/*.gz") + glob.glob("removed/*.gz"):
            for line in gzip.open(path):
                document = json.loads(line)
                cluster = document.get("metadata", {}).get("minhash_cluster_id", -1)
                if cluster != -1:
                    yield document["id"], cluster

    write(clusters())


def duplodocus_found(_):
    def clusters():
        for path in glob.glob("out/**/*.jsonl*", recursive=True):
            for line in open(path, "rb"):
                document = json.loads(line)
                cluster = document.get("mh") or (document.get("metadata") or {}).get("mh")
                if cluster and cluster.get("cc_size", 1) > 1:
                    yield document["id"], cluster["cc_id"]

    write(clusters())


def fastdedup_found(corpus):
    names = [json.loads(line)["id"] for line in open(corpus, "rb")]
    rows = (json.loads(line) for line in open("out.removed.jsonl", "rb"))
    write((names[row["duplicate_of_row_id"]], names[row["row_id"]]) for row in rows)


if __name__ == "__main__":
    globals()[sys.argv[1].replace("-", "_")](sys.argv[2])
