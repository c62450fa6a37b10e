from __future__ import annotations

import csv
import io
import json
import os
import tarfile
from typing import Any


class Results:
    """The results of a job, in its output folder: on the disk, or in a bucket that pyarrow can read.

    Each output is a table of pyarrow or, with to="pandas", "polars" or "datasets", of these.
    """

    def __init__(self, folder: str | os.PathLike):
        self.folder = os.fspath(folder)
        if not self._exists("_SUCCESS"):
            raise FileNotFoundError(f"{self.folder} has no _SUCCESS: it is not the output of a job that has ended")

    def __repr__(self) -> str:
        return f"Results({self.folder!r})"

    @property
    def summary(self) -> dict:
        """What summary.json says: the counts, the plan, warnings, time and memory."""
        return json.loads(self._read("summary.json"))

    def clusters(self, to: str = "arrow") -> Any:
        """Each document in a cluster: its cluster, and whether it is kept."""
        return self.table("clusters", to)

    def pairs(self, to: str = "arrow") -> Any:
        """Each verified pair, with its similarity."""
        return self.table("pairs", to)

    def removed(self, to: str = "arrow") -> Any:
        """Each removed document, and the kept one that it is a copy of."""
        return self.table("removed", to)

    def unique(self, to: str = "arrow") -> Any:
        """The records that stay, in the order of the input. Texts that are a file each have the columns id and text."""
        return self.table("unique", to)

    def table(self, output: str, to: str = "arrow") -> Any:
        """The rows of an output, such as rejects."""
        if to not in _CONVERSIONS:
            raise ValueError(f"to={to!r}: must be one of {', '.join(_CONVERSIONS)}")
        pyarrow = _import("pyarrow")
        names = [f["name"] for f in json.loads(self._read("manifest.json"))["files"] if f["output"] == output]
        if not names:
            raise LookupError(f"the job has written no {output}: name it, as in run(..., emit=[{output!r}])")
        settings = self.summary["config"]
        tables = [_rows(name.removeprefix(output + "/"), self._read(name), settings, in_tree=name.startswith(output + "/")) for name in names]
        # A file without rows has columns without types.
        filled = [table for table in tables if table.num_rows > 0] or tables[:1]
        return _CONVERSIONS[to](pyarrow.concat_tables(filled, **_promotion(pyarrow)))

    def _exists(self, name: str) -> bool:
        if "://" not in self.folder:
            return os.path.exists(os.path.join(self.folder, name))
        system, path = self._system()
        return system.get_file_info(f"{path}/{name}").type.name == "File"

    def _read(self, name: str) -> bytes:
        if "://" not in self.folder:
            with open(os.path.join(self.folder, name), "rb") as f:
                return f.read()
        system, path = self._system()
        with system.open_input_stream(f"{path}/{name}", compression=None) as f:
            return f.read()

    def _system(self) -> tuple[Any, str]:
        _import("pyarrow")
        from pyarrow import fs

        system, path = fs.FileSystem.from_uri(self.folder)
        return system, path.rstrip("/")


def _import(name: str) -> Any:
    try:
        return __import__(name)
    except ImportError as e:
        raise ImportError(f"this needs {name}: pip install {name}") from e


def _promotion(pyarrow: Any) -> dict:
    return {"promote_options": "permissive"} if int(pyarrow.__version__.split(".")[0]) >= 14 else {"promote": True}


