"""Tests of data in memory: what comes back is the same kind of data, with all that it had."""

import gc
import multiprocessing
import os
import pickle
import shutil
import sys
import tempfile
import unittest
import warnings
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import get_args

import mirrorbeam
from mirrorbeam import _run

for package in ("pyarrow", "pandas", "polars", "datasets"):
    try:
        __import__(package)
    except ImportError:
        raise unittest.SkipTest(f"no {package}: nothing was asked about data in memory") from None

import datasets
import pandas
import polars
import polars.testing
import pyarrow

FABLES = Path("examples/fables")
WORDS = "river stone cloud lantern meadow copper violet harbor thunder willow ember saddle".split()


def text(i):
    return " ".join(f"{word}{i * 7 + j}" for j, word in enumerate(WORDS))


# Rows 2 and 5 repeat rows 0 and 1; a text is missing in row 3.
TEXTS = [text(0), text(1), text(0), None, text(2), text(1), text(3)]
KEPT = [0, 1, 3, 4, 6]
KEPT_TEXTS = [TEXTS[i] for i in KEPT]


def frame():
    moments = pandas.date_range("2024-03-30 22:00", periods=7, freq="h", tz="Europe/Berlin")
    return pandas.DataFrame(
        {
            "text": TEXTS,
            "kind": pandas.Categorical(list("abacabd"), categories=list("dcbae"), ordered=True),
            "moment": moments,
            "count": pandas.array([1, None, 3, 4, 5, 6, 7], dtype="Int64"),
            "nested": [[i, [i]] for i in range(7)],
            "thing": [object() for _ in range(7)],
        }
    )


def table():
    return pyarrow.table(
        {
            "text": TEXTS,
            "kind": pyarrow.array(list("abacabd")).dictionary_encode(),
            "moment": pyarrow.array([datetime(2024, 1, 1, tzinfo=timezone.utc) + timedelta(hours=i) for i in range(7)], pyarrow.timestamp("ns", "Asia/Tokyo")),
            "span": pyarrow.array(range(7), pyarrow.duration("ms")),
            "pair": pyarrow.array([[i, i] for i in range(7)], pyarrow.list_(pyarrow.int8(), 2)),
            "tree": [{"a": [{"b": i}]} for i in range(7)],
        }
    ).replace_schema_metadata({"made": "by hand"})


class Quiet(unittest.TestCase):
    def setUp(self):
        caught = warnings.catch_warnings()
        caught.__enter__()
        self.addCleanup(caught.__exit__, None, None, None)
        warnings.simplefilter("ignore", UserWarning)  # of the missing text
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)


