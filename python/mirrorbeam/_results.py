from __future__ import annotations

import csv
import html
import io
import json
import os
import shutil
import tarfile
import tempfile
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from ._call import ask
from ._data import Data, need
from ._formats import FORMATS

if TYPE_CHECKING:
    import datasets
    import pandas
    import polars
    import pyarrow

_COUNTS = ("documents", "pairs", "clusters", "removed", "kept")


Kind = Literal["arrow", "pandas", "polars", "datasets"]


class Output:
    """An output of a job as a method of its results. to is arrow unless the job was about data in memory: then it is its kind."""

    def __init__(self, name: str, doc: str):
        self.name, self.__doc__ = name, doc

    def __get__(self, results: Results | None, owner: type) -> Output:
        if results is None:
            return self
        bound = Output(self.name, self.__doc__ or "")
        bound.results = results
        return bound

    results: Results

    @overload
    def __call__(self, to: None = None) -> Any: ...
    @overload
    def __call__(self, to: Literal["arrow"]) -> pyarrow.Table: ...
    @overload
    def __call__(self, to: Literal["pandas"]) -> pandas.DataFrame: ...
    @overload
    def __call__(self, to: Literal["polars"]) -> polars.DataFrame: ...
    @overload
    def __call__(self, to: Literal["datasets"]) -> datasets.Dataset: ...
    def __call__(self, to: Kind | None = None) -> Any:
        return self.results.table(self.name, to)


