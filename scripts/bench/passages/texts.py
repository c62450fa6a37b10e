"""Joins the texts of JSON lines for a suffix array, cuts its ranges out, and judges what any tool leaves.

texts.py join CORPUS TEXTS         writes the texts one behind the other
texts.py cut TEXTS RANGES OUT      writes JSON lines with the texts without the ranges that 'collect' prints
texts.py judge CORPUS RESULT...    prints the share of words that are cut, the share of the words left that lie in 50 words which stand
                                   before in what is left, and the share of different runs of 8 words of the corpus that stand nowhere any more
"""

import gzip
import json
import re
import sys

import numpy as np

WORD = re.compile(r"[^\W_]+")


def texts(paths):
    for path in paths:
        for line in gzip.open(path, "rb") if path.endswith(".gz") else open(path, "rb"):
            yield json.loads(line)["text"]


def join(corpus, out):
    with open(out, "wb") as to:
        for number, text in enumerate(texts([corpus])):
            to.write(b"\xff\xff" + number.to_bytes(4, "little") + text.encode("utf-8", "replace"))


def cut(joined, ranges, out):
    data, kept = open(joined, "rb").read(), []
    at = 0
    lines = open(ranges, encoding="utf-8").read().split("out\n", 1)[-1].split("\n")
    for begin, end in (map(int, line.split()) for line in lines if re.fullmatch(r"\d+ \d+", line)):
        kept.append(data[at:begin] + re.sub(rb"(?s)(\xff\xff....)|.", rb"\1", data[begin:end]))
        at = end
    whole = b"".join(kept) + data[at:]
    with open(out, "w", encoding="utf-8") as to:
        for text in re.split(rb"(?s)\xff\xff....", whole)[1:]:
            to.write(json.dumps({"text": text.decode("utf-8", "ignore")}) + "\n")


def runs(all_texts, length):
    """The hashes of all runs of words of some length, and where each begins among the words."""
    numbers, words, starts = {}, [], []
    for text in all_texts:
        own = [numbers.setdefault(word, hash(word)) for word in WORD.findall(text.lower())]
        starts.append(np.arange(len(words), len(words) + max(len(own) - length + 1, 0)))
        words += own
    words, starts = np.array(words, dtype=np.int64).astype(np.uint64), np.concatenate(starts)
    hashes = np.zeros(len(starts), dtype=np.uint64)
    for i in range(length):
        hashes = hashes * np.uint64(0x9E3779B97F4A7C15) + words[starts + i]
        hashes ^= hashes >> np.uint64(29)
    return len(words), hashes, starts


def judge(corpus, *result):
    before, eight, _ = runs(texts([corpus]), 8)
    _, eight_left, _ = runs(texts(result), 8)
    left, hashes, starts = runs(texts(result), 50)
    _, first = np.unique(hashes, return_index=True)
    again = np.ones(len(hashes), dtype=bool)
    again[first] = False
    covered = np.zeros(left + 50, dtype=np.int64)
    np.add.at(covered, starts[again], 1)
    np.add.at(covered, starts[again] + 50, -1)
    eight = np.unique(eight)
    lost = 1 - np.isin(eight, np.unique(eight_left)).mean()
    print(f"cut {1 - left / before:.4f}\tleft that occurs earlier {(np.cumsum(covered) > 0).sum() / left:.4f}\tlost {lost:.4f}")


{"join": join, "cut": cut, "judge": judge}[sys.argv[1]](*sys.argv[2:])
