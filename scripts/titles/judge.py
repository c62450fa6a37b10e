"""Says which of the strings that a job has removed are unlike the strings that stay for them, by what they mean in English:

    runjob run --input ja.jsonl --output out --emit removed
    python3 scripts/titles/judge.py ja.jsonl out [out2 ...]

A string that is equal to the kept one, in the words of the measure, is no near-duplicate, and is not judged. Of the others one is
*unlike* if the sets of three adjacent English words of both have a Jaccard similarity below .5, and *true* if it is .8 or more.
*Lost* are the true ones of the first job that another one does not remove.
"""
import glob
import json
import re
import sys


def shingles(text):
    words = re.findall(r'\w+', text.lower())
    return frozenset(zip(words, words[1:], words[2:])) or frozenset([tuple(words)])


def judge(english, out):
    near, unlike, true = 0, 0, set()
    example = ''
    for path in sorted(glob.glob(out + '/removed-*.jsonl')):
        for line in open(path):
            row = json.loads(line)
            if row['similarity'] == 1:
                continue
            near += 1
            one, other = english[str(row['id'])], english[str(row['kept_id'])]
            a, b = shingles(one), shingles(other)
            alike = len(a & b) / len(a | b)
            if alike < .5:
                unlike += 1
                example = example or f'{one!r} for {other!r}'
            if alike >= .8:
                true.add(str(row['id']))
    return near, unlike, true, example


if __name__ == '__main__':
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    english = {str(r['id']): r['english'] for r in map(json.loads, open(sys.argv[1], encoding='utf-8'))}
    first = None
    for out in sys.argv[2:]:
        near, unlike, true, example = judge(english, out)
        first = true if first is None else first
        print(f'{out}: {near} near-duplicates removed, {unlike} unlike ({unlike / max(near, 1):.2f}), {len(true)} true, '
              f'{len(first - true)} of {len(first)} lost, such as {example[:200]}')
