#!/usr/bin/env python3
"""Measures how fast runjob reads each form of input beside the usual readers of the form, in MB of text a CPU-second.

    go build -buildvcs=auto -o runjob ./cmd/runjob
    pip install -r scripts/bench/forms.txt
    python3 scripts/bench/forms.py runjob CORPUS.jsonl FOLDER [FORM...]

It writes the corpus, lines of JSON with id and text, into FOLDER in each form, once. Forms in which every document is a
file have the first 20,000. Then a job and the readers read it three times in turn, and it prints medians. The job is
`runjob run --keys same-bytes`, start to end, which also hashes the texts and writes clusters. A reader turns a form into
texts, in this process, without its start. CPU-seconds are those of all threads, of the user and of the system.
"""

import bz2
import csv
import gzip
import html
import io
import json
import lzma
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile

import datasets
import lxml.html
import lz4.frame
import orjson
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import warcio
import zstandard
from fastwarc.warc import ArchiveIterator as FastIterator
from fastwarc.warc import WarcRecordType
from resiliparse.extract.html2text import extract_plain_text
from warcio.warcwriter import WARCWriter

FILES, RUNS = 20_000, 3
OPEN = {"": open, "gz": gzip.open, "zst": zstandard.open, "bz2": bz2.open, "xz": lzma.open, "lz4": lz4.frame.open}
csv.field_size_limit(1 << 30)
datasets.disable_progress_bars()


# The forms: how each is written.


def compressed(path):
    """The file, to write bytes into, compressed as its name says."""
    ending = path.suffix[1:] if path.suffix[1:] in OPEN else ""
    return OPEN[ending](path, "wb", **({"preset": 1} if ending == "xz" else {}))


def write_jsonl(path, rows):
    with compressed(path) as f:
        for row in rows:
            f.write(orjson.dumps(row) + b"\n")


def write_json(path, rows):
    path.write_text(json.dumps(rows, indent=1, ensure_ascii=False))


def write_lines(path, rows):
    path.write_text("".join(" ".join(row["text"].split()) + "\n" for row in rows))


def write_csv(path, rows):
    with path.open("w", newline="") as f:
        writer = csv.writer(f, delimiter="\t" if path.suffix == ".tsv" else ",")
        writer.writerow(["id", "text"])
        writer.writerows((row["id"], row["text"]) for row in rows)


def write_parquet(path, rows):
    pq.write_table(pa.Table.from_pylist(rows), path, compression=path.stem)


def write_arrow(path, rows):
    table = pa.Table.from_pylist(rows)
    with (pa.ipc.new_stream if path.stem == "stream" else pa.ipc.new_file)(str(path), table.schema) as writer:
        writer.write_table(table, max_chunksize=1000)


def write_saved(path, rows):
    datasets.Dataset.from_list(rows).save_to_disk(path)


def members(path, rows):
    """The files of a folder or an archive: their names and bytes."""
    for i, row in enumerate(rows[:FILES]):
        name, text = f"{i // 1000:03}/{i:06}", row["text"]
        if path.stem != "pages":
            yield name + ".txt", text.encode()
        else:
            yield name + ".html", page(text)


def page(text):
    paragraphs = "".join(f"<p>{html.escape(part)}</p>\n" for part in text.split("\n"))
    return f"<!doctype html><html><head><title>A page</title></head><body>\n{paragraphs}</body></html>\n".encode()


def write_folder(path, rows):
    for name, content in members(path, rows):
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(content)


def write_tar(path, rows):
    with compressed(path) as f, tarfile.open(fileobj=f, mode="w|") as archive:
        for name, content in members(path, rows):
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))


def write_zip(path, rows):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members(path, rows):
            archive.writestr(name, content)


def write_warc(path, rows):
    wet = ".wet" in path.suffixes
    with path.open("wb") as f:
        writer = WARCWriter(f, gzip=True)
        for i, row in enumerate(rows):
            content = row["text"].encode() if wet else page(row["text"])
            http = None if wet else warcio.StatusAndHeaders("200 OK", [("Content-Type", "text/html; charset=utf-8")], protocol="HTTP/1.1")
            kind = {"warc_content_type": "text/plain"} if wet else {"http_headers": http}
            record = writer.create_warc_record(f"http://example.org/{i}", "conversion" if wet else "response", io.BytesIO(content), **kind)
            writer.write_record(record)


# The usual readers: each gives the texts of a form.


def with_json(path):
    return (json.loads(line)["text"] for line in stream(path))


def with_orjson(path):
    return (orjson.loads(line)["text"] for line in stream(path))


def stream(path):
    return io.BufferedReader(OPEN[path.suffix[1:] if path.suffix[1:] in OPEN else ""](path, "rb"), 1 << 20)


def array_with_json(path):
    return (row["text"] for row in json.loads(path.read_bytes()))


def array_with_orjson(path):
    return (row["text"] for row in orjson.loads(path.read_bytes()))


def with_open(path):
    return path.open()


def with_csv(path):
    with path.open(newline="") as f:
        yield from (row["text"] for row in csv.DictReader(f, delimiter="\t" if path.suffix == ".tsv" else ","))


