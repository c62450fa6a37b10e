#!/usr/bin/env python3
"""Checks that values survive: every type of Parquet and of Arrow, as each writer writes it, comes out of unique, annotated and trimmed as it went in.

    columnmatrix.py RUNJOB

One job reads all files. Rows, their order, types and metadata are compared by pyarrow, DuckDB, Polars and pandas, each where it reads the input.
"""

import datetime
import decimal
import functools
import glob
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import uuid

import datasets
import duckdb
import numpy
import pandas
import polars
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq

ROWS = 40
ADDED = ["cluster", "cluster_size", "kept", "kept_id"]


def times(of):
    return [of(i) if i % 7 else None for i in range(ROWS)]


def columns():
    """A column of each type, with nulls."""
    d = decimal.Decimal
    start = datetime.datetime(1999, 12, 31, 23, 59, 58, 123456)
    found = {
        "bool": pa.array(times(lambda i: i % 3 == 0)),
        "bool_true": pa.array([True] * ROWS),
        "bool_runs": pa.array([i // 17 % 2 == 0 for i in range(ROWS)]),
        "bool_list": pa.array(times(lambda i: [True, None, i % 2 == 0][: i % 4])),
        "float16": pa.array([numpy.float16(i / 8) for i in range(ROWS)]),
        "date32": pa.array(times(lambda i: start.date() + datetime.timedelta(i)), pa.date32()),
        "date64": pa.array(times(lambda i: start.date() + datetime.timedelta(i)), pa.date64()),
        "fixed": pa.array(times(lambda i: bytes([i] * 5)), pa.binary(5)),
        "string": pa.array(times(lambda i: "naïve " * i)),
        "string_words": pa.array(times(lambda i: "abc"[i % 3])),
        "large_string": pa.array(times(lambda i: f"{i}" * 3), pa.large_string()),
        "binary": pa.array(times(lambda i: bytes(range(i))), pa.binary()),
        "large_binary": pa.array(times(lambda i: b"\xff\x00" * i), pa.large_binary()),
        "dictionary": pa.array(times(lambda i: "xyz"[i % 3])).dictionary_encode(),
        "null": pa.nulls(ROWS),
        "list": pa.array(times(lambda i: [i, None, -i][: i % 4]), pa.list_(pa.int32())),
        "large_list": pa.array(times(lambda i: ["a"] * (i % 3)), pa.large_list(pa.string())),
        "fixed_list": pa.array(times(lambda i: [i / 2, -i]), pa.list_(pa.float32(), 2)),
        "struct": pa.array(times(lambda i: {"a": i, "b": None if i % 5 == 0 else str(i)})),
        "map": pa.array(times(lambda i: [(f"k{j}", j) for j in range(i % 3)]), pa.map_(pa.string(), pa.int64())),
        "deep": pa.array(times(lambda i: [{"x": [{"y": [i, None]}] * (i % 3), "z": None}] * (i % 2))),
        "uuid": pa.array(times(lambda i: uuid.UUID(int=i).bytes), pa.uuid()),
        "json": pa.array(times(lambda i: json.dumps({"i": i})), pa.json_()),
    }
    for bits in (8, 16, 32, 64):
        found[f"int{bits}"] = pa.array(times(lambda i: -(2 ** (bits - 1)) + i if i % 2 else 2 ** (bits - 1) - 1), getattr(pa, f"int{bits}")())
        found[f"uint{bits}"] = pa.array(times(lambda i: 2**bits - 1 - i), getattr(pa, f"uint{bits}")())
    for bits in (32, 64):
        found[f"float{bits}"] = pa.array(times(lambda i: [i / 3, float("inf"), -0.0, 1e30][i % 4]), getattr(pa, f"float{bits}")())
    for digits, kind in ((5, pa.decimal128), (15, pa.decimal128), (38, pa.decimal128), (60, pa.decimal256)):
        found[f"decimal{digits}"] = pa.array(times(lambda i: d(i * 7 - 99).scaleb(-2)), kind(digits, 2))
    for unit in ("s", "ms"):
        found[f"time32_{unit}"] = pa.array(times(lambda i: i * 1000), pa.time32(unit))
    for unit in ("us", "ns"):
        found[f"time64_{unit}"] = pa.array(times(lambda i: i * 10**9 + i), pa.time64(unit))
    for unit in ("s", "ms", "us", "ns"):
        for zone in (None, "UTC", "Europe/Berlin"):
            found[f"timestamp_{unit}_{zone}"] = pa.array(times(lambda i: -(10**9) + i), pa.timestamp(unit, zone))
        found[f"duration_{unit}"] = pa.array(times(lambda i: i * 1001), pa.duration(unit))
    return found


def of_arrow():
    """Columns of types that only Arrow has."""
    words = pa.array(times(lambda i: f"a word that is longer than a view, {i}" if i % 2 else "short"))
    return {
        "string_view": words.cast(pa.string_view()),
        "binary_view": words.cast(pa.binary()).cast(pa.binary_view()),
        "list_view": pa.array(times(lambda i: [i, i + 1]), pa.list_view(pa.int64())),
        "dictionary8": pa.array(times(lambda i: "xyz"[i % 3])).dictionary_encode().cast(pa.dictionary(pa.int8(), pa.string())),
        "decimal32": pa.array(times(lambda i: decimal.Decimal(i)), pa.decimal32(9, 0)),
        "decimal64": pa.array(times(lambda i: decimal.Decimal(i)), pa.decimal64(18, 0)),
        "interval": pa.array(times(lambda i: (i, i, i)), pa.month_day_nano_interval()),
        "union": pa.UnionArray.from_sparse(pa.array([i % 2 for i in range(ROWS)], pa.int8()), [pa.array(range(ROWS)), pa.array(["x"] * ROWS)]),
        "runs": pa.RunEndEncodedArray.from_arrays(pa.array([10, 30, ROWS], pa.int32()), pa.array(["a", None, "b"])),
    }


class Files:
    """The files of the input. Each has an id and a text of its own in each row, and every second text begins as the row before."""

    def __init__(self, folder):
        self.folder, self.count, self.names = folder, 0, []

    def table(self, columns):
        n = self.count
        words = lambda i: " ".join([f"w{n}x{i // 2}y{j}" for j in range(30)] + [f"w{n}z{i}y{j}" for j in range(10)])
        return pa.table({"id": [f"{n}-{i}" for i in range(ROWS)], "text": [words(i) for i in range(ROWS)]} | columns)

    def add(self, name, columns, write):
        path = os.path.join(self.folder, f"{self.count:04}-" + name.replace("/", "-"))
        table = self.table(columns)
        try:
            write(table, path)
        except BaseException as e:  # as a panic of Polars is
            if isinstance(e, KeyboardInterrupt):
                raise
            print(f"not written: {name}: {str(e)[:90]}")
            if os.path.exists(path):
                os.remove(path)
            return
        self.count += 1
        self.names.append(path)


def write_all(files):
    all_of = columns()
    for version, dictionary, codec in itertools.product(
        ("1.0", "2.0"), (True, False), ("none", "snappy", "gzip", "brotli", "zstd", "lz4")
    ):
        options = {"data_page_version": version, "use_dictionary": dictionary, "compression": codec, "row_group_size": 16}
        files.add(f"pyarrow-{version}-{dictionary}-{codec}.parquet", all_of, lambda t, p: pq.write_table(t, p, **options))
    encodings = {
        "int32": "DELTA_BINARY_PACKED", "int64": "DELTA_BINARY_PACKED", "string": "DELTA_BYTE_ARRAY", "binary": "DELTA_LENGTH_BYTE_ARRAY",
        "float32": "BYTE_STREAM_SPLIT", "float64": "BYTE_STREAM_SPLIT", "fixed": "DELTA_BYTE_ARRAY", "text": "DELTA_BYTE_ARRAY",
        "bool": "RLE", "decimal38": "BYTE_STREAM_SPLIT",
    }
    some = {name: all_of[name] for name in encodings if name != "text"}
    for version in ("1.0", "2.0"):
        files.add(f"encodings-{version}.parquet", some, lambda t, p: pq.write_table(
            t, p, data_page_version=version, use_dictionary=False, column_encoding=encodings, store_schema=False, write_page_checksum=True))
    files.add("integers.parquet", {f"decimal{n}": all_of[f"decimal{n}"] for n in (5, 15)},
              lambda t, p: pq.write_table(t, p, store_decimal_as_integer=True))
    files.add("int96.parquet", {"when": all_of["timestamp_ns_None"]}, lambda t, p: pq.write_table(t, p, use_deprecated_int96_timestamps=True))
    files.add("bare.parquet", all_of, lambda t, p: pq.write_table(t, p, store_schema=False))
    files.add("index.parquet", all_of, lambda t, p: pq.write_table(t, p, write_page_index=True, sorting_columns=[pq.SortingColumn(0)]))
    metadata = lambda t: t.replace_schema_metadata({"mine": "yes", b"raw": b"\xff"})
    files.add("metadata.parquet", {"n": all_of["int8"]}, lambda t, p: pq.write_table(metadata(t), p))
    for column, values in all_of.items():
        files.add(f"pandas-{column}.parquet", {column: values}, lambda t, p: t.to_pandas().to_parquet(p))
        files.add(f"pandas-index-{column}.parquet", {column: values}, lambda t, p: t.to_pandas().set_index("id", drop=False).rename_axis("at").to_parquet(p))
        files.add(f"polars-{column}.parquet", {column: values}, lambda t, p: polars.from_arrow(t).write_parquet(p))
        files.add(f"duckdb-{column}.parquet", {column: values}, lambda t, p: duckdb.sql(f"COPY (FROM t) TO '{p}' (ROW_GROUP_SIZE 2048)"))
        files.add(f"duckdb-v2-{column}.parquet", {column: values}, lambda t, p: duckdb.sql(f"COPY (FROM t) TO '{p}' (PARQUET_VERSION v2)"))
        files.add(f"datasets-{column}.parquet", {column: values}, lambda t, p: datasets.Dataset(t).to_parquet(p))
        files.add(f"polars-{column}.arrow", {column: values}, lambda t, p: polars.from_arrow(t).write_ipc(p, compression="zstd"))
        files.add(f"polars-stream-{column}.arrow", {column: values}, lambda t, p: polars.from_arrow(t).write_ipc_stream(p))
        files.add(f"datasets-{column}.arrow", {column: values}, lambda t, p: save(datasets.Dataset(t), p))
    features = datasets.Features({"label": datasets.ClassLabel(names=["a", "b"]), "pair": datasets.Translation(["de", "en"])})
    rows = datasets.Dataset.from_dict({"label": [i % 2 for i in range(ROWS)], "pair": [{"de": "ja", "en": "yes"}] * ROWS}, features)
    table = rows.data.table
    for ending, write in (("parquet", lambda t, p: datasets.Dataset(t).to_parquet(p)), ("arrow", lambda t, p: save(datasets.Dataset(t), p))):
        files.add(f"features.{ending}", {c: table[c] for c in table.column_names}, lambda t, p: write(t.replace_schema_metadata(table.schema.metadata), p))
    for codec in (None, "lz4", "zstd"):
        for kind in (pa.ipc.new_file, pa.ipc.new_stream):
            options = pa.ipc.IpcWriteOptions(compression=codec)
            files.add(f"{kind.__name__}-{codec}.arrow", all_of, functools.partial(write_ipc, kind, options))
            for column, values in of_arrow().items():
                files.add(f"{kind.__name__}-{codec}-{column}.arrow", {column: values}, functools.partial(write_ipc, kind, options))


def write_ipc(kind, options, table, path):
    with kind(path, table.schema, options=options) as out:
        out.write_table(table, max_chunksize=16)


def save(dataset, path):
    dataset.save_to_disk(path + ".folder")
    (shard,) = glob.glob(os.path.join(path + ".folder", "*.arrow"))
    shutil.move(shard, path)
    shutil.rmtree(path + ".folder")


def write_spark(files):
    """Files of Spark, in both versions of its pages."""
    import parquetcheck

    if not parquetcheck.spark():
        return
    simple = {name: values for name, values in columns().items() if name in SPARK}
    for version, codec in itertools.product(("PARQUET_1_0", "PARQUET_2_0"), ("none", "snappy", "gzip", "zstd", "lz4_raw")):
        files.add(f"spark-{version}-{codec}.parquet", simple, functools.partial(spark_file, version, codec))


SPARK = ["bool", "bool_true", "bool_runs", "date32", "string", "binary", "list", "struct", "map", "int8", "int16", "int32", "int64", "float32",
         "float64", "decimal5", "decimal15", "decimal38", "timestamp_us_None", "timestamp_us_UTC"]


def spark_file(version, codec, table, path):
    import parquetcheck

    source = path + ".source"
    pq.write_table(table, source)
    rows = parquetcheck.spark().read.parquet(source).coalesce(1)
    rows.write.option("parquet.writer.version", version).option("compression", codec).parquet(path + ".folder")
    (part,) = glob.glob(os.path.join(path + ".folder", "part-*"))
    shutil.move(part, path)
    shutil.rmtree(path + ".folder")
    os.remove(source)


def read_arrow(path):
    table = read_table(path)
    table.validate(full=True)
    return table


def read_table(path):
    if path.endswith(".parquet"):
        return pq.read_table(path)
    with open(path, "rb") as f:
        is_file = f.read(6) == b"ARROW1"
    with pa.OSFile(path) as f:
        return (pa.ipc.open_file if is_file else pa.ipc.open_stream)(f).read_all()


def read_duckdb(path):
    return duckdb.sql(f"FROM '{path}'").to_arrow_table() if path.endswith(".parquet") else None


def read_polars(path):
    if path.endswith(".parquet"):
        return polars.read_parquet(path, hive_partitioning=False)
    with open(path, "rb") as f:
        return polars.read_ipc(path, memory_map=False) if f.read(6) == b"ARROW1" else polars.read_ipc_stream(path)


def read_pandas(path):
    return pandas.read_parquet(path) if path.endswith(".parquet") else None


def plain(value):
    """A value of which NaN equals itself."""
    return repr(value.tolist() if isinstance(value, numpy.ndarray) else value)


def compare(path, out, kind):
    """Returns what differs between a file and its copy for a reader that reads the file, or None."""
    readers = (("pyarrow", read_arrow), ("DuckDB", read_duckdb), ("Polars", read_polars), ("pandas", read_pandas))
    count = 0
    for name, read in readers:
        try:
            source = read(path)
        except BaseException as e:
            if isinstance(e, KeyboardInterrupt):
                raise
            continue
        if source is None:
            continue
        count += 1
        copy = read(out)
        fault = compare_schemas(source, copy, kind) if name == "pyarrow" else None
        fault = fault or compare_rows(source, copy, kind, name)
        if fault:
            return f"{name}: {fault}"
    return None if count else "nobody reads it"


def compare_schemas(want, got, kind):
    extra = [c for c in got.column_names if c not in want.column_names]
    if extra != (ADDED if kind == "annotated" else []):
        return f"columns {extra} are added"
    bare = got.drop_columns(extra) if extra else got
    metadata = dict(want.schema.metadata or {}), dict(bare.schema.metadata or {})
    if kind == "annotated":
        [m.pop(b"pandas", None) for m in metadata]
    if not bare.schema.remove_metadata().equals(want.schema.remove_metadata(), check_metadata=True):
        return f"its schema is\n{bare.schema}\n, not\n{want.schema}"
    if metadata[0] != metadata[1]:
        return f"its metadata are {metadata[1]}, not {metadata[0]}"
    return None


def compare_rows(source, copy, kind, name):
    is_frame = name in ("Polars", "pandas")
    values = lambda c: list(c) if is_frame else c.to_pylist()
    ids = set(values(copy["id"]))
    rows = [i for i, id in enumerate(values(source["id"])) if id in ids]
    if len(rows) != (ROWS // 2 if kind == "unique" else ROWS):
        return f"it has {len(rows)} rows"
    for column in list(source.columns) if is_frame else source.column_names:
        a, b = source[column], copy[column]
        kinds = (a.dtype, b.dtype) if is_frame else (a.type, b.type)
        if kinds[0] != kinds[1]:
            return f"{column} is {kinds[1]}, not {kinds[0]}"
        if kind == "trimmed" and column == "text":
            continue
        a, b = values(a), values(b)
        want, got = [plain(a[i]) for i in rows], [plain(v) for v in b]
        if want != got:
            i = next(i for i, (x, y) in enumerate(zip(want, got)) if x != y)
            return f"{column} of row {i} is {got[i]}, not {want[i]}"
    if name == "pandas" and not isinstance(source.index, pandas.RangeIndex) and source.index[rows].tolist() != copy.index.tolist():
        return f"its index is {copy.index}"
    return None


def main():
    runjob = os.path.abspath(sys.argv[1])
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    datasets.disable_progress_bars()
    with tempfile.TemporaryDirectory() as folder:
        source, out = os.path.join(folder, "in"), os.path.join(folder, "out")
        os.mkdir(source)
        files = Files(source)
        write_all(files)
        write_spark(files)
        command = [runjob, "run", "--quiet", "--input", source, "--output", out, "--emit", "unique,annotated", "--threshold", "0.4"]
        subprocess.run(command, check=True)
        trim = [runjob, "run", "--quiet", "--input", source, "--output", out + "t", "--passage-words", "20", "--emit", "trimmed", "--keys", "same-bytes"]
        subprocess.run(trim, check=True)
        faults = 0
        for kind, place in (("unique", out), ("annotated", out), ("trimmed", out + "t")):
            copies = sorted(glob.glob(os.path.join(place, kind + "-*")))
            if len(copies) != len(files.names):
                sys.exit(f"{len(copies)} files of {kind} for {len(files.names)} files")
            for path, copy in zip(files.names, copies):
                try:
                    fault = compare(path, copy, kind)
                except Exception as e:
                    fault = f"cannot be read: {e}"
                if fault:
                    faults += 1
                    print(f"{kind} of {os.path.basename(path)}: {fault}")
        print(f"{len(files.names)} files of {len(columns()) + len(of_arrow())} types, three kinds of copies: {faults} differ")
        sys.exit(faults > 0)


if __name__ == "__main__":
    main()
