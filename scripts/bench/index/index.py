"""Measures lshbands.Index next to the MinHash indexes of gaoya and datasketch, on generated texts, in one run.

    pip install datasketch gaoya
    python3 scripts/bench/index/index.py [documents] [threshold]

Every index gets the same texts of 100 words, a tenth of which are near-copies, and is then asked for each text. All
take 3-grams of words and 128 hashes, but the exact modes. The CPU seconds are those of one core, with the hashing of
the texts. Pairs are those found below the asked text, the true ones are computed from the definition.
"""

import os
import random
import resource
import subprocess
import sys
import tempfile


def texts(count):
    draw = random.Random(7)
    words = [f"w{i:x}" for i in range(20_000)]
    made = []
    for i in range(count):
        if i % 10 == 9:
            copy = made[-draw.randrange(1, 9)].split()
            for _ in range(draw.randrange(0, 8)):
                copy[draw.randrange(len(copy))] = draw.choice(words)
            made.append(" ".join(copy))
        else:
            made.append(" ".join(draw.choices(words, k=100)))
    return made


def shingles(text):
    words = text.split()
    return {" ".join(words[i : i + 3]) for i in range(len(words) - 2)}


def cpu():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def measure(name, made, add, ask):
    begun = cpu()
    for i, text in enumerate(made):
        add(i, text)
    added = cpu()
    pairs = sum(sum(1 for other in ask(text) if other < i) for i, text in enumerate(made))
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(f"{name}\t{added - begun:.2f}\t{cpu() - added:.2f}\t{pairs}\t{size}", flush=True)


def gaoya(made, threshold):
    from gaoya.minhash import MinHashStringIndex

    index = MinHashStringIndex(32, threshold, None, None, 128, "word", True, (3, 3))
    measure("gaoya", made, index.insert_document, index.query)


def datasketch(made, threshold):
    from datasketch import MinHash, MinHashLSH

    index = MinHashLSH(threshold=threshold, num_perm=128)

    def signature(text):
        m = MinHash(num_perm=128)
        m.update_batch([s.encode() for s in shingles(text)])
        return m

    measure("datasketch", made, lambda i, text: index.insert(i, signature(text)), lambda t: index.query(signature(t)))


def truth(made, threshold):
    """Prints the true number of pairs, which share a shingle and are compared."""
    having, sets, pairs = {}, [shingles(t) for t in made], 0
    for i, mine in enumerate(sets):
        others = {j for s in mine for j in having.get(s, ())}
        pairs += sum(len(mine & sets[j]) / len(mine | sets[j]) >= threshold for j in others)
        for s in mine:
            having.setdefault(s, []).append(i)
    print(f"true\t\t\t{pairs}\t", flush=True)


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    threshold = float(sys.argv[2]) if len(sys.argv) > 2 else 0.8
    made = texts(count)
    print("index\tadd, CPU s\tquery, CPU s\tpairs\tMiB", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        program, lines = os.path.join(folder, "ours"), os.path.join(folder, "texts")
        subprocess.run(["go", "build", "-o", program, "./scripts/bench/index"], check=True)
        with open(lines, "w") as out:
            out.writelines(text + "\n" for text in made)
        for mode in ["estimates", "exact", "complete"]:
            subprocess.run([program, mode, str(threshold), lines], check=True, env=dict(os.environ, GOMAXPROCS="1"))
    for peer in [truth, gaoya, datasketch]:
        process = os.fork()
        if process == 0:
            try:
                peer(made, threshold)
            except ImportError as missing:
                print(f"{peer.__name__}\t{missing}", flush=True)
            os._exit(0)
        os.waitpid(process, 0)


main()
