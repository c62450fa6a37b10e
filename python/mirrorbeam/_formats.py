# Made from the formats of runjob by go generate ./cmd/runjob: change internal/input/formats.
# Files of other endings are a text each.
FORMATS = {
    "jsonl": "jsonl",
    "ndjson": "jsonl",
    "json": "jsonl",
    "jsonlines": "jsonl",
    "ldjson": "jsonl",
    "csv": "csv",
    "tsv": "tsv",
    "tab": "tsv",
    "parquet": "parquet",
    "pq": "parquet",
    "warc": "warc",
    "wet": "warc",
    "arc": "warc",
    "lines": "lines",
    "arrow": "arrow",
    "feather": "arrow",
    "ipc": "arrow",
    "arrows": "arrow",
    "bulk": "bulk",
}
