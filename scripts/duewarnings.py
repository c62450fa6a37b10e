"""Runs runjob over corpora of which one knows whether a warning is due, and prints the table of docs/reference/presets.md:

    scripts/codetrees/fetch.sh data/trees
    scripts/manuals/fetch.sh data/manuals
    scripts/titles/fetch.sh data/catalogs
    for l in ja th de; do python3 scripts/titles/make.py data/catalogs $l data/$l.jsonl; done
    python3 scripts/duewarnings.py ./runjob data ../shared/corpora

Corpora that are missing are passed over, and named. The exit code is 1 if a warning is missing or comes where none is due.
"""
import glob
import json
import os
import subprocess
import sys
import tempfile

HTML = ['--format', 'html']
TEXT = ['--format', 'text']
# Patterns of a corpus, what is given besides, and the warnings that are due.
DUE = [
    ('trees/go/**/*.go', TEXT, {'preset', 'template'}),
    ('trees/java/**/*.java', TEXT, {'preset', 'template'}),
    ('trees/c/**/*.h trees/c/**/*.hpp trees/c/**/*.c trees/c/**/*.cc trees/c/**/*.cpp', TEXT, {'preset'}),
    ('trees/python/**/*.py', TEXT, {'preset', 'source_loss'}),
    ('manuals/**/*.html', HTML, {'preset', 'source_loss', 'other_title', 'template'}),
    ('manuals/**/*.html', HTML + ['--html-text', 'main'], {'preset', 'source_loss', 'other_title'}),
    ('pages.jsonl', ['--html-text', 'main'], {'markup', 'large_cluster', 'template'}),
    ('ja.jsonl', [], {'short_records'}),
    ('th.jsonl', [], {'short_records'}),
    ('de.jsonl', [], {'short_records'}),
    ('th.jsonl', ['--similarity', 'containment'], {'small_texts'}),
    ('mirrors/react_l10n.jsonl.zst', ['--preset', 'plagiarism'], {'common_phrases'}),
    ('mirrors/clang_text.jsonl.zst', ['--emit', 'trimmed'], {'passage_loss'}),
    ('prose/linux_doc.jsonl.zst', [], {'short_records'}),
    ('prose/openjdk17_text.jsonl.zst', [], {'large_cluster', 'template'}),
]
NOT_DUE = [
    'chrisjm/articles_2500', 'reuters21578/reuters', 'tang/tang', 'udhr/udhr', 'licenses/all', 'clough/clough', 'mirrors/etcd_docs',
    'mirrors/powershell_docs', 'mirrors/react_l10n', 'mirrors/clang_text', 'mirrors/installguide_text', 'prose/gnome_help',
    'prose/libreoffice_help', 'prose/goldminer_zh',
]


def found(runjob, paths, flags):
    """What a run removes, and its warnings."""
    inputs = [word for path in paths for word in ('--input', path)]
    with tempfile.TemporaryDirectory() as out:
        subprocess.run([runjob, 'run', *inputs, '--output', out + '/out', *flags], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(out + '/out/summary.json', encoding='utf-8') as f:
            summary = json.load(f)
    return summary['counts'], summary['warnings']


def write_pages(root):
    """Writes the manuals as records, whose texts are web pages with their tags."""
    with open(root + '/pages.jsonl', 'w', encoding='utf-8') as out:
        for path in sorted(glob.glob(root + '/manuals/**/*.html', recursive=True)):
            with open(path, encoding='utf-8', errors='replace') as page:
                out.write(json.dumps({'id': path, 'text': page.read()}) + '\n')


def main(runjob, *roots):
    missed = False
    if os.path.exists(roots[0] + '/manuals'):
        write_pages(roots[0])
    for name, flags, due in DUE + [(name + '.jsonl.zst', [], set()) for name in NOT_DUE]:
        first = name.split('*')[0].rstrip('/')
        root = next((root for root in roots if os.path.exists(os.path.join(root, first))), None)
        if root is None:
            print(f'| {name} | is missing | |')
            continue
        counts, warnings = found(runjob, [os.path.join(root, pattern) for pattern in name.split()], flags)
        came = {w['kind'] for w in warnings}
        missed = missed or came != due
        told = '; '.join(dict.fromkeys(f"`{w['kind']}`: `{w['flag']}`" for w in warnings)) or 'none'
        wrong = '' if came == due else f', and due is {", ".join(sorted(due)) or "none"}'
        print(f"| {' '.join([name, *flags])} | {counts['removed']:,} of {counts['documents']:,} | {told}{wrong} |", flush=True)
        for w in warnings:
            print(f"    {w['text']}", file=sys.stderr)
    return missed


if len(sys.argv) < 3:
    sys.exit(__doc__)
sys.exit(main(*sys.argv[1:]))
