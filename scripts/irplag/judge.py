"""Says how well a job tells the copies of IRPlag from programs that were written independently:

    python3 scripts/irplag/judge.py programs.jsonl out [out2 ...]

The programs are those of make.py. Each out is the output of a job over them with --emit pairs. A pair without a row has the
similarity 0, so the job has to list as many pairs as it can: give --keys all --threshold .01.
Of identical programs one has rows with others; they stand for all.

A pair is right if both of its programs are the original of a task or copies of it. *all* are all pairs, *task* are those of an
original and another program for its task. For each the script prints

    F1                  of the best threshold
    held                the mean of two halves, the tasks of odd and of even number, each with the threshold that is best on
                        the other one; only for all. Pairs between the halves are in neither
    AUC                 the probability that a right pair ranks above another one; equal ones count one half
    average precision   the mean, over the right pairs, of the precision of the list down to that pair and its equals

Rows of containment are judged by the larger and by the smaller of both sides. Then comes the mean similarity to the original,
by level of the copies and for independent programs.
"""
import collections
import glob
import itertools
import json
import sys

ORDERS = {
    'jaccard': lambda row: row['jaccard'],
    'larger containment': lambda row: max(row['containment_a'], row['containment_b']),
    'smaller containment': lambda row: min(row['containment_a'], row['containment_b']),
}


class Rows:
    """The rows of pairs of a job."""

    def __init__(self, folder):
        self.first = {}  # of each program the first identical one, if it is another
        self.rows = []
        for path in sorted(glob.glob(folder + '/pairs-*.jsonl')):
            with open(path, encoding='utf-8') as lines:
                self.rows += map(json.loads, lines)
        for row in self.rows:
            if row.get('identical'):
                self.first[row['b']] = row['a']

    def orders(self):
        """What the rows can be judged by."""
        contained = any('spans' in row for row in self.rows)
        return [name for name in ORDERS if (name == 'jaccard') != contained]

    def scores(self, order):
        """A function from a pair to its similarity."""
        classes = lambda a, b: frozenset((self.first.get(a, a), self.first.get(b, b)))
        known = {classes(row['a'], row['b']): ORDERS[order](row) for row in self.rows if not row.get('identical')}
        return lambda pair: 1 if len(classes(*pair)) == 1 else known.get(classes(*pair), 0)


def task(name):
    return name.split('/')[0]


def is_original(name):
    return name.endswith('/original')


def is_right(pair):
    a, b = pair
    return task(a) == task(b) and '/non-plagiarized/' not in a + b


def steps(scored):
    """The list from the top, a step for each score: the score, how many pairs it has, and how many of these are right."""
    counts = collections.defaultdict(lambda: [0, 0])
    for score, right in scored:
        counts[score][0] += 1
        counts[score][1] += right
    return [(score, *counts[score]) for score in sorted(counts, reverse=True)]


def best_f1(scored):
    """The best F1, and the threshold that has it."""
    wanted = sum(right for _, right in scored)
    listed = hits = 0
    best = (0, 0)
    for score, pairs, right in steps(scored):
        listed, hits = listed + pairs, hits + right
        best = max(best, (2 * hits / (listed + wanted), score))
    return best


def f1_at(scored, threshold):
    wanted = sum(right for _, right in scored)
    listed = [right for score, right in scored if score >= threshold]
    return 2 * sum(listed) / (len(listed) + wanted)


def held_out(halves):
    one, two = halves
    return (f1_at(one, best_f1(two)[1]) + f1_at(two, best_f1(one)[1])) / 2


def area(scored):
    wanted = sum(right for _, right in scored)
    above = won = 0
    for _, pairs, right in steps(scored):
        won += (pairs - right) * (above + right / 2)
        above += right
    return won / wanted / (len(scored) - wanted)


def average_precision(scored):
    wanted = sum(right for _, right in scored)
    listed = hits = total = 0
    for _, pairs, right in steps(scored):
        listed, hits = listed + pairs, hits + right
        total += right * hits / listed
    return total / wanted


def judge(names, rows, order):
    score = rows.scores(order)
    pairs = list(itertools.combinations(sorted(names), 2))
    every = [(score(p), is_right(p)) for p in pairs]
    of_task = [(score(p), is_right(p)) for p in pairs if task(p[0]) == task(p[1]) and any(map(is_original, p))]
    odd = lambda name: int(task(name).split('-')[1]) % 2
    halves = [[s for p, s in zip(pairs, every) if odd(p[0]) == odd(p[1]) == half] for half in (0, 1)]
    print(f'  {order}')
    for label, scored in (('all', every), ('task', of_task)):
        f1, threshold = best_f1(scored)
        held = f', held {held_out(halves):.3f}' if label == 'all' else ''
        print(f'    {label}: {len(scored)} pairs, {sum(r for _, r in scored)} right: F1 {f1:.3f} at {threshold:.3f}{held}, '
              f'AUC {area(scored):.3f}, average precision {average_precision(scored):.3f}')
    means = collections.defaultdict(list)
    for pair in pairs:
        if task(pair[0]) == task(pair[1]) and any(map(is_original, pair)):
            other = pair[0] if is_original(pair[1]) else pair[1]
            means['independent' if '/non-plagiarized/' in other else other.split('/')[2]].append(score(pair))
    print('    to the original:', ', '.join(f'{level} {sum(s) / len(s):.2f}' for level, s in sorted(means.items())))


if __name__ == '__main__':
    if len(sys.argv) < 3:
        sys.exit('usage: judge.py PROGRAMS.jsonl OUTPUT ...')
    with open(sys.argv[1], encoding='utf-8') as lines:
        names = [json.loads(line)['id'] for line in lines]
    for folder in sys.argv[2:]:
        rows = Rows(folder)
        if not rows.rows:
            sys.exit(f'{folder} has no rows of pairs: run the job with --emit pairs')
        print(f'{folder}: {len(rows.rows)} rows')
        for order in rows.orders():
            judge(names, rows, order)
