"""Says how many of the pages that a job has removed are unlike the page that stays for them, by their own text:

    runjob run --input 'manuals/**/*.html' --format html --output out --emit removed
    python3 scripts/manuals/judge.py manuals out [out2 ...]

The pages are those of scripts/manuals/fetch.sh. The own text of a page is what its template puts into <div class="body">. A page is
unlike if the sets of three adjacent words of both have a Jaccard similarity below .5. Then come the pairs of a removed page and the one that
stays for it whose titles differ in more than numbers.
"""
import functools
import glob
import html
import json
import os
import re
import sys


def plain(markup):
    return html.unescape(re.sub(r'<[^>]*>', ' ', re.sub(r'<(script|style)\b.*?</\1>', ' ', markup, flags=re.S)))


def judge(root, out):
    @functools.lru_cache(maxsize=None)
    def page(path):
        with open(os.path.join(root, path), encoding='utf-8', errors='replace') as f:
            markup = f.read()
        begin = markup.find('class="body"')
        end = markup.find('class="clearer"', begin)
        words = re.findall(r'\w+', plain(markup[begin:end] if begin >= 0 else markup).lower())
        title = re.search(r'<title>(.*?)(?:—|&#8212;|&mdash;|</title>)', markup, re.S)
        return frozenset(zip(words, words[1:], words[2:])), re.sub(r'[\d.\s]+', ' ', title.group(1)) if title else ''

    removed = unlike = titles = 0
    for name in sorted(glob.glob(out + '/removed-*.jsonl')):
        for line in open(name):
            row = json.loads(line)
            (a, first), (b, second) = page(row['id']), page(row['kept_id'])
            removed += 1
            unlike += len(a & b) < .5 * len(a | b)
            titles += first != second
    cpu = json.load(open(out + '/summary.json')).get('cpu_seconds')
    print(f'{out}: {removed} removed, {unlike} of them unlike ({unlike / max(removed, 1):.2%}), {titles} of another title, {cpu} CPU-s')


if len(sys.argv) < 3:
    sys.exit(__doc__)
for folder in sys.argv[2:]:
    judge(sys.argv[1].rstrip('/'), folder)
