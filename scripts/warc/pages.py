#!/usr/bin/env python3
"""Compares runjob's text of web pages with that of trafilatura and others, and the time from a WARC to results.

    pip install -r scripts/warc/pages.txt
    go build -buildvcs=auto -o runjob ./cmd/runjob && go build -o text ./scripts/warc/text
    git clone --depth 1 https://github.com/adbar/trafilatura
    python3 scripts/warc/pages.py text ./text trafilatura/tests
    go run ./scripts/warc/crawl -undamaged -bytes 50000000 -files 1 -out crawl ../shared/corpora/warc
    python3 scripts/warc/pages.py speed ./runjob crawl/crawl-00000.warc.gz

`text` takes the pages that the trafilatura project has judged. For each extractor it prints the token F1 against
trafilatura's text on the first 200 of them, mean and median, and how it does on the sentences that were judged on all pages.
A token is a run of letters and digits in lower case, and counts as often as it occurs. Pages without trafilatura's text
are left out of the token F1. So is the title that runjob puts first: trafilatura gives it in a field of its own.

`speed` measures three times in turn, and prints medians in CPU-seconds, of the user and of the system. Python's start and
imports do not count, runjob's start does. runjob also finds near-duplicates and writes its results.
"""

import collections
import html
import io
import json
import pathlib
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time

PAGES, RUNS = 200, 3


def extractors(program, paths):
    """The name of each extractor, and a function from the path of a page and its content to its text."""
    import readability
    import trafilatura
    from lxml.html import fromstring
    from resiliparse.extract.html2text import extract_plain_text
    from resiliparse.parse.encoding import bytes_to_str, detect_encoding

    lines = subprocess.run([program, *map(str, paths)], check=True, stdout=subprocess.PIPE).stdout.splitlines()
    texts = {row["id"]: row["text"] for row in map(json.loads, lines)}

    def with_resiliparse(_, content):
        return extract_plain_text(bytes_to_str(content, detect_encoding(content)), main_content=True)

    def with_readability(_, content):
        summary = readability.Document(bytes_to_str(content, detect_encoding(content))).summary()
        return fromstring(summary).text_content()

    return {
        "trafilatura": lambda _, content: trafilatura.extract(content) or "",
        "trafilatura, favor_precision": lambda _, content: trafilatura.extract(content, favor_precision=True) or "",
        "runjob, main": lambda path, _: texts[str(path)],
        "resiliparse, main": with_resiliparse,
        "readability-lxml": with_readability,
    }


def tokens(text):
    return collections.Counter(re.findall(r"\w+", text.lower()))


def f1(ours, theirs):
    """The F1 of one bag of tokens against another."""
    total = ours.total() + theirs.total()
    return 2 * (ours & theirs).total() / total if total else 1.0


def without_title(text, content):
    """The text of a page without its first line, if that is the title."""
    found = re.search(rb"<title[^>]*>(.*?)</title", content, re.DOTALL | re.IGNORECASE)
    first, _, rest = text.partition("\n")
    if found and first.split() == html.unescape(found[1].decode(errors="replace")).split():
        return rest
    return text


def compare_texts(program, folder):
    judged = json.loads((folder / "evaldata.json").read_text())
    pages = []
    for page in judged.values():
        found = [path for path in (folder / "cache" / page["file"], folder / "eval" / page["file"]) if path.exists()]
        pages += [(found[0], page)] if found else []
    pages.sort(key=lambda of: of[0].name)
    contents = [path.read_bytes() for path, _ in pages]
    usual = []
    print(f"{len(pages)} pages\n")
    print("| | mean token F1 | median | precision | recall | F1 |\n|---|---|---|---|---|---|")
    for name, extract in extractors(program, [path for path, _ in pages]).items():
        texts = []
        for (path, _), content in zip(pages, contents):
            try:
                texts.append(extract(path, content))
            except Exception as fault:  # one page must not end the table
                print(f"{name}: {path}: {fault!r}", file=sys.stderr)
                texts.append("")
        usual = usual or [tokens(text) for text in texts]
        scores = [f1(tokens(without_title(text, content)), of) for text, content, of in zip(texts[:PAGES], contents, usual) if of]
        right = wrong = wanted = 0
        for text, (_, page) in zip(texts, pages):
            right += sum(sentence in text for sentence in page["with"])
            wrong += sum(sentence in text for sentence in page["without"])
            wanted += len(page["with"])
        precision, recall = right / (right + wrong), right / wanted
        print(f"| {name} | {statistics.mean(scores):.3f} | {statistics.median(scores):.3f} | {precision:.3f} | {recall:.3f}"
              f" | {2 * precision * recall / (precision + recall):.3f} |", flush=True)


def with_fastwarc(archive):
    import trafilatura
    from fastwarc.warc import ArchiveIterator, WarcRecordType

    for record in ArchiveIterator(io.BytesIO(archive), record_types=WarcRecordType.response, parse_http=True):
        if record.http_content_type == "text/html":
            yield trafilatura.extract(record.reader.read())


def with_warcio(archive):
    import trafilatura
    from warcio.archiveiterator import ArchiveIterator

    for record in ArchiveIterator(io.BytesIO(archive)):
        if record.rec_type == "response" and "text/html" in (record.http_headers.get_header("Content-Type") or ""):
            yield trafilatura.extract(record.content_stream().read())


def in_python(read, path):
    """CPU-seconds and what was found."""
    archive = path.read_bytes()
    began = time.process_time()
    texts = list(read(archive))
    return time.process_time() - began, f"{sum(text is not None for text in texts)} texts of {len(texts)} pages"


def with_runjob(program, path):
    """CPU-seconds and what was found."""
    with tempfile.TemporaryDirectory() as folder:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([program, "run", "--input", path, "--output", f"{folder}/out", "--html-text", "main"],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        summary = json.loads(pathlib.Path(folder, "out", "summary.json").read_text())
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, f"{summary['counts']['documents']} documents"


def compare_speed(program, path):
    programs = {
        "runjob, main": lambda: with_runjob(program, path),
        "fastwarc, trafilatura": lambda: in_python(with_fastwarc, path),
        "warcio, trafilatura": lambda: in_python(with_warcio, path),
    }
    seconds, found = collections.defaultdict(list), {}
    for _ in range(RUNS):
        for name, measure in programs.items():
            took, found[name] = measure()
            seconds[name].append(took)
    ours = statistics.median(seconds["runjob, main"])
    print("| | found | CPU-s | times runjob's |\n|---|---|---|---|")
    for name, took in seconds.items():
        median = statistics.median(took)
        print(f"| {name} | {found[name]} | {median:.2f} | {median / ours:.1f} |")


if __name__ == "__main__":
    what, program, path = sys.argv[1], str(pathlib.Path(sys.argv[2]).resolve()), pathlib.Path(sys.argv[3])
    {"text": compare_texts, "speed": compare_speed}[what](program, path)
