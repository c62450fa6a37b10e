"""Plants rewritten passages of articles in other articles, to measure what a job finds of them.

    python3 scripts/rewritten/make.py [--footers] reuters.jsonl th_en_US_v2.dat planted.jsonl truth.tsv

The thesaurus is that of Debian's package mythes-en-us. Of the corpus (lines of JSON with id and text) stay the documents of
150 words and more of which none has a twentieth of its shingles in common with an earlier one. The first 2,000 of them are
sources and stay as they are. The others are about the same topics. Into each second of these goes a passage of 40, 80 or 160
words of a source, which gives no other:

    copied     as it is
    edited     every eighth word on average left out, doubled with another, or exchanged with its neighbour
    shuffled   the words in another order: each moves by up to two places
    synonyms   four in ten of the words that the thesaurus has replaced
    summary    every second sentence left out, the others edited

With --footers every document ends with one of 100 paragraphs of 60 words, as though it came from one of 100 publishers.

The truth has a row for each passage: kind, source, document, and where the passage is in both, in bytes. The same corpus gives
the same files.
"""
import json
import random
import re
import sys

SOURCES, LEAST, MOST = 2000, 150, 4000
KINDS = ['copied', 'edited', 'shuffled', 'synonyms', 'summary']
LENGTHS = [40, 80, 160]
WORD = re.compile(r'\w+')


def readable(path):
    """The documents that have next to nothing in common with earlier ones."""
    kept, owner = [], {}
    for line in open(path, encoding='utf-8'):
        document = json.loads(line)
        words = [w.lower() for w in WORD.findall(document['text'])]
        shingles = set(zip(words, words[1:], words[2:]))
        if len(words) < LEAST:
            continue
        shared = {}
        for shingle in shingles:
            for other in owner.get(shingle, ()):
                shared[other] = shared.get(other, 0) + 1
        if max(shared.values(), default=0) * 20 >= len(shingles):
            continue
        for shingle in shingles:
            owner.setdefault(shingle, []).append(len(kept))
        kept.append(document)
        if len(kept) == MOST:
            break
    return kept


def thesaurus(path):
    """The single words that may stand for a word."""
    found, lines = {}, iter(open(path, encoding='utf-8'))
    next(lines)
    for line in lines:
        word, entries = line.rstrip('\n').split('|')
        others = []
        for _ in range(int(entries)):
            others += [o for o in next(lines).rstrip('\n').split('|')[1:] if o.isalpha() and o.lower() != word]
        if word.isalpha() and len(word) > 3 and others:
            found[word] = list(dict.fromkeys(others))
    return found


def edited(words, chance):
    out = []
    for word in words:
        draw = chance.random() * 24
        if draw < 1:
            continue
        if draw < 2:
            out.append(chance.choice(words))
        if draw < 3 and out:
            out.insert(-1, word)
        else:
            out.append(word)
    return out


def shuffled(words, chance):
    keys = [i + 3 * chance.random() for i in range(len(words))]
    return [words[i] for i in sorted(range(len(words)), key=lambda i: keys[i])]


def synonyms(words, chance, others):
    out = []
    for word in words:
        known = others.get(word.strip('.,;:()"\'').lower())
        out.append(chance.choice(known) if known and chance.random() < .4 else word)
    return out


def summary(words, chance):
    sentences = [[]]
    for word in words:
        sentences[-1].append(word)
        if word.endswith('.') and len(sentences[-1]) > 4:
            sentences.append([])
    return edited([w for s in sentences[chance.randrange(2)::2] for w in s] or words, chance)


def passage(text, length, chance):
    """A passage of that many words: where it begins and ends."""
    places = [m.span() for m in re.finditer(r'\S+', text)]
    first = chance.randrange(max(len(places) - length, 0) + 1)
    return places[first][0], places[min(first + length, len(places)) - 1][1]


def footers(sources, order, chance):
    """Ends of documents, from sources that no passage is taken from."""
    texts = [sources[i]['text'] for i in order[-100:]]
    return ['\n' + ' '.join(text[slice(*passage(text, 60, chance))].split()) for text in texts]


def size(text):
    return len(text.encode())


def main(corpus, words, planted, truth, has_footers):
    chance, others = random.Random(19), thesaurus(words)
    rewrite = {
        'copied': lambda w: w, 'edited': lambda w: edited(w, chance), 'shuffled': lambda w: shuffled(w, chance),
        'synonyms': lambda w: synonyms(w, chance, others), 'summary': lambda w: summary(w, chance),
    }
    documents = readable(corpus)
    sources, hosts = documents[:SOURCES], documents[SOURCES:]
    order = chance.sample(range(len(sources)), len(sources))
    with open(planted, 'w', encoding='utf-8') as out, open(truth, 'w', encoding='utf-8') as rows:
        ends = footers(sources, order, random.Random(20)) if has_footers else ['']
        for i, d in enumerate(sources):
            out.write(json.dumps({'id': 's' + d['id'], 'text': d['text'] + ends[i % len(ends)]}) + '\n')
        for i, d in enumerate(hosts):
            text = d['text']
            if i % 2 == 1:
                kind, length = KINDS[i // 2 % 5], LENGTHS[i // 10 % 3]
                source = sources[order[i // 2]]
                start, end = passage(source['text'], length, chance)
                new = ' '.join(rewrite[kind](source['text'][start:end].split()))
                at, _ = passage(text, 1, chance)
                text = text[:at] + new + '\n' + text[at:]
                rows.write('\t'.join(map(str, [
                    kind, 's' + source['id'], 'h' + d['id'], size(source['text'][:start]), size(source['text'][:end]),
                    size(text[:at]), size(text[:at] + new)])) + '\n')
            out.write(json.dumps({'id': 'h' + d['id'], 'text': text + ends[i % len(ends)]}) + '\n')


if __name__ == '__main__':
    arguments = [a for a in sys.argv[1:] if a != '--footers']
    if len(arguments) != 4:
        sys.exit('usage: make.py [--footers] CORPUS THESAURUS PLANTED TRUTH')
    main(*arguments, '--footers' in sys.argv)
