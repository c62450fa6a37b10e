"""datatrove's sentence deduplication with its own settings. usage: datatrove_sentences.py FOLDER WORK"""

import sys

from datatrove.executor.local import LocalPipelineExecutor
from datatrove.pipeline.dedup import SentenceDedupFilter, SentenceDedupSignature, SentenceFindDedups
from datatrove.pipeline.dedup.sentence_dedup import SentDedupConfig
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.writers.jsonl import JsonlWriter

folder, work = sys.argv[1:]
rule = SentDedupConfig()


def run(*steps):
    LocalPipelineExecutor(pipeline=list(steps), tasks=1, workers=1).run()


run(JsonlReader(folder), SentenceDedupSignature(f"{work}/signatures", config=rule))
run(SentenceFindDedups(f"{work}/signatures", f"{work}/found", config=rule))
run(JsonlReader(folder), SentenceDedupFilter(f"{work}/found", config=rule), JsonlWriter(f"{work}/kept", compression=None))
