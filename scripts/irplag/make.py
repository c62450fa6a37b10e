"""Makes a corpus of the programs of IRPlag, to measure what a job finds of copied homework:

    python3 scripts/irplag/make.py IR-Plag-Dataset.zip programs.jsonl

The data set (Karnalim and others, 2019) is had from https://github.com/oscarkarnalim/sourcecodeplagiarismdataset. It has one
zip file, which is read as it is: 467 Java programs for seven tasks. A record is a program. Its id is the path without the name
of the file, which says what the program is:

    case-01/original             the solution that was handed around
    case-01/plagiarized/L2/07    a copy of it, at level 2 of six
    case-01/non-plagiarized/03   a solution that somebody wrote without it

The records are in the order of their ids, so the same data set gives the same bytes.
"""
import json
import sys
import zipfile

PROGRAMS = 467


def programs(path):
    """The text of each program by its id."""
    texts = {}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if name.endswith('.java'):
                identity = '/'.join(name.split('/')[1:-1])
                if identity in texts:
                    raise ValueError(f'{path}: {identity} has two programs')
                texts[identity] = archive.read(name).decode('utf-8', errors='replace')
    return texts


if __name__ == '__main__':
    if len(sys.argv) != 3:
        sys.exit('usage: make.py DATASET.zip PROGRAMS.jsonl')
    texts = programs(sys.argv[1])
    if len(texts) != PROGRAMS:
        sys.exit(f'{sys.argv[1]} has {len(texts)} programs, not {PROGRAMS}: is it the data set?')
    with open(sys.argv[2], 'w', encoding='utf-8') as out:
        for identity in sorted(texts):
            out.write(json.dumps({'id': identity, 'text': texts[identity]}) + '\n')
