"""Checks the pairs of a job with --common against brute force, by plain sets of words:

    runjob run --input corpus.jsonl --output out --common auto --threshold .6 --emit pairs
    python3 scripts/bruteforce/common.py corpus.jsonl auto .6 out

With --similarity containment, a row must have the figures of brute force and a passage of what is left, and pairs of the
threshold must be listed that share nine words in a row of what is left, which a job is certain to compare.

All pairs are compared, so it is for some thousand documents with ids, in lines of JSON that are not compressed. It knows
neither scripts without spaces nor letters whose lower case has several code points. Of equal documents the first stands for all.
"""
import glob
import json
import math
import sys
import unicodedata

LEAST, SHARE = 8, 5


def tokens(text):
    found, word = [], ''
    for c in text:
        category = unicodedata.category(c)
        if category[0] == 'L' or category == 'Nd' or word and category[0] == 'M':
            word += c.lower() if len(c.lower()) == 1 else c
        elif word:
            found.append(word)
            word = ''
    return found + [word] if word else found


def frequent(sets, limit):
    count = {}
    for s in sets:
        for shingle in s:
            count[shingle] = count.get(shingle, 0) + 1
    return {shingle for shingle, n in count.items() if n > limit}


def limit_of(text, documents):
    if text == 'auto':
        return max(16, math.isqrt(documents))
    if text.endswith('%'):
        return max(1, int(float(text[:-1]) / 100 * documents))
    return int(text)


def wanted(ids, whole, own, threshold):
    """The pairs that a job must list, with both similarities."""
    pairs, first = {}, {}
    for b, s in enumerate(whole):
        if s in first:
            pairs[ids[first[s]], ids[b]] = (1, 1)
            continue
        first[s] = b
        for a in first.values():
            shared = len(own[a] & own[b])
            union = len(own[a] | own[b])
            if a != b and union and shared / union >= threshold:
                pairs[ids[a], ids[b]] = (shared / union, len(whole[a] & s) / len(whole[a] | s))
    return pairs


PASSAGE = 7  # shingles, of nine words


def runs(sequence, common):
    """The runs of shingles in a text that a job must compare by."""
    found = zip(*(sequence[i:] for i in range(PASSAGE)))
    return {run for run in found if not common.intersection(run)}


def check_containment(ids, sequences, whole, own, common, threshold, output):
    """Checks the rows of a job that looks for passages, and that none is missing."""
    place, listed, wrong = {name: i for i, name in enumerate(ids)}, set(), 0
    for path in glob.glob(output + '/pairs-*.jsonl'):
        for line in open(path, encoding='utf-8'):
            row = json.loads(line)
            a, b = place[row['a']], place[row['b']]
            listed.add((min(a, b), max(a, b)))
            if whole[a] == whole[b]:
                wrong += not row.get('identical')
                continue
            shared = len(own[a] & own[b])
            right = shared and (shared / len(own[a]), shared / len(own[b]))
            wrong += not right or max(abs(x - y) for x, y in zip(right, (row['containment_a'], row['containment_b']))) > 1e-12
    first, certain, missing = {}, [runs(s, common) if o else set() for s, o in zip(sequences, own)], 0
    for b, s in enumerate(whole):
        if s in first:
            continue
        first[s] = b
        for a in first.values():
            if a == b or not certain[a] & certain[b]:
                continue
            shared = len(own[a] & own[b])
            missing += shared / min(len(own[a]), len(own[b])) >= threshold and (a, b) not in listed
    print(f'{len(common)} common shingles; {len(listed)} rows, {wrong} of them with other figures; {missing} pairs are missing')
    return 1 if wrong or missing else 0


def main(corpus, limit, threshold, output):
    ids, whole, sequences = [], [], []
    for line in open(corpus, encoding='utf-8'):
        document = json.loads(line)
        words = tokens(document['text'])
        ids.append(document['id'])
        sequences.append(list(zip(words, words[1:], words[2:])) if len(words) > 2 else [tuple(words)] if words else [])
        whole.append(frozenset(sequences[-1]))
    limit = limit_of(limit, len(ids))
    distinct = set(whole)
    first = frequent(distinct, limit)
    standing = [s for s in distinct if len(s - first) >= LEAST and len(s - first) * SHARE >= len(s)]
    common = frequent((s & first for s in standing), limit)
    own = [s - common for s in whole]
    own = [frozenset() if len(o) < min(LEAST, len(s)) else o for o, s in zip(own, whole)]
    if json.load(open(output + '/summary.json'))['config']['similarity'] == 'containment':
        return check_containment(ids, sequences, whole, own, common, float(threshold), output)
    want, got = wanted(ids, whole, own, float(threshold)), {}
    for path in glob.glob(output + '/pairs-*.jsonl'):
        for line in open(path, encoding='utf-8'):
            row = json.loads(line)
            got[row['a'], row['b']] = (row['jaccard'], row['jaccard_whole'])
    wrong = [pair for pair in want.keys() & got.keys() if max(abs(x - y) for x, y in zip(want[pair], got[pair])) > 1e-12]
    print(f'{len(common)} common shingles in more than {limit} documents; {len(want)} pairs by brute force, '
          f'{len(want.keys() - got.keys())} of them missing, {len(got.keys() - want.keys())} others listed, {len(wrong)} with other figures')
    return 0 if want.keys() == got.keys() and not wrong else 1


if __name__ == '__main__':
    if len(sys.argv) != 5:
        sys.exit('usage: common.py CORPUS N THRESHOLD OUTPUT')
    sys.exit(main(*sys.argv[1:]))
