"""Checks the pairs of a job with --common against brute force, by plain sets of words:

    runjob run --input corpus.jsonl --output out --common auto --threshold .6 --emit pairs
    python3 scripts/bruteforce/common.py corpus.jsonl auto .6 out

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


def main(corpus, limit, threshold, output):
    ids, whole = [], []
    for line in open(corpus, encoding='utf-8'):
        document = json.loads(line)
        words = tokens(document['text'])
        ids.append(document['id'])
        whole.append(frozenset(zip(words, words[1:], words[2:])) if len(words) > 2 else frozenset([tuple(words)] if words else []))
    limit = limit_of(limit, len(ids))
    distinct = set(whole)
    first = frequent(distinct, limit)
    standing = [s for s in distinct if len(s - first) >= LEAST and len(s - first) * SHARE >= len(s)]
    common = frequent((s & first for s in standing), limit)
    own = [s - common for s in whole]
    own = [frozenset() if len(o) < min(LEAST, len(s)) else o for o, s in zip(own, whole)]
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
