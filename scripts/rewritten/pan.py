"""Makes a corpus of PAN's text alignment task, and says which of its pairs a job has found:

    python3 scripts/rewritten/pan.py FOLDER corpus.jsonl
    runjob run --input corpus.jsonl --output out --preset plagiarism
    python3 scripts/rewritten/pan.py FOLDER out

FOLDER is pan13-text-alignment-test-corpus2-2013-01-21 (Potthast and others, 2013), from https://pan.webis.de or a public repository that
has it, such as github.com/ArijanaBrlek/PlagiarismDetection (data/test_corpus). Its folders have a pair of a suspicious document and
a source in each row of a file `pairs`, and what was copied in a file of XML for each pair.

A record of the corpus is a text. All are in one job, so documents are compared with all others and not only with those of their pairs.
For each folder the script prints how many of its pairs have a row, apart for pairs with and without a copied passage. A pair without one
that has a row is false. Of identical documents one has rows with others; they stand for all.
"""
import collections
import glob
import json
import os
import sys


def pairs_of(folder):
    """The kind of each pair of names, and whether a passage of it was copied."""
    pairs = {}
    for path in sorted(glob.glob(folder + '/0[1-5]-*/pairs')):
        kind = os.path.basename(os.path.dirname(path))
        for line in open(path, encoding='utf-8'):
            suspicious, source = (os.path.splitext(name)[0] for name in line.split())
            with open(f'{os.path.dirname(path)}/{suspicious}-{source}.xml', encoding='utf-8', errors='replace') as described:
                pairs[suspicious, source] = (kind, 'name="plagiarism"' in described.read())
    return pairs


def make(folder, corpus):
    pairs = pairs_of(folder)
    texts = {('susp', a) for a, _ in pairs} | {('src', b) for _, b in pairs}
    with open(corpus, 'w', encoding='utf-8') as out:
        for place, name in sorted(texts):
            with open(f'{folder}/{place}/{name}.txt', encoding='utf-8-sig', errors='replace', newline='') as text:
                out.write(json.dumps({'id': name, 'text': text.read()}, ensure_ascii=False) + '\n')
    print(f'{len(texts)} documents, {len(pairs)} pairs')


def judge(folder, output):
    first, rows = {}, set()
    for path in sorted(glob.glob(output + '/pairs-*.jsonl')):
        for line in open(path, encoding='utf-8'):
            row = json.loads(line)
            rows.add(frozenset((row['a'], row['b'])))
            if row.get('identical'):
                first[row['b']] = row['a']
    all_of, found = collections.Counter(), collections.Counter()
    for pair, kind in pairs_of(folder).items():
        stand = frozenset(first.get(name, name) for name in pair)
        all_of[kind] += 1
        found[kind] += len(stand) == 1 or stand in rows or frozenset(pair) in rows
    for kind in sorted(all_of):
        name = kind[0] + ('' if kind[1] else ', nothing copied')
        print(f'{name}: {found[kind]} of {all_of[kind]}, {found[kind] / all_of[kind]:.3f}')


if __name__ == '__main__':
    if len(sys.argv) != 3:
        sys.exit('usage: pan.py FOLDER CORPUS.jsonl, or pan.py FOLDER OUTPUT')
    (judge if os.path.isdir(sys.argv[2]) else make)(sys.argv[1], sys.argv[2])
