"""Makes a corpus of the strings of one language out of catalogs that scripts/titles/fetch.sh has fetched:

    python3 scripts/titles/make.py catalogs ja ja.jsonl

Each record has an id, the string as its text, and the English string that it translates as the field english. Marks of formats and
of access keys stay. A string and its original are there once.
"""
import glob
import gettext
import json
import sys

if len(sys.argv) != 4:
    sys.exit(__doc__)
root, language, path = sys.argv[1:]
paths = set()
for name in {language, language.replace('_', '-')}:
    for pattern in (f'/**/{name}/LC_MESSAGES/*.mo', f'/**/resource/{name}/**/*.mo'):
        paths.update(glob.glob(root + pattern, recursive=True))
strings = {}
for catalog in sorted(paths):
    with open(catalog, 'rb') as f:
        messages = gettext.GNUTranslations(f)._catalog
    for english, text in messages.items():
        if isinstance(english, tuple):
            english = english[0]
        english = english.split('\x04')[-1].split('\x00')[0]
        if english.strip() and text.strip() and english != text:
            strings.setdefault((english, text))
with open(path, 'w', encoding='utf-8') as f:
    for i, (english, text) in enumerate(strings):
        f.write(json.dumps({'id': i, 'text': text, 'english': english}, ensure_ascii=False) + '\n')
print(f'{len(strings)} strings of {len(paths)} catalogs in {path}')