def _rows(name: str, content: bytes, settings: dict, in_tree: bool) -> Any:
    """The rows of a file, by its name and the settings of the job. In a tree that is the name of an input, which may be a text."""
    import pyarrow

    kind = name
    for ending, codec in ((".gz", "gzip"), (".zst", "zstd")):
        if kind.endswith(ending):
            kind = kind[: -len(ending)]
            with pyarrow.input_stream(pyarrow.BufferReader(content), compression=codec) as f:
                content = f.read()
    stem, kind = kind, kind.rsplit(".", 1)[-1].lower()
    if kind in ("parquet", "pq"):
        import pyarrow.parquet

        return pyarrow.parquet.read_table(pyarrow.BufferReader(content))
    if kind == "lines" or in_tree and settings["format"] == "lines":
        return _texts_of_lines(content)
    if kind in ("jsonl", "ndjson") or kind == "json" and not content.lstrip().startswith(b"["):
        return _lines(content)
    if kind == "json":
        return pyarrow.Table.from_pylist(json.loads(content))
    if kind in ("csv", "tsv", "tab"):
        quote = settings.get("quote") or ('"' if kind == "csv" else "none")
        return _columns(content, settings.get("delimiter") if kind == "csv" else "tab", quote, settings.get("escape"))
    if kind == "tar":
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            members = [m for m in archive if m.isfile()]
            texts = [archive.extractfile(m).read().decode("utf-8", "replace") for m in members]
        return _texts([m.name for m in members], texts)
    if in_tree and kind not in ("warc", "wet", "arc"):
        return _texts([stem], [content.decode("utf-8", "replace")])
    raise ValueError(f"{name} is no table: read it with what reads .{kind}")


def _texts(ids: list[str], texts: list[str]) -> Any:
    import pyarrow

    return pyarrow.table({"id": ids, "text": texts}, pyarrow.schema([("id", "string"), ("text", "string")]))


def _texts_of_lines(content: bytes) -> Any:
    import pyarrow

    text = content.decode("utf-8-sig", "replace").replace("\r\n", "\n")
    lines = text.split("\n" if "\n" in text else "\r")
    return pyarrow.table({"text": [line for line in lines if line]}, pyarrow.schema([("text", "string")]))


def _lines(content: bytes) -> Any:
    import pyarrow
    import pyarrow.json

    if not content.strip():
        return pyarrow.table({})
    # One block is as long as the longest line at least, and the types of columns are found in all of it.
    options = pyarrow.json.ReadOptions(block_size=min(max(len(content), 1 << 20), (1 << 31) - 1))
    return pyarrow.json.read_json(pyarrow.BufferReader(content), read_options=options)


def _columns(content: bytes, delimiter: str | None, quote: str = '"', escape: str | None = None) -> Any:
    """The columns of a CSV file as texts, as they stand: 007 is not 7. Without a delimiter it is the one that makes most names."""
    import pyarrow
    import pyarrow.csv

    text = content.decode("utf-8-sig", "replace")
    if text[:4].lower() == "sep=" and text[5:6] in ("\r", "\n"):
        delimiter, content = delimiter or text[4], content[content.index(b"\n") + 1 :]
        text = text[text.index("\n") + 1 :]
    quoting = {"quoting": csv.QUOTE_NONE} if quote == "none" else {"quotechar": quote}
    separators = ["\t" if delimiter == "tab" else delimiter] if delimiter else [",", ";", "\t", "|"]
    named = [(next(csv.reader(io.StringIO(text, newline=""), delimiter=one, escapechar=escape, **quoting), []), one) for one in separators]
    names, separator = max(named, key=lambda of: len(of[0]))
    if not names:
        return pyarrow.table({})
    return pyarrow.csv.read_csv(
        pyarrow.BufferReader(content),
        parse_options=pyarrow.csv.ParseOptions(
            delimiter=separator, quote_char=quote != "none" and quote, escape_char=escape or False, newlines_in_values=True
        ),
        convert_options=pyarrow.csv.ConvertOptions(column_types={name: pyarrow.string() for name in names}, strings_can_be_null=False),
    )


def _to_polars(table: Any) -> Any:
    return _import("polars").from_arrow(table)


def _to_datasets(table: Any) -> Any:
    return _import("datasets").Dataset(table)


def _to_pandas(table: Any) -> Any:
    _import("pandas")
    return table.to_pandas()


_CONVERSIONS = {"arrow": lambda table: table, "pandas": _to_pandas, "polars": _to_polars, "datasets": _to_datasets}
