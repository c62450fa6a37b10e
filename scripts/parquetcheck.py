#!/usr/bin/env python3
"""Checks with pyarrow, DuckDB, pandas, Polars, Spark and datasets that others read the Parquet files that mirrorbeam writes.

    parquetcheck.py FOLDER            what the tests TestForOthers and TestParquetResults have written into the folder
    parquetcheck.py --joins RUNJOB    results of that program join with their input by its own column of ids
    parquetcheck.py --make IN OUT     a Parquet file of a JSONL file with id and text, with six more columns
    parquetcheck.py --time FILE       the speed with which pyarrow and DuckDB read id and text of a file, on one core

The folder has results as pairs of files: NAME.parquet, and NAME.json with the rows that it must have, as a list of
objects. Results of jobs have their rows in NAME.jsonl, as the job writes them. It also has copies of the files in internal/input/parquetfile/testdata: third-NAME has every third row, and
annotated-NAME all of them with four more columns.
"""

import atexit
import functools
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

import duckdb
import pyarrow as pa
import pyarrow.compute
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet as pq


TESTDATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../internal/input/parquetfile/testdata")
ADDED = ["cluster", "cluster_size", "kept", "kept_id"]


def check(folder):
    names = sorted(glob.glob(os.path.join(folder, "*.parquet")))
    if len(names) < 10:
        sys.exit(f"only {len(names)} Parquet files in {folder}")
    for name in names:
        kind, _, original = os.path.basename(name).partition("-")
        if kind == "third":
            check_copy(name, original, lambda table: table.take(pa.array(range(1, table.num_rows, 3), pa.int64())))
        elif kind == "annotated":
            check_copy(name, original, lambda table: table, ADDED)
        else:
            check_results(name)


def ask(query, values=()):
    """The rows that DuckDB answers with, on a connection of their own."""
    with duckdb.connect() as connection:
        return connection.execute(query, list(values)).fetchall()


def rows_of(name, columns):
    """The rows that a file must have. Those of jobs are filled in: JSON leaves out what says no, or nothing."""
    plain_name = name.removesuffix(".parquet")
    texts = {c: "" for c in columns if c.split("_")[0] in ("url", "date") or c.endswith(("_url", "_date")) or c in ("kept_id", "like_id")}
    if not os.path.exists(plain_name + ".jsonl"):
        with open(plain_name + ".json") as f:
            return [texts | row for row in json.load(f)]
    usual = texts | {"identical": False, "reference": False, "spans": [], "more_spans": 0}
    rows = []
    with open(plain_name + ".jsonl") as f:
        for line in f:
            row = {c: usual[c] for c in columns if c in usual} | json.loads(line)
            if row.get("spans"):
                row["spans"] = [
                    dict(zip(("a_begin", "a_end", "b_begin", "b_end", "words"), (*s["a"], *s["b"], s["words"])))
                    for s in row["spans"]
                ]
            rows.append(row)
    return rows


