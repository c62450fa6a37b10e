"""Compares what a program found with what was planted: judge.py TRUTH.tsv < pairs, a document and an item a line, apart by a tab.

A program that only tells documents writes no item.
"""
import collections
import sys

truth = {}
for line in open(sys.argv[1], encoding="utf-8"):
    document, item, kind = line.rstrip("\n").split("\t")
    truth[document] = (item, kind)
found = collections.defaultdict(set)
for line in sys.stdin:
    document, _, item = line.rstrip("\n").partition("\t")
    found[document].add(item)
all_of, hit = collections.Counter(), collections.Counter()
for document, (item, kind) in truth.items():
    all_of[kind] += 1
    hit[kind] += item in found[document] or "" in found[document]
for kind, n in all_of.items():
    print(f"{kind:12} {hit[kind]:4} of {n}")
right = sum(1 for document in found if document in truth)
little = [kind for kind in all_of if kind not in ("edits 15 %", "edits 20 %")]
print(f"recall, up to 10 % edits: {sum(hit[k] for k in little) / sum(all_of[k] for k in little):.4f}")
print(f"documents found: {len(found)}, of which planted: {right} (precision {right / max(len(found), 1):.4f})")
