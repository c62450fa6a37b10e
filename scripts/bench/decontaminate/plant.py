"""Plants items of a benchmark in documents: plant.py BENCHMARK.jsonl CORPUS.jsonl FOLDER [DOCUMENTS]

Both have records with a field text. Writes FOLDER/benchmark.jsonl (4,000 items of 10 to 70 words, half of which are planted nowhere),
FOLDER/corpus.jsonl (pieces of about 130 words, 2,000 of which get an item) and FOLDER/truth.tsv (document, item, how it was changed).
"""
import json
import random
import sys

random.seed(45)
source, texts, folder = sys.argv[1:4]
documents = int(sys.argv[4]) if len(sys.argv) > 4 else 20_000
KINDS = ["verbatim", "edits 5 %", "edits 10 %", "edits 15 %", "edits 20 %", "wrapped", "case", "digits"]
ARABIC = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")


def pieces(path, least, most):
    """Yields pieces of random lengths of the texts of a file."""
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            words = json.loads(line)["text"].split()
            at = 0
            while at < len(words):
                n = random.randint(least, most)
                if len(piece := words[at:at + n]) >= least:
                    yield piece
                at += n


def changed(words, kind, vocabulary):
    """Returns the text of an item as it is planted."""
    words = list(words)
    if kind.startswith("edits"):
        for at in random.sample(range(len(words)), int(len(words) * int(kind.split()[1]) / 100)):
            words[at] = random.choice([random.choice(vocabulary), "", words[at] + " " + random.choice(vocabulary)])
    elif kind == "wrapped":
        return "\n".join(" ".join(words[i:i + 6]) for i in range(0, len(words), 6))
    elif kind == "case":
        return " ".join(words).upper()
    elif kind == "digits":
        return " ".join(words).translate(ARABIC)
    return " ".join(word for word in words if word)


seen, items = set(), []
for piece in pieces(source, 10, 70):
    if "digits" and len(items) % 4 == 0:  # so that there are digits to translate
        piece[len(piece) // 2] = str(random.randint(2, 99_999))
    if (key := " ".join(piece).lower()) not in seen:
        seen.add(key)
        items.append(piece)
random.shuffle(items)
items = items[:4000]
corpus = []
for piece in pieces(texts, 80, 180):
    corpus.append(piece)
    if len(corpus) == documents:
        break
vocabulary = [word for piece in corpus[:2000] for word in piece]
hosts = random.sample(range(len(corpus)), 2000)
with open(f"{folder}/benchmark.jsonl", "w", encoding="utf-8") as out:
    for number, item in enumerate(items):
        out.write(json.dumps({"id": f"q{number}", "text": " ".join(item)}, ensure_ascii=False) + "\n")
planted = {}
with open(f"{folder}/truth.tsv", "w", encoding="utf-8") as out:
    for number, host in enumerate(hosts):
        kind = KINDS[number % len(KINDS)]
        at = random.randint(0, len(corpus[host]))
        planted[host] = (at, changed(items[number], kind, vocabulary))
        out.write(f"d{host}\tq{number}\t{kind}\n")
with open(f"{folder}/corpus.jsonl", "w", encoding="utf-8") as out:
    for number, words in enumerate(corpus):
        text = " ".join(words)
        if number in planted:
            at, item = planted[number]
            text = " ".join([*words[:at], item, *words[at:]])
        out.write(json.dumps({"id": f"d{number}", "text": text}, ensure_ascii=False) + "\n")
