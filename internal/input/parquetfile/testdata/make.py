#!/usr/bin/env python3
"""Makes the Parquet files of this folder, and expected.json, which says what is in them.

    python -m venv venv && venv/bin/pip install -r scripts/parquetcheck.txt
    venv/bin/python internal/input/parquetfile/testdata/make.py

The files are committed, so the tests need no Python.
"""

import base64
import datetime
import decimal
import json
import os
import uuid

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.parquet.encryption as pe

HERE = os.path.dirname(os.path.abspath(__file__))
os.chdir(HERE)
UTC = datetime.timezone.utc
ROWS = 60


def text_of(i):
    """A text; some are null, some empty, some not ASCII."""
    if i % 10 == 3:
        return None
    if i % 10 == 4:
        return ""
    return f"Text {i}: " + "naïve 中文 words repeat. " * (i % 7)


def tags_of(i):
    return [None, [], ["one"], ["two", None, ""], [f"tag {i}", "more"]][i % 5]


def small():
    """The columns that all variants have."""
    return pa.table(
        {
            "id": pa.array([f"doc-{i:03}" for i in range(ROWS)]),
            "text": pa.array([text_of(i) for i in range(ROWS)], pa.large_string()),
            "meta": pa.array(
                [
                    None if i % 9 == 8 else {"lang": ["en", "de", None][i % 3], "n": {"score": i / 4}}
                    for i in range(ROWS)
                ],
                pa.struct([("lang", pa.string()), ("n", pa.struct([("score", pa.float64())]))]),
            ),
            "tags": pa.array([tags_of(i) for i in range(ROWS)], pa.list_(pa.string())),
        }
    )


def expected_small():
    def score(i):
        return None if i % 9 == 8 else str(i / 4)

    return {
        "id": [[f"doc-{i:03}"] for i in range(ROWS)],
        "text": [cell(text_of(i)) for i in range(ROWS)],
        "meta.lang": [cell(None if i % 9 == 8 else ["en", "de", None][i % 3]) for i in range(ROWS)],
        "meta.n.score": [cell(score(i)) for i in range(ROWS)],
        "tags": [[t for t in tags_of(i) or [] if t is not None] for i in range(ROWS)],
    }


def cell(value):
    return [] if value is None else [value]


MICROS = datetime.timedelta(microseconds=1)
EPOCH = datetime.datetime(1970, 1, 1)


