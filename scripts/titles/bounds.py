"""Says how well any cut by words and characters could tell true near-duplicates from unlike ones:

    runjob run --input ja.jsonl --output out --emit removed
    python3 scripts/titles/bounds.py ja.jsonl out

The near-duplicates that the job has removed are ordered by one measure after the other, the surest first. For each measure it prints how
many true ones a cut keeps at most if less than a tenth of what it keeps is unlike, and how much is unlike at least if it keeps nine
tenths of the true ones. *True* and *unlike* are as judge.py says, by the English strings.
"""
import collections
import glob
import json
import math
import sys

from judge import shingles


def edits(a, b):
    """The number of characters to exchange, leave out or put in."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
    return row[-1]


def bigrams(text):
    return set(zip(text, text[1:]))


def measures(row, a, b, rarity):
    """What can be said of two strings without knowing what they mean; a larger number is surer."""
    weight = lambda grams: sum(map(rarity, grams))
    shared, either = bigrams(a) & bigrams(b), bigrams(a) | bigrams(b)
    return {
        'Jaccard similarity': row['similarity'],
        'edited characters': -edits(a, b),
        'edited share': -edits(a, b) / max(len(a), len(b)),
        'length': min(len(a), len(b)),
        'length for each edit': min(len(a), len(b)) / (1 + edits(a, b)),
        'pairs of characters, by rarity': weight(shared) / max(weight(either), 1e-9),
        'rarity of what differs': -weight(either - shared),
    }


def bounds(scored, wanted):
    most, least = 0, 1
    kept = unlike = true = 0
    for i, (score, alike) in enumerate(scored):
        kept, unlike, true = kept + 1, unlike + (alike < .5), true + (alike >= .8)
        if i + 1 < len(scored) and scored[i + 1][0] == score:
            continue
        if unlike <= .1 * kept:
            most = max(most, true)
        if true >= .9 * wanted:
            least = min(least, unlike / kept)
    return most, least


if __name__ == '__main__':
    records = {str(r['id']): r for r in map(json.loads, open(sys.argv[1], encoding='utf-8'))}
    documents = collections.Counter(g for r in records.values() for g in bigrams(r['text']))
    rarity = lambda gram: math.log(len(records) / documents[gram])
    scored = collections.defaultdict(list)
    for path in sorted(glob.glob(sys.argv[2] + '/removed-*.jsonl')):
        for row in map(json.loads, open(path, encoding='utf-8')):
            if row['similarity'] < 1:
                a, b = records[str(row['id'])], records[str(row['kept_id'])]
                one, other = shingles(a['english']), shingles(b['english'])
                alike = len(one & other) / len(one | other)
                for name, score in measures(row, a['text'], b['text'], rarity).items():
                    scored[name].append((score, alike))
    for name, list_ in scored.items():
        true = sum(alike >= .8 for _, alike in list_)
        most, least = bounds(sorted(list_, reverse=True), true)
        print(f'{name}: at most {most} of {true} true ones with a tenth unlike, at least {least:.2f} unlike with nine tenths of them')