class Results:
    """The results of a job, in its output folder: on the disk, or in a bucket that pyarrow can read.

    Each output is a table of pyarrow or, with to="pandas", "polars" or "datasets", of these. Results in a temporary folder go
    with the object, at close() or at the end of a with block. A pickle has all of them.
    """

    clusters = Output("clusters", "Each document in a cluster: its cluster, and whether it is kept.")
    pairs = Output("pairs", "Each verified pair, with its similarity.")
    _origin: Results | None = None
    removed = Output("removed", "Each removed document, and the kept one that it is a copy of.")

    def __init__(
        self, folder: str | os.PathLike[str], source: Data | None = None, rows: dict[str, int] | None = None, temporary: str | None = None
    ):
        self.folder = os.fspath(folder)
        self._source, self._rows, self._temporary = source, rows or {}, temporary
        if not self._exists("_SUCCESS"):
            raise FileNotFoundError(f"{self.folder} has no _SUCCESS: it is not the output of a job that has ended")
        self._finalizer = weakref.finalize(self, _remove, temporary, os.getpid())

    def __repr__(self) -> str:
        n = self.summary["counts"]
        told = ", ".join(f"{n.get(name, 0):,} {name}" for name in _COUNTS)
        return f"<Results: {told}; {self.folder}>"

    def _repr_html_(self) -> str:
        n = self.summary["counts"]
        removed, kept = n.get("removed", 0), n.get("kept", 0)
        share = 100 * removed / max(removed + kept, 1)
        cells = "".join(f"<tr><th style='text-align:left'>{name}</th><td>{n.get(name, 0):,}</td></tr>" for name in _COUNTS)
        bar = (
            f"<div title='{share:.1f} % removed' style='width:20em;height:.8em;background:#4a90d9'>"
            f"<div style='width:{share:.1f}%;height:100%;background:#d9604a'></div></div>"
        )
        page = ""
        if "://" not in self.folder:
            address = html.escape(Path(self.report()).resolve().as_uri(), quote=True)
            page = f"<a href='{address}' target='_blank'>{html.escape(address)}</a>"
        return f"<table>{cells}</table>{bar}<div>{share:.1f} % removed</div>{page}"

    def __enter__(self) -> Results:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Removes the results if their folder is a temporary one."""
        self._finalizer()

    def __getstate__(self) -> dict[str, Any]:
        packed = io.BytesIO()
        if self._temporary:
            with tarfile.open(fileobj=packed, mode="w") as archive:
                archive.add(self._temporary, ".")
        return {**{k: v for k, v in self.__dict__.items() if k != "_finalizer"}, "packed": packed.getvalue()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        packed = state.pop("packed")
        self.__dict__.update(state)
        if before := self._temporary:
            try:  # where it was: the summary has the path of the input
                os.mkdir(before, 0o700)
            except OSError:
                self._temporary = tempfile.mkdtemp(prefix="mirrorbeam-")
            if self.folder.startswith(before):
                self.folder = str(self._temporary) + self.folder[len(before) :]
            with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
                safely: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
                archive.extractall(str(self._temporary), **safely)
        self._finalizer = weakref.finalize(self, _remove, self._temporary, os.getpid())

    @property
    def summary(self) -> dict[str, Any]:
        """What summary.json says: the counts, the plan, warnings, time and memory."""
        return dict(json.loads(self._read("summary.json")))

    def unique(self, to: Kind | None = None) -> Any:
        """What stays, in the order of the input.

        Of data in memory that is the same kind of data, with all that it had. Of files it is a table of their records;
        texts that are a file each have the columns id and text.
        """
        if self._source is None or to is not None and to != self._source.kind:
            return self.table("unique", to)
        masks = {name: bytearray(b"\1") * rows for name, rows in self._rows.items()}
        for ref in self.table("removed", "arrow").column("ref").to_pylist() if any(self._rows.values()) else ():
            path, _, row = ref.rpartition(":")
            if (name := path.rpartition("/")[2]) in masks:  # not of the reference
                masks[name][int(row)] = 0
        return self._source.keep(masks)

    def rethreshold(self, threshold: float, output: str | os.PathLike[str] | None = None, **settings: str | list[str]) -> Results:
        """The results at a higher threshold, from the pairs of this job. settings are those of 'runjob recut', such as keep."""
        temporary = None if output else tempfile.mkdtemp(prefix="mirrorbeam-")
        folder = os.fspath(output or os.path.join(str(temporary), "results"))
        arguments = ["recut", self.folder, f"--threshold={threshold}", f"--output={folder}"]
        for name, value in settings.items():
            arguments.append(f"--{name.replace('_', '-')}={value if isinstance(value, str) else ','.join(value)}")
        try:
            ask(arguments, ["threshold", *settings])
            results = Results(folder, self._source, self._rows, temporary)
            results._origin = self  # has the texts that explain reads
            return results
        except BaseException:
            _remove(temporary, os.getpid())
            raise

    def explain(self, a: Any, b: Any) -> dict[str, Any]:
        """Why two documents are in one cluster, or are not, as 'runjob explain --json' says it."""
        return dict(json.loads(ask(["explain", self.folder, "--json", "--", str(a), str(b)])))

    def show(self, cluster: Any = None, limit: int = 20) -> dict[str, Any]:
        """The documents of a cluster, or of the one that a document is in; without one, the largest clusters."""
        named = [] if cluster is None else [str(cluster)]
        return dict(json.loads(ask(["show", self.folder, "--json", f"--limit={limit}", "--", *named])))

    def report(self) -> str:
        """The path of a page about the results, for a browser."""
        path = self.folder.rstrip("/") + "/report.html"
        if not self._exists("report.html"):
            ask(["report", self.folder])
        return path

    def table(self, output: str, to: Kind | None = None) -> Any:
        """The rows of an output, such as rejects."""
        kind = str(to or (self._source.kind if self._source else "arrow"))
        if kind not in _CONVERSIONS:
            raise ValueError(f"to={to!r}: must be one of {', '.join(_CONVERSIONS)}")
        pyarrow = need("pyarrow")
        names = self._names(output)
        settings = self.summary["config"]
        tables = [_rows(name.removeprefix(output + "/"), self._read(name), settings, in_tree=name.startswith(output + "/")) for name in names]
        # A file without rows has columns without types.
        filled = [table for table in tables if table.num_rows > 0] or tables[:1]
        return _CONVERSIONS[kind](pyarrow.concat_tables(filled, **_promotion(pyarrow)))

    def files(self, output: str) -> list[Path]:
        """The files of an output, on the disk."""
        return [Path(self.folder, name) for name in self._names(output)]

    def _names(self, output: str) -> list[str]:
        names = [f["name"] for f in json.loads(self._read("manifest.json"))["files"] if f["output"] == output]
        if not names:
            raise LookupError(f"the job has written no {output}: name it, as in run(..., emit=[{output!r}])")
        return names

    def _exists(self, name: str) -> bool:
        if "://" not in self.folder:
            return os.path.exists(os.path.join(self.folder, name))
        system, path = self._system()
        return bool(system.get_file_info(f"{path}/{name}").type.name == "File")

    def _read(self, name: str) -> bytes:
        if "://" not in self.folder:
            with open(os.path.join(self.folder, name), "rb") as f:
                return f.read()
        system, path = self._system()
        with system.open_input_stream(f"{path}/{name}", compression=None) as f:
            return bytes(f.read())

    def _system(self) -> tuple[Any, str]:
        need("pyarrow")
        from pyarrow import fs

        system, path = fs.FileSystem.from_uri(self.folder)
        return system, path.rstrip("/")


def _remove(folder: str | None, process: int) -> None:
    """Removes a temporary folder, unless this is a process that was forked from its owner."""
    if folder and os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def _promotion(pyarrow: Any) -> dict[str, Any]:
    return {"promote_options": "permissive"} if int(pyarrow.__version__.split(".")[0]) >= 14 else {"promote": True}


def _rows(name: str, content: bytes, settings: dict[str, Any], in_tree: bool) -> Any:
    """The rows of a file, by its name and the settings of the job. In a tree that is the name of an input, which may be a text."""
    import pyarrow

    for ending, codec in ((".gz", "gzip"), (".zst", "zstd")):
        if name.endswith(ending):
            name = name[: -len(ending)]
            with pyarrow.input_stream(pyarrow.BufferReader(content), compression=codec) as f:
                content = f.read()
    kind = name.rsplit(".", 1)[-1].lower()
    is_named = in_tree and settings["format"] != "auto"
    form = settings["format"] if is_named else FORMATS.get(kind, "text")
    if form == "parquet":
        import pyarrow.parquet

        return pyarrow.parquet.read_table(pyarrow.BufferReader(content))
    if form == "arrow":
        import pyarrow.ipc

        opened = pyarrow.ipc.open_file if content.startswith(b"ARROW1") else pyarrow.ipc.open_stream
        return opened(pyarrow.BufferReader(content)).read_all()
    if form == "lines":
        return _texts_of_lines(content)
    if form in ("json", "jsonl"):
        return pyarrow.Table.from_pylist(json.loads(content)) if content.lstrip().startswith(b"[") else _lines(content)
    if form in ("csv", "tsv"):
        quote = settings.get("quote") or ('"' if form == "csv" else "none")
        return _columns(content, settings.get("delimiter") if form == "csv" else "tab", quote, settings.get("escape"))
    if kind == "tar":
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            members = [m for m in archive if m.isfile()]
            files = [archive.extractfile(m) for m in members]
            texts = [f.read().decode("utf-8", "replace") for f in files if f]
        return _texts([m.name for m in members], texts)
    if in_tree and form not in FORMATS.values():
        return _texts([name], [content.decode("utf-8", "replace")])
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
    return need("polars").from_arrow(table)


def _to_datasets(table: Any) -> Any:
    return need("datasets").Dataset(table)


def _to_pandas(table: Any) -> Any:
    need("pandas")
    return table.to_pandas()


_CONVERSIONS = {"arrow": lambda table: table, "pandas": _to_pandas, "polars": _to_polars, "datasets": _to_datasets}