def all_types():
    """A table with a column of each type, and its values as text."""
    columns, expected = {}, {}

    def add(name, kind, values, texts):
        columns[name] = pa.array(values, kind)
        expected[name] = [cell(t) for t in texts]

    add("int8", pa.int8(), [-128, None, 127], ["-128", None, "127"])
    add("int32", pa.int32(), [-(2**31), None, 7], ["-2147483648", None, "7"])
    add("int64", pa.int64(), [-(2**63), None, 2**63 - 1], ["-9223372036854775808", None, "9223372036854775807"])
    add("uint8", pa.uint8(), [0, None, 255], ["0", None, "255"])
    add("uint32", pa.uint32(), [0, None, 2**32 - 1], ["0", None, "4294967295"])
    add("uint64", pa.uint64(), [0, None, 2**64 - 1], ["0", None, "18446744073709551615"])
    add("float16", pa.float16(), [1.5, None, -65504.0], ["1.5", None, "-65504.0"])
    add("float32", pa.float32(), [0.1, None, 16777216.0], ["0.1", None, "16777216.0"])
    add("float64", pa.float64(), [0.1, None, 1e300], ["0.1", None, "1e+300"])
    add("bool", pa.bool_(), [True, None, False], ["true", None, "false"])
    add("date", pa.date32(), [datetime.date(1969, 12, 31), None, datetime.date(2026, 2, 28)],
        ["1969-12-31", None, "2026-02-28"])
    moment = datetime.datetime(2026, 11, 22, 8, 9, 10, 123456)
    before = datetime.datetime(1903, 1, 2, 3, 4, 5, 678000)
    add("seconds", pa.timestamp("s"), [moment.replace(microsecond=0), None, before.replace(microsecond=0)],
        ["2026-11-22T08:09:10", None, "1903-01-02T03:04:05"])
    add("millis", pa.timestamp("ms"), [before, None, before], ["1903-01-02T03:04:05.678", None, "1903-01-02T03:04:05.678"])
    add("micros", pa.timestamp("us", tz="UTC"), [moment.replace(tzinfo=UTC), None, before.replace(tzinfo=UTC)],
        ["2026-11-22T08:09:10.123456Z", None, "1903-01-02T03:04:05.678Z"])
    add("nanos", pa.timestamp("ns"), [(moment - EPOCH) // MICROS * 1000 + 789, None, 1],
        ["2026-11-22T08:09:10.123456789", None, "1970-01-01T00:00:00.000000001"])
    add("time32", pa.time32("ms"), [datetime.time(23, 59, 59, 999000), None, datetime.time(0)],
        ["23:59:59.999", None, "00:00:00"])
    add("time64", pa.time64("us"), [datetime.time(23, 59, 59, 999999), None, datetime.time(1, 2, 3)],
        ["23:59:59.999999", None, "01:02:03"])
    money = [decimal.Decimal("-0.005"), None, decimal.Decimal("123456.789")]
    add("decimal", pa.decimal128(9, 3), money, ["-0.005", None, "123456.789"])
    large = [decimal.Decimal("-1234567890123456789012345678.0123456789"), None, decimal.Decimal("0.0000000001")]
    add("decimal38", pa.decimal128(38, 10), large, [str(large[0]), None, "0.0000000001"])
    add("string", pa.string(), ["plain", None, ""], ["plain", None, ""])
    add("dictionary", pa.dictionary(pa.int32(), pa.string()), ["a", None, "a"], ["a", None, "a"])
    add("large_binary", pa.large_binary(), [b"bytes", None, b""], ["bytes", None, ""])
    add("fixed", pa.binary(4), [b"four", None, b"FIVE"], ["four", None, "FIVE"])
    add("nothing", pa.null(), [None, None, None], [None, None, None])
    name = uuid.UUID("00112233-4455-6677-8899-aabbccddeeff")
    add("uuid", pa.uuid(), [name.bytes, None, uuid.UUID(int=1).bytes], [str(name), None, str(uuid.UUID(int=1))])
    columns["authors"] = pa.array(
        [[{"name": "A", "age": 1}, {"name": None, "age": 2}], None, [{"name": "B", "age": None}]],
        pa.list_(pa.struct([("name", pa.string()), ("age", pa.int32())])),
    )
    expected["authors.name"] = [["A"], [], ["B"]]
    expected["authors.age"] = [["1", "2"], [], []]
    columns["labels"] = pa.array([[("k", "v"), ("l", None)], None, []], pa.map_(pa.string(), pa.string()))
    expected["labels.key"] = [["k", "l"], [], []]
    expected["labels.value"] = [["v"], [], []]
    columns["matrix"] = pa.array([[["a", "b"], []], None, [["c"], None]], pa.list_(pa.list_(pa.string())))
    expected["matrix"] = [["a", "b"], [], ["c"]]
    columns["dotted.name"] = pa.array(["x", None, "y"])
    expected["dotted.name"] = [["x"], [], ["y"]]
    return pa.table(columns), expected


class Keys(pe.KmsClient):
    """Keeps no secret: the keys of encrypted files in tests."""

    def __init__(self, config):
        super().__init__()

    def wrap_key(self, key, master):
        return base64.b64encode(key).decode()

    def unwrap_key(self, wrapped, master):
        return base64.b64decode(wrapped)


def encrypted(name, plain_footer):
    factory = pe.CryptoFactory(Keys)
    config = pe.EncryptionConfiguration(footer_key="footer", column_keys={"column": ["text"]}, plaintext_footer=plain_footer)
    properties = factory.file_encryption_properties(pe.KmsConnectionConfig(), config)
    table = small().slice(0, 5).select(["id", "text"])
    pq.write_table(table, name, encryption_properties=properties)


def main():
    table, expected = small(), {}
    for codec in ["none", "snappy", "gzip", "brotli", "zstd", "lz4"]:
        for version in ["1.0", "2.0"] if codec in ("none", "zstd") else ["1.0"]:
            name = f"{codec}-v{version[0]}.parquet"
            pq.write_table(table, name, compression=codec, data_page_version=version, data_page_size=512,
                           row_group_size=25, write_page_checksum=codec == "gzip", write_page_index=codec == "zstd")
            expected[name] = expected_small()
    pq.write_table(table, "delta.parquet", compression="zstd", use_dictionary=False, data_page_version="2.0",
                   column_encoding={"id": "DELTA_BYTE_ARRAY", "text": "DELTA_LENGTH_BYTE_ARRAY",
                                    "meta.n.score": "BYTE_STREAM_SPLIT", "meta.lang": "PLAIN",
                                    "tags.list.element": "DELTA_BYTE_ARRAY"})
    expected["delta.parquet"] = expected_small()
    pq.write_table(table, "groups.parquet", compression="zstd", row_group_size=5)
    expected["groups.parquet"] = expected_small()
    pq.write_table(table.slice(0, 0), "empty.parquet", compression="zstd")
    expected["empty.parquet"] = {path: [] for path in expected_small()}

    types, values = all_types()
    pq.write_table(types, "types.parquet", compression="zstd")
    expected["types.parquet"] = values
    old = pa.table({"when": types["nanos"]})
    pq.write_table(old, "int96.parquet", use_deprecated_int96_timestamps=True)
    expected["int96.parquet"] = {"when": values["nanos"]}

    # Pages of version 1 may end in the middle of a row.
    spans = [[str(i % 10) for i in range(n)] for n in (1500, 10, 0, 2490)]
    pq.write_table(pa.table({"tags": pa.array(spans)}), "spanning.parquet", compression="zstd", use_dictionary=False,
                   data_page_version="1.0", data_page_size=64)
    expected["spanning.parquet"] = {"tags": spans}

    duckdb.from_arrow(table).write_parquet("duckdb.parquet", compression="snappy")
    expected["duckdb.parquet"] = expected_small()

    encrypted("encrypted.parquet", False)
    encrypted("encrypted-column.parquet", True)
    with open("expected.json", "w") as out:
        json.dump(expected_shared(expected), out, ensure_ascii=False, separators=(",", ":"))


def expected_shared(expected):
    """Files with the content of others have their name in its place."""
    seen, shared = {}, {}
    for name, content in expected.items():
        key = json.dumps(content)
        shared[name] = seen.get(key, content)
        seen.setdefault(key, name)
    return shared


if __name__ == "__main__":
    main()