class SameKind(Quiet):
    def test_pandas(self):
        plain = frame()
        plain.attrs["source"] = "a test"
        for name, index in {
            "numbers": plain.index,
            "one twice": pandas.Index([1, 1, 1, 2, 2, 2, 3], name="n"),
            "several levels": pandas.MultiIndex.from_product([["x"], range(7)], names=["a", "b"]),
            "times": pandas.DatetimeIndex(plain["moment"]),
        }.items():
            for made in (plain, plain.astype({"text": object}), plain.astype({"text": "category"})):
                with self.subTest(index=name, text=made["text"].dtype):
                    made = made.set_index(index)
                    kept = mirrorbeam.dedupe(made)
                    pandas.testing.assert_frame_equal(kept, made.iloc[KEPT])
                    self.assertEqual(kept.attrs, made.attrs)

    def test_pandas_of_arrow(self):
        made = table().to_pandas(types_mapper=pandas.ArrowDtype)
        pandas.testing.assert_frame_equal(mirrorbeam.dedupe(made), made.iloc[KEPT])

    def test_polars(self):
        made = polars.DataFrame(
            {"text": TEXTS, "kind": list("abacabd"), "n": [[i] for i in range(7)], "t": [datetime(2024, 1, 1 + i) for i in range(7)]}
        ).with_columns(polars.col("kind").cast(polars.Categorical), polars.col("t").dt.replace_time_zone("America/Lima"))
        polars.testing.assert_frame_equal(mirrorbeam.dedupe(made), made[KEPT])
        lazy = mirrorbeam.dedupe(made.lazy())
        self.assertIsInstance(lazy, polars.LazyFrame)
        polars.testing.assert_frame_equal(lazy.collect(), made[KEPT])
        coded = made.with_columns(polars.col("text").cast(polars.Categorical))
        polars.testing.assert_frame_equal(mirrorbeam.dedupe(coded), coded[KEPT])

    def test_arrow(self):
        made = table()
        for name, one in {
            "table": made,
            "batch": made.combine_chunks().to_batches()[0],
            "chunks": pyarrow.concat_tables([made[:3], made[3:]]),
            "large": made.set_column(0, "text", made["text"].cast(pyarrow.large_string())),
        }.items():
            with self.subTest(name):
                kept = mirrorbeam.dedupe(one)
                self.assertIs(type(kept), type(one))
                self.assertTrue(kept.equals(one.take(pyarrow.array(KEPT)), check_metadata=True))
        reader = mirrorbeam.dedupe(made.to_reader(2))
        self.assertIsInstance(reader, pyarrow.RecordBatchReader)
        self.assertTrue(reader.read_all().equals(made.take(KEPT), check_metadata=True))

    def test_one_column(self):
        series = pandas.Series(TEXTS, index=list("abcdefg"), name="body")
        pandas.testing.assert_series_equal(mirrorbeam.dedupe(series), series.iloc[KEPT])
        polars.testing.assert_series_equal(mirrorbeam.dedupe(polars.Series("body", TEXTS)), polars.Series("body", KEPT_TEXTS))
        self.assertEqual(mirrorbeam.dedupe(pyarrow.array(TEXTS)), pyarrow.array(KEPT_TEXTS))
        self.assertEqual(mirrorbeam.dedupe(pyarrow.chunked_array([TEXTS[:2], TEXTS[2:]])).to_pylist(), KEPT_TEXTS)
        self.assertEqual(mirrorbeam.dedupe(series.to_numpy()).tolist(), series.iloc[KEPT].tolist())

    def test_datasets(self):
        features = datasets.Features(
            {"text": datasets.Value("string"), "label": datasets.ClassLabel(names=["bad", "good"]), "tags": datasets.List(datasets.Value("int8"))}
        )
        rows = [{"text": one, "label": i % 2, "tags": [i]} for i, one in enumerate(TEXTS)]
        made = datasets.Dataset.from_list(rows, features=features)
        for name, one in {"plain": made, "chosen": made.select([*range(7)][::-1]).select([*range(7)][::-1]), "torchless": made.with_format("numpy")}.items():
            with self.subTest(name):
                kept = mirrorbeam.dedupe(one)
                self.assertEqual((kept.features, kept.format, len(kept)), (features, one.format, 5))
                self.assertEqual(kept.with_format(None).to_list(), [rows[i] for i in KEPT])

    def test_splits(self):
        """An earlier split keeps what a later one repeats, and a split may end up without rows, or begin so."""
        part = datasets.Dataset.from_dict
        made = datasets.DatasetDict(
            {"train": part({"text": TEXTS[:2]}), "test.b": part({"text": TEXTS[2:]}), "copy": part({"text": TEXTS[:2]}), "none": part({"text": []}).cast(part({"text": ["a"]}).features)}
        )
        kept = mirrorbeam.dedupe(made)
        self.assertIs(type(kept), datasets.DatasetDict)
        self.assertEqual({name: one["text"][:] for name, one in kept.items()}, {"train": TEXTS[:2], "test.b": [None, TEXTS[4], TEXTS[6]], "copy": [], "none": []})
        self.assertEqual({name: one.features for name, one in kept.items()}, {name: one.features for name, one in made.items()})
        with mirrorbeam.run(made) as results:
            self.assertEqual(sorted(results.removed("arrow").column("id").to_pylist()), ["copy:0", "copy:1", "test.b:0", "test.b:3"])
            self.assertIsInstance(results.pairs(), datasets.Dataset)

    def test_records(self):
        rows = [{"body": one, "n": i if i % 2 else str(i)} for i, one in enumerate(TEXTS)]
        kept = [rows[i] for i in KEPT]
        self.assertEqual(mirrorbeam.dedupe(rows, on="body"), kept)
        self.assertEqual(mirrorbeam.dedupe(tuple(rows), on="body", id="n"), tuple(kept))
        made = mirrorbeam.dedupe((row for row in rows), on="body")
        self.assertIs(iter(made), made)
        self.assertEqual(list(made), kept)
        self.assertIs(mirrorbeam.dedupe(rows, on="body")[0], rows[0])
        self.assertEqual(mirrorbeam.dedupe(TEXTS), KEPT_TEXTS)
        self.assertEqual(list(mirrorbeam.dedupe(iter(TEXTS))), KEPT_TEXTS)
        odd = [text(8) + " \ud800", text(9), text(8) + " \ud800", "tab\tand \0 null"]
        self.assertEqual(mirrorbeam.dedupe(odd), [odd[0], odd[1], odd[3]])

    def test_nothing(self):
        features = datasets.Features({"text": datasets.Value("string")})
        for one in (
            pandas.DataFrame(), pandas.DataFrame({"text": []}), frame()[:0], pandas.Series([], dtype=object), polars.DataFrame(),
            polars.DataFrame(schema={"text": polars.String}), table()[:0], datasets.Dataset.from_dict({"text": []}, features=features), [], (),
        ):
            with self.subTest(kind=type(one), of=str(one)[:40]):
                kept = mirrorbeam.dedupe(one)
                self.assertIs(type(kept), type(one))
                self.assertEqual(len(kept), 0)
        self.assertEqual(list(mirrorbeam.dedupe(iter([]))), [])

    def test_settings(self):
        made = pandas.DataFrame({"a.b": [text(0), text(0), text(1), text(1)], "lang": ["x", "y", "x", "x"], "n": [1, 2, 3, 4]})
        self.assertEqual(list(mirrorbeam.dedupe(made, on="a.b").index), [0, 2])
        self.assertEqual(list(mirrorbeam.dedupe(made, on="a.b", within="lang").index), [0, 1, 2])
        self.assertEqual(list(mirrorbeam.dedupe(made, on="a.b", keep="max:n").index), [1, 3])
        self.assertEqual(list(mirrorbeam.dedupe(made, on=["a.b", "lang"], threshold=0.95).index), [0, 1, 2])
        self.assertEqual(list(mirrorbeam.dedupe(made.rename(columns={"a.b": 7}), on=7).index), [0, 2])
        nested = [{"meta": {"body": one}} for one in TEXTS if one]
        self.assertEqual(len(mirrorbeam.dedupe(nested, on="meta.body")), 4)

    def test_mistakes(self):
        for error, match, call in (
            (mirrorbeam.UsageError, "no column 'body'; there are 'text', 'kind'", lambda: mirrorbeam.dedupe(frame(), on="body")),
            (TypeError, "paths=True", lambda: mirrorbeam.dedupe("a.jsonl")),
            (TypeError, "items of data are int", lambda: mirrorbeam.dedupe([1, 2])),
            (TypeError, "unexpected keyword argument 'thresold'", lambda: mirrorbeam.dedupe(TEXTS, thresold=0.7)),
            (mirrorbeam.UsageError, "^threshold 1.8: must be", lambda: mirrorbeam.dedupe(TEXTS, threshold=1.8)),
            (mirrorbeam.UsageError, "^state: is for files", lambda: mirrorbeam.dedupe(TEXTS, state="state")),
            (mirrorbeam.UsageError, "^output: name a folder", lambda: mirrorbeam.dedupe(["a.jsonl"], paths=True)),
            (mirrorbeam.UsageError, "2 of this name", lambda: mirrorbeam.dedupe(pandas.DataFrame([["a", "b"]], columns=["text", "text"]))),
            (TypeError, "data is a int", lambda: mirrorbeam.dedupe(7)),
        ):
            with self.subTest(match), self.assertRaisesRegex(error, match):
                call()

    def test_paths(self):
        files = mirrorbeam.dedupe([FABLES / "data"], output=self.folder / "out", paths=True)
        self.assertEqual(sum(len(pandas.read_parquet(file)) for file in files), 5)

    def test_two_at_once(self):
        lists = [[text(i), text(i + 1), text(i)] for i in range(4)]
        with ThreadPoolExecutor(2) as pool:
            self.assertEqual(list(pool.map(mirrorbeam.dedupe, lists)), [one[:2] for one in lists])


