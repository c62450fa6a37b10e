#!/usr/bin/env python3
"""How often the warning `variants` is right, on corpora whose labels come from names and releases of packages.

    labelled.py RUNJOB FOLDER [corpus.jsonl...]

FOLDER gets the descriptions of the packages of two Debian releases, and the corpora and results made of them. Packages
of one family in one release are variants: each corpus of these should get the warning. One package in two releases is
two versions, so a corpus of these should not. Further corpora of versions or copies may be named.
"""

import json
import lzma
import re
import subprocess
import sys
import urllib.request
from pathlib import Path

RELEASES = ("bookworm", "trixie")
URL = "http://deb.debian.org/debian/dists/{}/main/i18n/Translation-en.xz"
FAMILIES = {
    "python": r"python3-", "perl": r"lib.*-perl$", "haskell": r"libghc", "rust": r"librust", "node": r"node-",
    "golang": r"golang-", "r": r"r-", "ruby": r"ruby-", "lib": r"lib",
    "languages": r".*-l10n-|.*-i18n|hunspell|aspell|myspell|hyphen|mythes|task-",
    "compilers": r"gcc|g\+\+|cpp|gnat|gfortran|gobjc|gdc|binutils",
}
LEAST = 30  # pairs that say something of all


def descriptions(folder, release):
    """Returns the descriptions of a release by the names of packages."""
    path = folder / f"{release}.xz"
    if not path.exists():
        urllib.request.urlretrieve(URL.format(release), path)
    texts, name = {}, ""
    with lzma.open(path, "rt", encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if line.startswith("Package: "):
                name = line[len("Package: "):].strip()
                texts[name] = ""
            elif line.startswith("Description-en: "):
                texts[name] = line[len("Description-en: "):]
            elif line.startswith(" ") and texts.get(name):
                texts[name] += "\n" if line == " .\n" else line[1:]
    return texts


def write(folder, name, rows):
    path = folder / f"{name}.jsonl"
    with path.open("w") as out:
        for number, text in rows:
            out.write(json.dumps({"id": number, "text": text}) + "\n")
    return path


def corpora(folder):
    """Yields corpora of variants, and one of versions, and whether they should get the warning."""
    first, second = (descriptions(folder, release) for release in RELEASES)
    rest = dict(first)
    for family, pattern in FAMILIES.items():
        of = {name: rest.pop(name) for name in list(rest) if re.match(pattern, name)}
        yield write(folder, "variants-" + family, of.items()), True
    yield write(folder, "variants-others", rest.items()), True
    changed = [name for name in first if name in second and first[name] != second[name]]
    # Families are apart, so that only versions of one package are compared.
    lines = [(f"{release}/{name}", texts[name], name) for name in changed
             for release, texts in zip(RELEASES, (first, second))]
    path = folder / "versions.jsonl"
    path.write_text("".join(json.dumps({"id": i, "text": t, "package": p}) + "\n" for i, t, p in lines))
    yield path, False


def judge(runjob, folder, path):
    """Runs a job and returns what its summary says of variants."""
    output = folder / "out" / path.stem
    command = [runjob, "run", "--input", str(path), "--output", str(output), "--overwrite", "--quiet"]
    if path.name == "versions.jsonl":
        command += ["--within", "package"]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    return json.loads((output / "summary.json").read_text()).get("variants") or {"judged": 0, "found": 0}


def main():
    runjob, folder = sys.argv[1], Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    wrong = {True: [], False: []}
    known = {True: 0, False: 0}
    print(f"{'corpus':32} {'should':8} {'judged':>6} {'found':>6} {'warns':>6}")
    for path, should in [*corpora(folder), *((Path(name), False) for name in sys.argv[3:])]:
        found = judge(runjob, folder, path)
        warns = found["judged"] >= LEAST and 4 * found["found"] >= found["judged"]
        print(f"{path.stem:32} {should!s:8} {found['judged']:6} {found['found']:6} {warns!s:>6}")
        if found["judged"] >= LEAST:
            known[should] += 1
            if warns != should:
                wrong[should].append(path.stem)
    print(f"missed {len(wrong[True])} of {known[True]} {wrong[True]}, false {len(wrong[False])} of {known[False]} {wrong[False]}")


if __name__ == "__main__":
    main()
