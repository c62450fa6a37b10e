"""Compares --preset fineweb with datatrove 0.10.0, run with FineWeb's settings, on a corpus of lines of JSON with id and text.

usage: recipes.py RUNJOB CORPUS.jsonl FOLDER     (in an environment with datatrove[processing]; see README.md)

Pairs that datatrove's curve finds with certainty (0.999) are computed exactly, by its own n-grams. A removal by chance is one without a kept
document of the cluster at a similarity of 0.4 or more, which the curve finds once in a hundred.
"""

import collections
import glob
import gzip
import json
import os
import subprocess
import sys

from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.dedup import MinhashDedupSignature
from datatrove.pipeline.dedup.minhash import MinhashConfig, MinhashDedupBuckets, MinhashDedupCluster, MinhashDedupFilter
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.writers.jsonl import JsonlWriter
from datatrove.utils.hashing import HashConfig
from datatrove.utils.text import simplify_text
from datatrove.utils.word_tokenizers import load_word_tokenizer

CONFIG = MinhashConfig(hash_config=HashConfig(hash_fc="sha1", precision=64), num_buckets=14, hashes_per_bucket=8, n_grams=5)
CERTAIN = (1 - 0.001 ** (1 / 14)) ** (1 / 8)
CHANCE = 0.4


def datatrove(corpus, folder):
    """Returns the ids of the documents that datatrove keeps."""
    at = lambda name: os.path.join(folder, name)
    read = JsonlReader(os.path.dirname(corpus), glob_pattern=os.path.basename(corpus))
    steps = [
        [read, MinhashDedupSignature(output_folder=at("signatures"), config=CONFIG)],
        [MinhashDedupBuckets(input_folder=at("signatures"), output_folder=at("buckets"), config=CONFIG)],
        [MinhashDedupCluster(input_folder=at("buckets"), output_folder=at("remove"), config=CONFIG)],
        [read, MinhashDedupFilter(input_folder=at("remove")), JsonlWriter(at("kept"))],
    ]
    for number, pipeline in enumerate(steps):
        tasks = CONFIG.num_buckets if number == 1 else 1
        LocalPipelineExecutor(pipeline=pipeline, tasks=tasks, logging_dir=at(f"log/{number}")).run()
    return {json.loads(line)["id"] for path in glob.glob(at("kept/*.gz")) for line in gzip.open(path)}


def runjob(program, corpus, output, *flags):
    """Returns the clusters, and the ids of the removed documents."""
    emit = ["--emit", "clusters,pairs", "--overwrite", "--audit", "off"]
    subprocess.run([program, "run", "--input", corpus, "--output", output, *emit, *flags], check=True, stdout=subprocess.DEVNULL)
    clusters, removed = collections.defaultdict(list), set()
    for path in glob.glob(output + "/clusters-*"):
        for row in map(json.loads, open(path)):
            clusters[row["cluster"]].append(row)
            if not row["kept"]:
                removed.add(row["id"])
    return clusters, removed


def main(program, corpus, folder):
    corpus, folder = os.path.realpath(corpus), os.path.realpath(folder)
    os.makedirs(folder, exist_ok=True)
    words, tokenizer, ids = os.path.join(folder, "words.jsonl"), load_word_tokenizer("eng"), []
    grams = {}
    with open(words, "w") as out:
        for document in map(json.loads, open(corpus)):
            tokens = tokenizer.word_tokenize(simplify_text(document["text"], CONFIG.norm_config))
            ids.append(document["id"])
            grams[document["id"]] = {tuple(tokens[i : i + 5]) for i in range(len(tokens) - 4)}
            # Each word becomes a run of letters, so that both programs cut at the same places.
            spelled = " ".join("x" + token.encode().hex() for token in tokens)
            out.write(json.dumps({"id": document["id"], "text": spelled if len(tokens) > 4 else document["id"]}) + "\n")

    theirs = set(ids) - datatrove(corpus, folder)
    exact = ["--shingle", "5", "--threshold", f"{CERTAIN:.4f}"]
    certain, _ = runjob(program, words, os.path.join(folder, "exact"), *exact)
    pairs = [
        (row["a"], row["b"])
        for path in glob.glob(os.path.join(folder, "exact/pairs-*"))
        for row in map(json.loads, open(path))
    ]
    plain = ["--shingle", "5", "--bands", "14", "--rows", "8", "--verify", "none"]
    print(f"{len(ids)} documents; datatrove removes {len(theirs)}; {len(pairs)} pairs from {CERTAIN:.3f} on\n")
    print("| flags | removed | by both | agreement | certain pairs found | removed by chance |\n|---|---|---|---|---|---|")
    for name, path, flags in [
        ("bands alone", corpus, plain),
        ("`--preset fineweb`", corpus, ["--preset", "fineweb"]),
        ("the same on datatrove's words", words, ["--preset", "fineweb", "--normalize", "none"]),
    ]:
        clusters, removed = runjob(program, path, os.path.join(folder, "ours"), *flags)
        of = {row["id"]: cluster for cluster, rows in clusters.items() for row in rows}
        found = sum(a in of and of[a] == of.get(b) for a, b in pairs)
        chance = 0
        for rows in clusters.values():
            kept = [grams[row["id"]] for row in rows if row["kept"]]
            for row in rows:
                own = grams[row["id"]]
                chance += not row["kept"] and max(len(own & k) / max(len(own | k), 1) for k in kept) < CHANCE
        both = len(removed & theirs)
        print(f"| {name} | {len(removed)} | {both} | {both / len(removed | theirs):.3f} | {found} of {len(pairs)} | {chance} |")


    flags = ["--preset", "fineweb", "--normalize", "none", "--seed"]
    (_, one), (_, other) = (runjob(program, words, os.path.join(folder, "ours"), *flags, seed) for seed in "12")
    print(f"\nTwo seeds of runjob on datatrove's words agree in {len(one & other) / len(one | other):.3f}.")


if __name__ == "__main__":
    main(*sys.argv[1:4])