def counted(results):
    return results.summary["counts"]["removed"], len(results.unique())


class Found(Quiet):
    def test_results(self):
        made = frame()[["text"]]
        with mirrorbeam.run(made, threshold=0.5) as results:
            self.assertRegex(repr(results), "6 documents, 2 pairs, 2 clusters, 2 removed, 4 kept")
            self.assertIsInstance(results.clusters(), pandas.DataFrame)
            self.assertEqual(list(results.removed()["id"]), [2, 5])
            self.assertEqual(results.pairs("arrow").column("b").to_pylist(), [2, 5])
            self.assertEqual(list(results.unique().index), KEPT)
            self.assertEqual(results.show(2)["documents"][0]["text"], TEXTS[0])
            self.assertEqual(results.show()["of"], 2)
            self.assertEqual(results.explain(0, 2)["a"]["id"], "0")
            with self.assertRaisesRegex(mirrorbeam.RunjobError, "nobody"):
                results.explain(0, "nobody")
            higher = results.rethreshold(0.9, keep="last")
            self.assertEqual(list(higher.removed()["id"]), [0, 1])
            self.assertEqual(list(higher.unique().index), [2, 3, 4, 5, 6])
            with self.assertRaisesRegex(mirrorbeam.UsageError, "threshold"):
                results.rethreshold(0.4)
            shown = results._repr_html_()
            self.assertEqual((shown.count("<table>"), shown.count("report.html'")), (1, 1))
            self.assertIn("33.3 % removed", shown)
            self.assertIn("<html", Path(results.report()).read_text("utf-8"))
            folder = Path(results.folder).parent
        self.assertFalse(folder.exists())

    def test_cleaned(self):
        before = set(os.listdir(tempfile.gettempdir()))
        results = mirrorbeam.run(TEXTS, paths=False)
        self.assertEqual(results.unique(), KEPT_TEXTS)
        other = results.rethreshold(0.9)
        with self.assertRaises(mirrorbeam.UsageError):
            mirrorbeam.run(TEXTS, threshold=7, paths=False)
        del results, other
        mirrorbeam.dedupe(TEXTS)
        gc.collect()
        self.assertEqual({one for one in set(os.listdir(tempfile.gettempdir())) - before if one.startswith("mirrorbeam-")}, set())

    def test_pickle(self):
        for made in (frame()[["text"]], table(), TEXTS, [{"text": one} for one in TEXTS]):
            results = mirrorbeam.run(made, paths=False)
            packed = pickle.dumps(results)
            beside = pickle.loads(packed)
            self.assertNotEqual(beside.folder, results.folder)
            results.close()
            later = pickle.loads(packed)
            self.assertEqual(later.explain(0, 2)["a"]["bytes"], len(TEXTS[0]))
            for one in (beside, later):
                self.assertEqual(counted(one), (2, 5))
                one.close()

    def test_other_process(self):
        """Results come back from a worker, which has its own temporary folder, and a fork removes nothing of its parent."""
        results = mirrorbeam.run(TEXTS, paths=False)
        for way in ("fork", "spawn"):
            with multiprocessing.get_context(way).Pool(1) as pool:
                self.assertEqual(pool.apply(counted, [results]), (2, 5))
        self.assertEqual(counted(results), (2, 5))

    def test_notebook(self):
        from IPython.core.formatters import HTMLFormatter

        with mirrorbeam.run(table()) as results:
            self.assertIn("<table>", HTMLFormatter()(results))

    def test_plan(self):
        told = mirrorbeam.plan(pandas.DataFrame({"text": [text(i) for i in range(50)]}), threshold=0.7)
        self.assertTrue(told["choices"])
        self.assertEqual(mirrorbeam.plan(FABLES / "texts")["choices"][0].keys(), told["choices"][0].keys())

    def test_mirrors(self):
        rows = [{"url": f"https://{host}.example/{i}", "text": text(i)} for host in "ab" for i in range(9)]
        with mirrorbeam.mirrors(pandas.DataFrame(rows)) as results:
            self.assertEqual(len(results.table("mirrors")), 1)

    def test_query(self):
        mirrorbeam.run(FABLES / "texts", self.folder / "out", state=self.folder / "state")
        hare = (FABLES / "texts/hare.txt").read_text("utf-8")
        with mirrorbeam.query(self.folder / "state", threshold=0.9) as similar:
            self.assertEqual({row["match"] for row in similar(hare)}, {"hare.txt", "tortoise.txt"})
            self.assertEqual(similar("nothing of the kind"), [])
            many = similar([hare, {"id": "b", "text": "other"}, {"id": "c", "text": hare}] * 500)
            self.assertEqual([len(rows) for rows in many], [2, 0, 2] * 500)
            with ThreadPoolExecutor(4) as pool:
                self.assertEqual([len(rows) for rows in pool.map(similar, [hare, "other"] * 20)], [2, 0] * 20)
        with self.assertRaisesRegex(mirrorbeam.RunjobError, "nothing-there"):
            mirrorbeam.query(self.folder / "nothing-there")


