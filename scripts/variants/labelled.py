#!/usr/bin/env python3
"""How often the warning and --variants are right, on corpora whose labels come from names and releases of packages.

    labelled.py RUNJOB FOLDER [corpus.jsonl...]

FOLDER gets the descriptions of the packages of two releases of Debian and one of Ubuntu, and the corpora and results
made of them. Packages of one family in one release are variants: each corpus of these should get the warning, and
documents should stay. One package in two releases is two versions, which should go, without a warning; so are the
packages of both distributions. Further corpora of versions or copies may be named. A corpus of each kind in one,
"mixed", has both labels.

The table has, of the documents that a job without the flag removes for one that is not identical, the share whose pair
is marked as variants, and the share of documents that stay, with keep and with wide.
"""

import json
import lzma
import re
import subprocess
import sys
import urllib.request
from pathlib import Path

URLS = {
    "bookworm": "http://deb.debian.org/debian/dists/bookworm/main/i18n/Translation-en.xz",
    "trixie": "http://deb.debian.org/debian/dists/trixie/main/i18n/Translation-en.xz",
    "noble": "http://archive.ubuntu.com/ubuntu/dists/noble/universe/i18n/Translation-en.xz",
}
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
        urllib.request.urlretrieve(URLS[release], path)
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
    """Writes a corpus of (release, package, text). Its ids are release/package."""
    path = folder / f"{name}.jsonl"
    with path.open("w") as out:
        for release, package, text in rows:
            out.write(json.dumps({"id": f"{release}/{package}", "text": text, "package": package}) + "\n")
    return path


def corpora(folder):
    """Yields corpora, whether they should get the warning, and flags."""
    texts = {release: descriptions(folder, release) for release in URLS}
    first = texts["bookworm"]
    rest = dict(first)
    for family, pattern in FAMILIES.items():
        of = {name: rest.pop(name) for name in list(rest) if re.match(pattern, name)}
        yield write(folder, "variants-" + family, (("bookworm", *row) for row in of.items())), True, []
    yield write(folder, "variants-others", (("bookworm", *row) for row in rest.items())), True, []
    yield write(folder, "variants-all", (("bookworm", *row) for row in first.items())), True, []
    # Packages are apart, so that only versions of one package are compared.
    for name, other in (("versions", "trixie"), ("copies", "noble")):
        changed = [package for package in first if first[package] != texts[other].get(package, first[package])]
        rows = [(release, package, texts[release][package]) for package in changed for release in ("bookworm", other)]
        yield write(folder, name, rows), False, ["--within", "package"]
    rows = [(release, *row) for release in ("bookworm", "trixie") for row in texts[release].items()]
    yield write(folder, "mixed", rows), None, []


def run(runjob, folder, path, variants, flags):
    """Runs a job and returns its summary, the pairs by their names, and who is kept for each removed document."""
    output = folder / "out" / path.stem / variants
    command = [runjob, "run", "--input", str(path), "--output", str(output), "--overwrite", "--quiet",
               "--emit", "clusters,pairs,removed", "--variants", variants, *flags]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)

    def rows(name):
        return [json.loads(line) for file in sorted(output.glob(f"{name}-*")) for line in file.open()]

    pairs = {frozenset((row["a"], row["b"])): row for row in rows("pairs")}
    return json.loads((output / "summary.json").read_text()), pairs, {r["id"]: r["kept_id"] for r in rows("removed")}


def is_version(removed, kept):
    return str(removed).split("/")[-1] == str(kept).split("/")[-1]


def shares(runjob, folder, path, flags, near):
    """Returns the shares of the table of some removed documents, with keep and wide."""
    cells = []
    for variants in ("keep", "wide"):
        _, pairs, removed = run(runjob, folder, path, variants, flags)
        marked = sum(pairs[frozenset(pair)].get("variant", False) for pair in near)
        stay = sum(pair[0] not in removed for pair in near)
        cells += [marked / max(len(near), 1), stay / max(len(near), 1)]
    return "".join(f"{cell:8.3f}" for cell in cells)


def main():
    runjob, folder = sys.argv[1], Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    wrong, known = {True: [], False: []}, {True: 0, False: 0}
    print(f"{'corpus':32} {'near':>6} {'judged':>6} {'found':>6} {'warns':>6}    keep    stay    wide    stay")
    for path, should, flags in [*corpora(folder), *((Path(name), False, []) for name in sys.argv[3:])]:
        summary, pairs, removed = run(runjob, folder, path, "warn", flags)
        found = summary.get("variants") or {"judged": 0, "found": 0}
        warns = found["judged"] >= LEAST and 4 * found["found"] >= found["judged"]
        # Two documents may be identical to one document each, and have no pair of their own.
        near = [pair for pair in removed.items() if not pairs.get(frozenset(pair), {"identical": True}).get("identical")]
        parts = {path.stem: near}
        if should is None:
            parts = {"mixed, versions": [pair for pair in near if is_version(*pair)],
                     "mixed, variants": [pair for pair in near if not is_version(*pair)]}
        for name, part in parts.items():
            print(f"{name:32} {len(part):6} {found['judged']:6} {found['found']:6} {warns!s:>6}"
                  + shares(runjob, folder, path, flags, part), flush=True)
        if should is not None and found["judged"] >= LEAST:
            known[should] += 1
            if warns != should:
                wrong[should].append(path.stem)
    print(f"missed {len(wrong[True])} of {known[True]} {wrong[True]}, false {len(wrong[False])} of {known[False]} {wrong[False]}")


if __name__ == "__main__":
    main()
