"""Data in memory: what the program reads of it, and the part of it that stays."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from itertools import chain, compress
from typing import Any
from urllib.parse import quote

from ._errors import UsageError

BATCH = 1 << 14  # rows of a batch: the program gives batches to its cores


class Data:
    """Data of a caller. kind is the library of tables about it, and parts is what it consists of, such as splits, by name."""

    kind = "arrow"

    def __init__(self, data: Any):
        self.data = data

    @property
    def parts(self) -> dict[str, Data]:
        return {"row": self}

    def columns(self) -> list[Any]:
        return list(self.data.schema.names)

    def column(self, name: Any) -> Any:
        return self.data.column(name)

    def tables(self, names: list[Any]) -> Iterator[Any]:
        yield _table(self.column, names)

    def keep(self, masks: dict[str, bytearray]) -> Any:
        """The same data with the rows that have a 1."""
        return self.take(masks["row"])

    def take(self, mask: bytearray) -> Any:
        return self.data.filter(_booleans(mask))


class _Values(Data):
    """One column without a name: an array of Arrow, a series."""

    def columns(self) -> list[Any]:
        return ["text"]

    def column(self, name: Any) -> Any:
        return self.data


class _Reader(Data):
    """A reader can be read once."""

    def __init__(self, data: Any):
        super().__init__(data.read_all())

    def take(self, mask: bytearray) -> Any:
        return super().take(mask).to_reader()


class _Pandas(Data):
    kind = "pandas"

    def columns(self) -> list[Any]:
        return [*self.data.columns, *(name for name in self.data.index.names if name is not None and name not in self.data.columns)]

    def column(self, name: Any) -> Any:
        if name not in self.data.columns:
            return _array(self.data.index.get_level_values(name))
        values = self.data[name]
        if values.ndim > 1:
            raise UsageError(f"column {name!r}: there are {values.shape[1]} of this name: rename them", 2)
        return _array(values)

    def take(self, mask: bytearray) -> Any:
        return self.data.loc[need("numpy").frombuffer(mask, bool)]


class _PandasValues(_Pandas):
    def columns(self) -> list[Any]:
        return ["text"]

    def column(self, name: Any) -> Any:
        return _array(self.data)


class _Polars(Data):
    kind = "polars"

    def __init__(self, data: Any):
        self.is_lazy = hasattr(data, "collect")
        super().__init__(data.collect() if self.is_lazy else data)

    def columns(self) -> list[Any]:
        return self.data.columns if hasattr(self.data, "columns") else ["text"]

    def column(self, name: Any) -> Any:
        values = self.data.get_column(name) if hasattr(self.data, "columns") else self.data
        return values.to_arrow()

    def take(self, mask: bytearray) -> Any:
        kept = self.data.filter(need("polars").from_arrow(_booleans(mask)))
        return kept.lazy() if self.is_lazy else kept


class _Dataset(Data):
    kind = "datasets"

    def columns(self) -> list[Any]:
        return list(self.data.column_names)

    def tables(self, names: list[Any]) -> Iterator[Any]:
        plain = self.data.select_columns(names).with_format("arrow")
        for table in plain.iter(BATCH) if len(plain) else [plain.features.arrow_schema.empty_table()]:
            yield _table(table.column, names)

    def take(self, mask: bytearray) -> Any:
        return self.data.select(list(compress(range(len(mask)), mask))) if not all(mask) else self.data


class _Splits(Data):
    kind = "datasets"

    @property
    def parts(self) -> dict[str, Data]:
        return {str(name): _Dataset(part) for name, part in self.data.items()}

    def columns(self) -> list[Any]:
        return list(dict.fromkeys(chain.from_iterable(part.columns() for part in self.parts.values())))

    def keep(self, masks: dict[str, bytearray]) -> Any:
        return type(self.data)({name: _Dataset(part).take(masks[str(name)]) for name, part in self.data.items()})


class _Records(Data):
    """Dicts or texts: a list, a tuple, an array of NumPy, or what can only be gone through once."""

    def __init__(self, data: Iterable[Any]):
        self.kept = type(data) if isinstance(data, (list, tuple)) else iter
        super().__init__(data if hasattr(data, "dtype") else list(data))
        first = next((item for item in self.data if item is not None), "")
        if not isinstance(first, (str, Mapping)):
            raise TypeError(f"items of data are {type(first).__name__}: give dicts or strings")
        self.are_texts = isinstance(first, str)

    def columns(self) -> list[Any]:
        return ["text"] if self.are_texts else list(dict.fromkeys(chain.from_iterable(self.data)))

    def column(self, name: Any) -> Any:
        return _array(self.data if self.are_texts else [row.get(name) for row in self.data])

    def take(self, mask: bytearray) -> Any:
        if hasattr(self.data, "dtype"):
            return self.data[need("numpy").frombuffer(mask, bool)]
        return self.kept(compress(self.data, mask))


# By the top module and the name of a type, so that nothing is imported that the caller has not.
_KINDS: dict[tuple[str, str], type[Data]] = {
    ("pyarrow", "Table"): Data,
    ("pyarrow", "RecordBatch"): Data,
    ("pyarrow", "RecordBatchReader"): _Reader,
    ("pyarrow", "ChunkedArray"): _Values,
    ("pyarrow", "Array"): _Values,
    ("pandas", "DataFrame"): _Pandas,
    ("pandas", "Series"): _PandasValues,
    ("polars", "DataFrame"): _Polars,
    ("polars", "LazyFrame"): _Polars,
    ("polars", "Series"): _Polars,
    ("datasets", "Dataset"): _Dataset,
    ("datasets", "DatasetDict"): _Splits,
}


def adapted(data: Any) -> Data:
    """The adapter of data in memory."""
    for one in type(data).__mro__:
        kind = _KINDS.get((one.__module__.split(".")[0], one.__name__))
        if kind is not None:
            return kind(data)
    if hasattr(data, "__arrow_c_stream__"):
        return Data(need("pyarrow").table(data))
    if isinstance(data, (str, bytes, os.PathLike)):
        raise TypeError(f"{data!r} is a path or one text: give paths=True, or a list of texts")
    if isinstance(data, Mapping) or not isinstance(data, Iterable):
        raise TypeError(
            f"data is a {type(data).__name__}: give a frame of pandas or Polars, a table of Arrow, a Dataset, or dicts or strings"
        )
    return _Records(data)


def are_paths(data: Any) -> bool:
    """Whether data is a path or paths, if strings are."""
    return isinstance(data, (str, bytes, os.PathLike)) or (
        isinstance(data, (list, tuple)) and bool(data) and all(isinstance(one, (str, bytes, os.PathLike)) for one in data)
    )


# Settings that name a field of records.
_FIELDS = ("id_field", "text_field", "within", "across", "source_field", "url_field", "date_field", "features", "fingerprints")


def write(data: Data, folder: str, settings: dict[str, Any]) -> dict[str, int]:
    """Writes the columns that the settings name, a file for each part, and returns the rows of each, by the name of its file.

    A record without an id is called by its row. So a result can be joined with the data.
    """
    columns, parts, emit = data.columns(), data.parts, settings.get("emit") or ""
    if not {"text_field", "weight", "features", "fingerprints"} & settings.keys():
        if len(columns) == 1:
            settings["text_field"] = columns[0]
    wanted = [settings.get(name) for name in _FIELDS] + list(settings.get("weight") or ())
    wanted.append(str(settings.get("keep")).partition(":")[2] if str(settings.get("keep"))[:4] in ("max:", "min:") else None)
    if not {"weight", "features", "fingerprints", "text_field"} & settings.keys():
        wanted.append("text")
    is_empty = not columns and len(data.data) == 0
    sent = {} if is_empty else dict.fromkeys(_resolved(name, columns) for name in wanted if name is not None)
    sent.update(dict.fromkeys(name for name in ("id", "url", "date") if name in columns))
    if {"annotated", "trimmed"} & set(emit.split(",") if isinstance(emit, str) else emit):
        sent = dict.fromkeys(columns)
    for name in _FIELDS:
        if settings.get(name) is not None:
            settings[name] = str(settings[name])
    are_numbered = "id" not in columns and settings.get("id_field") is None and len(parts) == 1
    rows = {}
    for name, part in parts.items():
        file = quote(name, safe="")
        rows[file] = _write(part, os.path.join(folder, file), [one for one in sent if one in part.columns()], are_numbered)
    return rows


def _write(part: Data, path: str, names: list[Any], are_numbered: bool) -> int:
    pyarrow = need("pyarrow")
    rows, writer = 0, None
    for table in part.tables(names):
        if are_numbered:
            table = table.append_column("id", pyarrow.array(range(rows, rows + table.num_rows), pyarrow.int64()))
        writer = writer or pyarrow.ipc.new_stream(path, table.schema)
        writer.write_table(table, BATCH)
        rows += table.num_rows
    if writer:
        writer.close()
    return rows


def _resolved(name: Any, columns: list[Any]) -> Any:
    """The column of a field, which may lie within it, as content.body."""
    for one in (name, str(name).partition(".")[0]):
        if one in columns:
            return one
    known = ", ".join(repr(one) for one in columns)
    raise UsageError(f"no column {name!r}; there are {known or 'none'}: name the column of the text with on=", 2)


def _table(column: Callable[[Any], Any], names: list[Any]) -> Any:
    if not names:  # of nothing
        return need("pyarrow").table({"text": need("pyarrow").array([], "string")})
    return need("pyarrow").table([_plain(column(name)) for name in names], names=[str(name) for name in names])


def _plain(values: Any) -> Any:
    """An array in a type that the program reads."""
    pyarrow = need("pyarrow")
    kind = values.type
    if isinstance(kind, pyarrow.BaseExtensionType):
        return _plain(values.cast(kind.storage_type))
    if pyarrow.types.is_dictionary(kind):
        return _plain(values.cast(kind.value_type))
    if pyarrow.types.is_null(kind):
        return values.cast(pyarrow.string())
    return values.cast(pyarrow.large_string()) if "_view" in str(kind) else values


def _array(values: Iterable[Any]) -> Any:
    """An array of Arrow. What is of several types becomes texts, and half of a surrogate a question mark."""
    pyarrow = need("pyarrow")
    try:
        return pyarrow.array(values, from_pandas=True)
    except (pyarrow.ArrowException, TypeError, ValueError):
        texts = [None if value is None or value != value else str(value).encode("utf-8", "replace") for value in values]
        return pyarrow.array(texts, pyarrow.binary()).cast(pyarrow.large_string())


def _booleans(mask: bytearray) -> Any:
    pyarrow = need("pyarrow")
    return pyarrow.Array.from_buffers(pyarrow.uint8(), len(mask), [None, pyarrow.py_buffer(mask)]).cast(pyarrow.bool_())


def need(name: str) -> Any:
    """A package that is not installed with this one."""
    try:
        return import_module(name)
    except ImportError as e:
        raise ImportError(f"this needs {name}: pip install {name}") from e