class Typed(unittest.TestCase):
    def test_choices(self):
        """The program refuses any other value of a setting with few, and names these."""
        choices = {name: get_args(getattr(_run, of.replace(" | None", ""), None)) for name, of in _run.run.__annotations__.items()}
        choices = {name: values for name, values in choices.items() if values and isinstance(values[0], str)}
        self.assertGreater(len(choices), 10)
        for name, values in choices.items():
            with self.subTest(name), self.assertRaises(mirrorbeam.UsageError) as caught:
                mirrorbeam.run(FABLES / "texts", **{name: "other"})
            for value in values:
                self.assertIn(value, str(caught.exception))

    def test_version(self):
        self.assertRegex(mirrorbeam.__version__, r"^\d+")

    def test_strict(self):
        try:
            from mypy import api
        except ImportError:
            raise unittest.SkipTest("no mypy: types were not checked") from None
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "use.py")
            path.write_text(
                "import mirrorbeam\nimport pandas\nframe = pandas.DataFrame()\nreveal_type(mirrorbeam.dedupe(frame, keys='minhash'))\n"
                "reveal_type(mirrorbeam.run('a').removed('pandas'))\nmirrorbeam.dedupe(frame, keys='nothing')\nmirrorbeam.run('a', split='b')\n"
            )
            # A copy: where the package is installed, mypy would take all that lies beside it for our own code.
            package = str(shutil.copytree(Path(mirrorbeam.__file__).parent, Path(folder, "mirrorbeam")))
            out, errors, _ = api.run(["--strict", "--disable-error-code=import-untyped", "--no-incremental", f"--cache-dir={folder}/cache", f"--python-executable={sys.executable}", package, str(path)])
        faults = [line for line in out.splitlines() if ": error:" in line]
        self.assertEqual([line.rpartition("[")[2] for line in faults], ["arg-type]", "arg-type]"], out + errors)
        self.assertEqual(out.count('Revealed type is "pandas.DataFrame"') + out.count('Revealed type is "pandas.core.frame.DataFrame"'), 2, out)


if __name__ == "__main__":
    unittest.main()
