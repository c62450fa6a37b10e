"""Says what a job has found of rewritten passages, or of the classes of Clough and Stevenson's corpus:

    python3 scripts/rewritten/judge.py truth.tsv out
    python3 scripts/rewritten/judge.py --classes clough-truth.tsv out

The truth of planted passages is that of make.py. Each order of the rows of pairs is judged: by the longest span, by the larger
containment and, if the job tells it, by rarity. *Average precision* is the mean, over all planted passages, of the precision of
the rows down to the one that tells of the passage, 0 where none does. *Best F1* is that of the best place to cut the list off.
*Plagdet* (Potthast and others, 2010) judges spans by their bytes: F1 of precision and recall, over the logarithm of 1 and the
number of spans of a found passage. Rows of pairs that were not planted count as false there, too.

With --classes the truth has rows of two ids and a class, of which non is the one without copies. *AUC* is the probability that
a pair of the class ranks above one of non; a pair without a row ranks last.
"""
import collections
import glob
import json
import math
import sys

KINDS = ['copied', 'edited', 'shuffled', 'synonyms', 'summary']
ORDERS = {
    'longest span': lambda r: max((s['words'] for s in r.get('spans', [])), default=0),
    'containment': lambda r: max(r['containment_a'], r['containment_b']),
    'rarity': lambda r: r.get('rarity', 0),
}


def rows_of(folder):
    """The rows of pairs under both orders of their names."""
    rows = {}
    for path in sorted(glob.glob(folder + '/pairs-*.jsonl')):
        for line in open(path, encoding='utf-8'):
            row = json.loads(line)
            rows[row['a'], row['b']] = row
    return rows


def orders_of(rows):
    return [name for name in ORDERS if name != 'rarity' or any('rarity' in r for r in rows.values())]


def turned(span):
    return {'a': span['b'], 'b': span['a'], 'words': span['words']}


def ranked(scored, wanted):
    """Average precision, and the best F1 with its score, precision and recall, of pairs of a score and a truth."""
    scored = sorted(scored, key=lambda s: -s[0])
    hits, total, best = 0, 0, (0, 0, 0, 0)
    for n, (score, good) in enumerate(scored, 1):
        hits += good
        total += good * hits / n
        if n == len(scored) or scored[n][0] < score:
            best = max(best, (2 * hits / (n + wanted), score, hits / n, hits / wanted))
    return total / wanted, best


def overlap(x, y):
    return max(0, min(x[1], y[1]) - max(x[0], y[0]))


def plagdet(rows, truth):
    recalls, spans_of, precisions = [], [], []
    for pair, (_, source, place) in truth.items():
        row = rows.get(pair)
        spans = row['spans'] if row else [turned(s) for s in rows.get(pair[::-1], {}).get('spans', [])]
        there = [s for s in spans if overlap(s['a'], source) and overlap(s['b'], place)]
        size = source[1] - source[0] + place[1] - place[0]
        recalls.append(sum(overlap(s['a'], source) + overlap(s['b'], place) for s in there) / size)
        if there:
            spans_of.append(len(there))
        for s in spans:
            size = s['a'][1] - s['a'][0] + s['b'][1] - s['b'][0]
            precisions.append((overlap(s['a'], source) + overlap(s['b'], place)) / size if s in there else 0)
    planted = set(truth) | {pair[::-1] for pair in truth}
    precisions += [0 for pair, row in rows.items() if pair not in planted for _ in row.get('spans', [])]
    recall, precision = sum(map(lambda r: min(r, 1), recalls)) / len(recalls), sum(precisions) / max(len(precisions), 1)
    granularity = sum(spans_of) / max(len(spans_of), 1)
    f1 = 2 * recall * precision / max(recall + precision, 1e-9)
    return f1 / math.log2(1 + max(granularity, 1)), precision, recall, granularity


def planted(path, rows):
    truth = {}
    for line in open(path, encoding='utf-8'):
        kind, source, host, *at = line.rstrip('\n').split('\t')
        at = list(map(int, at))
        truth[source, host] = kind, at[:2], at[2:]
    kind_of = lambda a, b: truth.get((a, b), truth.get((b, a), (None,)))[0]
    kinds = collections.Counter(kind_of(*pair) for pair in rows)
    all_kinds = collections.Counter(kind for kind, _, _ in truth.values())
    found = len(rows) - kinds[None]
    print(f'{len(rows)} rows: precision {found / max(len(rows), 1):.3f}, recall {found / len(truth):.3f}')
    print('recall of', ', '.join(f'{k} {kinds[k] / all_kinds[k]:.3f}' for k in KINDS))
    for name in orders_of(rows):
        average, best = ranked([(ORDERS[name](r), kind_of(*pair) is not None) for pair, r in rows.items()], len(truth))
        print('by %-13s average precision %.3f, best F1 %.3f at %.3g: precision %.3f, recall %.3f' % (name, average, *best))
    print('plagdet %.3f: precision %.3f, recall %.3f, granularity %.3f' % plagdet(rows, truth))


def classes(path, rows):
    truth = {}
    for line in open(path, encoding='utf-8'):
        a, b, name = line.rstrip('\n').split('\t')
        truth[a, b] = name
    for order in orders_of(rows):
        of = collections.defaultdict(list)
        for (a, b), name in truth.items():
            row = rows.get((a, b)) or rows.get((b, a))
            of[name].append(ORDERS[order](row) if row else 0)
        non, copies = of.pop('non'), [s for scores in of.values() for s in scores]
        best = ranked([(s, True) for s in copies if s] + [(s, False) for s in non if s], len(copies))[1]
        print('by %-13s' % order, ', '.join(
            f'{name} {sum(s > 0 for s in scores)} of {len(scores)}, AUC {auc(scores, non):.3f}' for name, scores in sorted(of.items())),
            f'non {sum(s > 0 for s in non)} of {len(non)}', 'all AUC %.3f, best F1 %.3f' % (auc(copies, non), best[0]), sep='; ')


def auc(copies, others):
    return sum((x > y) + (x == y) / 2 for x in copies for y in others) / len(copies) / len(others)


if __name__ == '__main__':
    arguments = [a for a in sys.argv[1:] if a != '--classes']
    if len(arguments) != 2:
        sys.exit('usage: judge.py [--classes] TRUTH OUTPUT')
    (classes if '--classes' in sys.argv else planted)(arguments[0], rows_of(arguments[1]))
