"""Tests of the installed wheel: python -m unittest discover python/tests, from the root of the repository."""

import gc
import io
import json
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from contextlib import redirect_stderr
from pathlib import Path

import mirrorbeam
from mirrorbeam import _progress

FABLES = Path("examples/fables")
ALL = ["clusters", "pairs", "removed", "unique"]


class Run(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = Path(folder.name) / "out"

    def test_rows(self):
        results = mirrorbeam.run(FABLES / "texts", self.out, emit=ALL)
        self.assertEqual(results.summary["counts"]["pairs"], 1)
        self.assertEqual([row["id"] for row in results.removed().to_pylist()], ["tortoise.txt"])
        self.assertEqual(results.pairs().column("jaccard").to_pylist(), [0.9428571428571428])
        self.assertEqual(len(results.clusters()), 2)
        kept = {row["id"]: row["text"] for row in results.unique().to_pylist()}
        self.assertEqual(kept["hare.txt"], (FABLES / "texts/hare.txt").read_text("utf-8"))
        self.assertEqual(len(kept), 4)
        self.assertEqual(results.table("rejects").num_rows, 0)

    def test_rows_as_lines(self):
        typed = mirrorbeam.run(FABLES / "texts", emit=ALL)
        lines = mirrorbeam.run(FABLES / "texts", self.out, emit=ALL, output_format="jsonl.zst")
        for output in ("clusters", "pairs", "removed"):
            # Lines leave out what is false or empty.
            told = [[{k: v for k, v in row.items() if v} for row in r.table(output).to_pylist()] for r in (typed, lines)]
            self.assertEqual(*told)

    def test_formats_of_the_input(self):
        rows = mirrorbeam.run(FABLES / "data", emit="unique").unique()
        self.assertEqual(len(rows), 5)
        self.assertIn("text", rows.column_names)
        rows = mirrorbeam.run(FABLES / "fables.csv", text_field="body", emit="unique").unique()
        self.assertEqual(len(rows), 3)
        self.assertTrue(all(isinstance(value, str) for row in rows.to_pylist() for value in row.values()))
        with self.assertRaisesRegex(ValueError, "is no table"):
            mirrorbeam.run(FABLES / "crawl.warc.gz", emit="unique").unique()

    def test_unusual_files_of_the_input(self):
        """Files have the rows that the job has read: with another delimiter, in an array, or one a line."""
        import pyarrow.ipc

        records = [{"id": str(i), "text": f"{word} is, {word} was"} for i, word in enumerate(["one", "two"])]
        texts = [{"text": record["text"]} for record in records]
        folder = self.out.parent
        arrow = io.BytesIO()
        with pyarrow.ipc.new_stream(arrow, pyarrow.Table.from_pylist(records).schema) as stream:
            stream.write_table(pyarrow.Table.from_pylist(records))
        for name, content, settings, rows in (
            ("a.arrow", arrow.getvalue(), {}, records),
            ("a.csv", "id;text\n" + "".join(f"{r['id']};{r['text']}\n" for r in records), {}, records),
            ("b.csv", "id:te;xt\n" + "".join(f"{r['id']}:{r['text']}\n" for r in records), {"delimiter": ":", "text_field": "te;xt"},
             [{"id": r["id"], "te;xt": r["text"]} for r in records]),
            ("a.json", json.dumps(records), {}, records),
            ("a.txt", "\n".join(r["text"] for r in records), {"format": "lines"}, texts),
            ("b.txt", "\r".join(r["text"] for r in records), {"format": "lines"}, texts),
        ):
            (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
            for layout in ("shards", "tree"):
                with self.subTest(file=name, layout=layout):
                    self.assertEqual(mirrorbeam.run(folder / name, emit="unique", layout=layout, **settings).unique().to_pylist(), rows)

    def test_tree(self):
        """What load_dataset makes of a folder, it makes of the results, with the same splits and less rows."""
        import datasets

        folder = self.out.parent / "in"
        text = "one of the texts about number {} in the tree, and about {} others".format
        rows = [{"id": i, "text": text(i, i * i), "lang": "de"} for i in range(20)]
        (folder / "data").mkdir(parents=True)
        for split, part in (("train", rows[:15]), ("test", rows[10:])):
            datasets.Dataset.from_list(part).to_parquet(folder / "data" / f"{split}-00000-of-00001.parquet")
        before = datasets.load_dataset(str(folder), cache_dir=str(self.out.parent / "cache"))
        results = mirrorbeam.run(folder, self.out, emit="unique", layout="tree", keys="same-bytes")
        after = datasets.load_dataset(str(self.out / "unique"), cache_dir=str(self.out.parent / "cache"))
        self.assertEqual({split: len(part) for split, part in before.items()}, {"train": 15, "test": 10})
        self.assertEqual({split: part.to_list() for split, part in after.items()}, {"test": rows[10:], "train": rows[:10]})
        self.assertEqual({s: p.features for s, p in after.items()}, {s: p.features for s, p in before.items()})
        self.assertEqual(results.unique().to_pylist(), rows[10:] + rows[:10])

    def test_tree_of_texts(self):
        results = mirrorbeam.run(FABLES / "texts", self.out, emit="unique", layout="tree")
        kept = {row["id"]: row["text"] for row in results.unique().to_pylist()}
        self.assertEqual(sorted(kept), ["crow.txt", "fox.txt", "hare.txt", "lion.txt"])
        self.assertEqual(kept, {name: (FABLES / "texts" / name).read_text("utf-8") for name in kept})

    def test_other_libraries(self):
        import datasets
        import pandas
        import polars

        results = mirrorbeam.run(FABLES / "data", emit=ALL)
        self.assertIsInstance(results.unique("pandas"), pandas.DataFrame)
        self.assertIsInstance(results.unique("polars"), polars.DataFrame)
        self.assertIsInstance(results.unique("datasets"), datasets.Dataset)
        self.assertEqual(len(results.unique("datasets")), 5)
        with self.assertRaisesRegex(ValueError, "must be one of"):
            results.unique("excel")

    def test_temporary_results(self):
        results = mirrorbeam.run(FABLES / "texts")
        folder = results.folder
        self.assertTrue(os.path.exists(folder))
        with self.assertRaisesRegex(LookupError, "emit"):
            results.pairs()
        del results
        gc.collect()
        self.assertFalse(os.path.exists(folder))

    def test_later(self):
        mirrorbeam.run(FABLES / "texts", self.out)
        self.assertEqual(len(mirrorbeam.Results(self.out).clusters()), 2)
        with self.assertRaisesRegex(FileNotFoundError, "_SUCCESS"):
            mirrorbeam.Results(self.out.parent)

    def test_errors(self):
        with self.assertRaisesRegex(mirrorbeam.UsageError, r"^threshold 1.8: must be above 0 and at most 1$") as caught:
            mirrorbeam.run(FABLES / "texts", self.out, threshold=1.8)
        self.assertEqual(caught.exception.code, 2)
        self.assertIsInstance(caught.exception, ValueError)
        with self.assertRaisesRegex(mirrorbeam.InputError, "no file matches"):
            mirrorbeam.run(FABLES / "nothing", self.out)
        self.out.parent.joinpath("file").write_text("")
        with self.assertRaises(mirrorbeam.StorageError):
            mirrorbeam.run(FABLES / "texts", self.out.parent / "file" / "out")
        with self.assertRaises(TypeError):
            mirrorbeam.run(FABLES / "texts", self.out, thresold=0.8)
        with self.assertRaisesRegex(mirrorbeam.UsageError, "runner"):
            mirrorbeam.run(FABLES / "texts", self.out, beam={"runner": "nothing"})

    def test_errors_of_other_processes(self):
        """An error comes back from a worker of multiprocessing as it was."""
        for kind in (mirrorbeam.UsageError, mirrorbeam.StorageError):
            error = pickle.loads(pickle.dumps(kind("no room", 4)))
            self.assertEqual((type(error), str(error), error.code), (kind, "no room", 4))

    def test_condition(self):
        with self.assertWarnsRegex(UserWarning, "has 2 of 5") as warned, self.assertRaises(mirrorbeam.ConditionMet) as caught:
            mirrorbeam.run(FABLES / "texts", self.out, guard="cluster:10")
        self.assertEqual(warned.filename, __file__)
        self.assertEqual(len(caught.exception.results.clusters()), 2)

    def test_only_arguments_count(self):
        os.environ["RUNJOB_THRESHOLD"] = "0.1"
        self.addCleanup(os.environ.pop, "RUNJOB_THRESHOLD")
        results = mirrorbeam.run(FABLES / "texts", self.out, threshold=0.9)
        self.assertEqual(results.summary["config"]["threshold"], 0.9)

    def test_texts_of_settings(self):
        """Settings arrive as they are, whatever YAML makes of them elsewhere."""
        for text in ("no", "1e3", "null", "a: b", "#x", "'", '"', "\\", "é\u2028\x85", "~", "- x", "{"):
            corpus = self.out.parent / "corpus.jsonl"
            corpus.write_text(json.dumps({"id": "a", text: "one two three four five"}) + "\n", "utf-8")
            results = mirrorbeam.run([corpus], self.out, weight={text: 1}, overwrite=True)
            self.assertEqual(results.summary["config"]["weight"], {text: 1}, text)

    def test_progress(self):
        heard = []
        mirrorbeam.run(FABLES / "texts", self.out, progress=heard.append)
        self.assertEqual(heard[-1]["msg"], "the job has ended")
        shown = io.StringIO()
        with redirect_stderr(shown):
            mirrorbeam.run(FABLES / "texts", self.out, progress=True, overwrite=True)
        self.assertIn("1 pairs", shown.getvalue())
        told = {"msg": "progress", "stage": "key", "tasks_done": 1, "tasks": 2, "seconds_left": 3, "records": 4000, "bytes": 5e6}
        self.assertEqual(_progress.line(told), "key         ██████████░░░░░░░░░░  50 %  3 s left  4,000 records  5.0 MB")

    def test_notebook(self):
        from IPython.core.interactiveshell import InteractiveShell
        from IPython.utils.capture import capture_output

        InteractiveShell.clear_instance()
        shell = InteractiveShell.instance()
        self.addCleanup(InteractiveShell.clear_instance)
        shell.kernel = None  # as the shell of a notebook has one
        with capture_output() as captured:
            mirrorbeam.run(FABLES / "texts", self.out)
        self.assertIn("1 pairs", captured.outputs[-1].data["text/plain"])

    def test_interruption(self):
        """Ctrl-C ends the job in good order, and nothing is left of it."""
        pipe = self.out.parent / "corpus.jsonl"
        pipe.write_text("".join(json.dumps({"id": str(i), "text": f"{i} " * 2000}) + "\n" for i in range(20000)))
        begun = threading.Event()
        # Whoever starts the tests in the background may have it ignored.
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.default_int_handler))

        def interrupt():
            begun.wait(60)
            time.sleep(0.1)
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=interrupt, daemon=True).start()
        original = subprocess.Popen
        self.addCleanup(setattr, subprocess, "Popen", original)

        def popen(*args, **kwargs):
            process = original(*args, **kwargs)
            begun.set()
            return process

        subprocess.Popen = popen
        with self.assertRaises(KeyboardInterrupt):
            mirrorbeam.run(pipe, self.out, keys="minhash")
        self.assertFalse(self.out.exists() and os.listdir(self.out))


class Program(unittest.TestCase):
    def test_program(self):
        self.assertTrue(mirrorbeam.find_runjob().startswith(sys.prefix))
        for command in ([mirrorbeam.find_runjob()], [sys.executable, "-m", "mirrorbeam"]):
            said = subprocess.run([*command, "version"], capture_output=True, text=True, check=True).stdout
            self.assertRegex(said, r"^runjob v\d+\.\d+\.\d+\S*\ncommit [0-9a-f]{40} of \S+\nbuild [0-9a-f]{16}\n")

    def test_documentation(self):
        self.assertIn("threshold: Lowest Jaccard similarity", mirrorbeam.run.__doc__)


if __name__ == "__main__":
    unittest.main()