def csv_with_pyarrow(path):
    parse = pa.csv.ParseOptions(delimiter="\t" if path.suffix == ".tsv" else ",", newlines_in_values=True)
    return pa.csv.read_csv(path, parse_options=parse)["text"].to_pylist()


def with_parquet(path):
    return pq.read_table(path, columns=["id", "text"])["text"].to_pylist()


def with_ipc(path):
    open_arrow = pa.ipc.open_stream if path.stem == "stream" else pa.ipc.open_file
    return open_arrow(pa.memory_map(str(path))).read_all()["text"].to_pylist()


def with_datasets(path):
    return (text for batch in datasets.load_from_disk(path).iter(1000) for text in batch["text"])


def with_walk(path):
    return (pathlib.Path(folder, name).read_text() for folder, _, names in os.walk(path) for name in names)


def with_tarfile(path):
    with tarfile.open(fileobj=stream(path), mode="r|") as archive:
        yield from (archive.extractfile(member).read().decode() for member in archive)


def with_zipfile(path):
    with zipfile.ZipFile(path) as archive:
        yield from (archive.read(name).decode() for name in archive.namelist())


def with_lxml(path):
    return (lxml.html.fromstring(content).text_content() for content in with_walk(path))


def with_resiliparse(path):
    return (extract_plain_text(content) for content in with_walk(path))


def with_warcio(path):
    for record in warcio.ArchiveIterator(path.open("rb")):
        content = record.content_stream().read().decode()
        yield content if record.rec_type == "conversion" else lxml.html.fromstring(content).text_content()


def with_fastwarc(path):
    for record in FastIterator(path.open("rb"), parse_http=True):
        content = record.reader.read().decode()
        yield content if record.record_type == WarcRecordType.conversion else extract_plain_text(content)


JSON = (with_json, with_orjson)
FORMS = {
    "plain.jsonl": (write_jsonl, JSON),
    **{f"plain.jsonl.{ending}": (write_jsonl, JSON) for ending in OPEN if ending},
    "array.json": (write_json, (array_with_json, array_with_orjson)),
    "lines.txt": (write_lines, (with_open,)),
    "table.csv": (write_csv, (with_csv, csv_with_pyarrow)),
    "table.tsv": (write_csv, (with_csv, csv_with_pyarrow)),
    "snappy.parquet": (write_parquet, (with_parquet,)),
    "zstd.parquet": (write_parquet, (with_parquet,)),
    "stream.arrow": (write_arrow, (with_ipc,)),
    "file.arrow": (write_arrow, (with_ipc,)),
    "saved": (write_saved, (with_datasets,)),
    "texts": (write_folder, (with_walk,)),
    "texts.tar": (write_tar, (with_tarfile,)),
    **{f"texts.tar.{ending}": (write_tar, (with_tarfile,)) for ending in ("gz", "zst", "xz")},
    "texts.zip": (write_zip, (with_zipfile,)),
    "pages": (write_folder, (with_lxml, with_resiliparse)),
    "texts.wet.gz": (write_warc, (with_warcio, with_fastwarc)),
    "pages.warc.gz": (write_warc, (with_warcio, with_fastwarc)),
}


# How they are measured.


def job(runjob, path):
    """The CPU-seconds of a job over the form, and its number of documents."""
    with tempfile.TemporaryDirectory() as folder:
        command = [runjob, "run", "--quiet", "--keys", "same-bytes", "--input", path, "--output", folder + "/out"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command + ["--format", "lines"] * (path.name == "lines.txt"), check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        with open(folder + "/out/summary.json") as f:
            documents = json.load(f)["counts"]["documents"]
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, documents


def read_by(reader, path):
    """The CPU-seconds of a reader over the form, and its number of documents."""
    began = time.process_time()
    documents = sum(1 for _ in reader(path))
    return time.process_time() - began, documents


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    runjob, corpus, folder = os.path.abspath(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
    folder.mkdir(exist_ok=True)
    with open(corpus, "rb") as f:
        rows = [{"id": row["id"], "text": row["text"]} for row in map(orjson.loads, f) if row["text"].strip()]
    print("| form | runjob | the usual readers |\n|---|---|---|")
    for name in sys.argv[4:] or FORMS:
        measure(name, runjob, folder / name, rows)


def measure(name, runjob, path, rows):
    write, readers = FORMS[name]
    if not path.exists():
        write(path, rows)
    if write in (write_folder, write_tar, write_zip):
        rows = rows[:FILES]
    size = sum(len(row["text"].encode()) for row in rows) / 1e6
    commands = [lambda: job(runjob, path)] + [lambda reader=reader: read_by(reader, path) for reader in readers]
    seconds = [[] for _ in commands]
    for _ in range(RUNS):
        for command, of_command in zip(commands, seconds):
            used, documents = command()
            if documents != len(rows):
                sys.exit(f"{name}: {documents} documents, not {len(rows)}")
            of_command.append(used)
    ours, *theirs = [f"{size / statistics.median(s):.0f}" for s in seconds]
    others = ", ".join(f"{reader.__name__.split('with_')[1]} {speed}" for reader, speed in zip(readers, theirs))
    print(f"| {name} | {ours} | {others} |", flush=True)


if __name__ == "__main__":
    main()