def check_results(name):
    table = pq.read_table(name)
    table.validate(full=True)
    want = rows_of(name, table.column_names)
    compare(name, "pyarrow", want, table.to_pylist())
    rows = ask(f"SELECT * FROM read_parquet('{name}')")
    compare(name, "DuckDB", want, [dict(zip(table.column_names, row)) for row in rows])
    # Bounds that are wrong would hide rows from those who ask for a value.
    for column in ("id", "a", "file"):
        if want and column in want[0]:
            value = want[len(want) // 2][column]
            count = sum(row[column] == value for row in want)
            found = ask(f"SELECT count(*) FROM read_parquet('{name}') WHERE \"{column}\" = ?", [value])
            if found != [(count,)] or pq.read_table(name, filters=[(column, "=", value)]).num_rows != count:
                sys.exit(f"{name}: a filter by {column} does not find {value!r} {count} times")
    print(f"{os.path.basename(name)}: {len(want)} rows, {len(table.column_names)} columns")


def check_copy(name, original, part, added=()):
    source = os.path.join(TESTDATA, original)
    want, got = part(pq.read_table(source)), pq.read_table(name)
    got.validate(full=True)
    for column in added:
        if column not in got.column_names:
            sys.exit(f"{name} has no column {column}")
    plain_part = got.drop_columns(list(added))
    if not plain_part.schema.equals(want.schema, check_metadata=not added):  # pandas knows more of added columns
        sys.exit(f"{name} has another schema than {original}:\n{plain_part.schema}\n{want.schema}")
    for column in want.column_names:
        if not same(plain_part[column], want[column]):
            sys.exit(f"{name} has other values than {original} in {column}")
    columns = ", ".join(f'"{column}"' for column in want.column_names)
    rows = ask(f"SELECT {columns} FROM read_parquet('{name}')")
    if rows != part_of(ask(f"SELECT {columns} FROM read_parquet('{source}')"), name):
        sys.exit(f"{name} has other values than {original} for DuckDB")
    print(f"{os.path.basename(name)}: {got.num_rows} rows, {len(got.column_names)} columns")


def same(a, b):
    """Reports whether columns have the same values, whether or not of the same type."""
    if a.type != b.type and pa.types.is_timestamp(a.type):
        a = a.cast(b.type)
    return a.equals(b) or a.to_pylist() == b.to_pylist()


def part_of(rows, name):
    return rows[1::3] if os.path.basename(name).startswith("third-") else rows


def plain(value):
    """A value as JSON would have it. Maps are lists of pairs in pyarrow, and objects in DuckDB."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, bytes):
        return value.decode()
    return value


def compare(name, reader, want, got):
    if len(want) != len(got):
        sys.exit(f"{name}: {reader} reads {len(got)} rows, not {len(want)}")
    for i, (expected, row) in enumerate(zip(want, got)):
        if plain(row) != expected:
            sys.exit(f"{name}: row {i} is {plain(row)} for {reader}, not {expected}")


def joins(runjob):
    """Joins removed with the input in six libraries, whatever the type of the ids, with rows and without."""
    texts = [f"the quick brown fox jumps over the lazy dog at number {i // 2}" for i in range(8)]
    for kind, ids in (("integers", range(100, 108)), ("strings", [f"d{i}" for i in range(8)])):
        for form in ("parquet", "jsonl", "csv"):
            for rows in (8, 1):
                with tempfile.TemporaryDirectory() as folder:
                    table = pa.table({"id": list(ids)[:rows], "text": texts[:rows]})
                    check_joins(runjob, folder, table, form, kind)
    print("joins by pandas, Polars, DuckDB, pyarrow, datasets" + (" and Spark" if spark() else "; no Java: not by Spark"))


@functools.cache
def spark():
    """A session of Spark in this process and one of Java, or None where there is no Java."""
    if not (shutil.which("java") or "JAVA_HOME" in os.environ):
        return None
    import pyspark.sql

    settings = {"spark.ui.enabled": False, "spark.ui.showConsoleProgress": False, "spark.log.level": "ERROR"}
    settings |= {"spark.sql.shuffle.partitions": 1, "spark.driver.host": "localhost"}
    session = pyspark.sql.SparkSession.builder.master("local[1]").config(map=settings).getOrCreate()
    atexit.register(session.stop)
    return session


def check_joins(runjob, folder, table, form, kind):
    source, out = os.path.join(folder, f"in.{form}"), os.path.join(folder, "out")
    write_as(table, source, form)
    command = [runjob, "run", "--quiet", "--input", source, "--output", out, "--threshold", "0.95"]
    subprocess.run(command + ["--emit", "clusters,pairs,removed", "--output-format", "parquet"], check=True)
    (removed,) = glob.glob(os.path.join(out, "removed-*.parquet"))
    want = table["id"].to_pylist()[1::2]
    for reader, found in joined(source, removed, form):
        if found != want:
            sys.exit(f"{kind} in {form}: {reader} joins {found}, not {want}")
    for name, columns in (("clusters", ["id", "cluster"]), ("pairs", ["a", "b"])):
        schema = pq.read_schema(glob.glob(os.path.join(out, name + "-*.parquet"))[0])
        for column in columns:
            if schema.field(column).type != table.schema.field("id").type:
                sys.exit(f"{kind} in {form}: {column} of {name} is {schema.field(column).type}")


def write_as(table, path, form):
    if form == "parquet":
        pq.write_table(table, path)
    elif form == "csv":
        pyarrow.csv.write_csv(table, path)
    else:
        with open(path, "w") as f:
            f.writelines(json.dumps(row) + "\n" for row in table.to_pylist())


def joined(source, removed, form):
    """The ids that each library finds in both files, with the types that it gives the columns by itself."""
    import datasets
    import pandas
    import polars

    read = {"parquet": pandas.read_parquet, "csv": pandas.read_csv, "jsonl": lambda p: pandas.read_json(p, lines=True)}[form]
    yield "pandas", sorted(read(source).merge(pandas.read_parquet(removed), on="id")["id"].tolist())
    read = {"parquet": polars.read_parquet, "csv": polars.read_csv, "jsonl": polars.read_ndjson}[form]
    yield "Polars", sorted(read(source).join(polars.read_parquet(removed), on="id")["id"].to_list())
    yield "DuckDB", [row[0] for row in ask(f"SELECT i.id FROM '{source}' i JOIN '{removed}' r ON i.id = r.id ORDER BY 1")]
    read = {"parquet": pq.read_table, "csv": pyarrow.csv.read_csv, "jsonl": pyarrow.json.read_json}[form]
    yield "pyarrow", sorted(read(source).join(pq.read_table(removed), "id", join_type="inner")["id"].to_pylist())
    load = {"parquet": "parquet", "csv": "csv", "jsonl": "json"}[form]
    cache = os.path.join(os.path.dirname(source), "cache")
    gone = set(datasets.Dataset(pq.read_table(removed))["id"])  # load_dataset refuses files without rows
    rows = datasets.load_dataset(load, data_files=source, split="train", cache_dir=cache)
    yield "datasets", sorted(rows.filter(lambda row: row["id"] in gone)["id"])
    if spark():
        options = {"header": True, "inferSchema": True} if form == "csv" else {}
        rows = spark().read.load(source, format=load, **options).join(spark().read.parquet(removed), "id").select("id")
        yield "Spark", sorted(row["id"] for row in rows.collect())


def make(source, target):
    ids, texts = [], []
    with open(source) as f:
        for line in f:
            record = json.loads(line)
            ids.append(record["id"])
            texts.append(record["text"])
    n = range(len(ids))
    table = pa.table(
        {
            "id": ids,
            "number": pa.array(n, pa.int64()),
            "raw": pa.array([t.upper() for t in texts], pa.large_string()),
            "text": texts,
            "score": pa.array([i / 7 for i in n]),
            "source": pa.array([i.split("/")[0] for i in ids]).dictionary_encode(),
            "meta": pa.array([{"lang": "en", "length": len(t)} for t in texts]),
            "tags": pa.array([[str(i % 3), str(i % 5)] for i in n]),
        }
    )
    pq.write_table(table, target, compression="zstd", row_group_size=20000)


def speed(name):
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    duckdb.execute("SET threads = 1")
    table = pq.read_table(name, columns=["id", "text"])
    size = sum(int(pa.compute.sum(pa.compute.binary_length(table[c])).as_py()) for c in ("id", "text"))

    def best(read):
        times = []
        for _ in range(5):
            begin = time.perf_counter()
            read()
            times.append(time.perf_counter() - begin)
        return size / min(times) / 1e6

    print(f"{size} bytes in id and text")
    print(f"pyarrow {best(lambda: pq.read_table(name, columns=['id', 'text'], use_threads=False)):.0f} MB/s")
    sql = f"SELECT sum(strlen(id)), sum(strlen(text)) FROM read_parquet('{name}')"
    print(f"DuckDB {best(lambda: duckdb.sql(sql).fetchall()):.0f} MB/s")


def main():
    match sys.argv[1:]:
        case ["--joins", runjob]:
            joins(runjob)
        case ["--make", source, target]:
            make(source, target)
        case ["--time", name]:
            speed(name)
        case [folder] if os.path.isdir(folder):
            check(folder)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
