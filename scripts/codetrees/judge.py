"""Says how many of the files that a job has removed are unlike the file that stays for them, by their code without comments:

    runjob run --input 'trees/go/**/*.go' --format text --output out --emit removed
    python3 scripts/codetrees/judge.py trees/go out [out2 ...]

A file is unlike if the sets of three adjacent words of its code and of the kept file's have a Jaccard similarity below .5. Comments are
found without the program: in Python by the module tokenize, elsewhere by a regular expression that knows strings.
A file without code, such as one that has comments only, is unlike no other.
"""
import functools
import glob
import io
import json
import os
import re
import sys
import tokenize

C_LIKE = re.compile(r'''//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`[^`]*`''', re.S)


def without_comments(path, text):
    if not path.endswith('.py'):
        return C_LIKE.sub(lambda m: ' ' if m.group().startswith(('//', '/*')) else m.group(), text)
    try:
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        return ' '.join(t.string for t in tokens if t.type != tokenize.COMMENT)
    except (tokenize.TokenError, SyntaxError):
        return text


def judge(root, out):
    @functools.lru_cache(maxsize=100000)
    def shingles(path):
        with open(os.path.join(root, path), encoding='utf-8', errors='replace') as f:
            words = re.findall(r'\w+', without_comments(path, f.read()).lower())
        return frozenset(zip(words, words[1:], words[2:])) or frozenset([tuple(words)])

    removed, unlike, example = 0, 0, ''
    for name in sorted(glob.glob(out + '/removed-*.jsonl')):
        for line in open(name):
            row = json.loads(line)
            a, b = shingles(row['id']), shingles(row['kept_id'])
            removed += 1
            if len(a & b) < .5 * len(a | b) and a != {()} and b != {()}:
                unlike += 1
                example = example or f"{row['id']} for {row['kept_id']}"
    cpu = json.load(open(out + '/summary.json')).get('cpu_seconds')
    print(f'{out}: {removed} removed, {unlike} of them unlike ({unlike / max(removed, 1):.2%}), {cpu} CPU-s, such as {example}')


if len(sys.argv) < 3:
    sys.exit(__doc__)
for folder in sys.argv[2:]:
    judge(sys.argv[1].rstrip('/'), folder)
