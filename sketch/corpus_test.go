package sketch

import (
	"bufio"
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"mirrorbeam.dev/asmkernels"
	"mirrorbeam.dev/internal/util/corporatest"
)

// readCorpus returns texts of a corpus, about limit bytes of them.
func readCorpus(t testing.TB, name string, limit int) [][]byte {
	t.Helper()
	var texts [][]byte
	lines := bufio.NewReader(corporatest.Open(t, name))
	for size := 0; size < limit; {
		line, err := lines.ReadBytes('\n')
		if len(line) == 0 && err != nil {
			break
		}
		var document struct{ Text string }
		if err := json.Unmarshal(line, &document); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, []byte(document.Text))
		size += len(document.Text)
	}
	return texts
}

func TestCorpora(t *testing.T) {
	for _, name := range []string{"udhr/udhr.jsonl.zst", "reuters21578/reuters.jsonl.zst", "tang/tang.jsonl.zst"} {
		t.Run(strings.Split(name, "/")[0], func(t *testing.T) {
			texts := readCorpus(t, name, 1<<30)
			every := max(len(texts)/150, 1)
			c := newChecker()
			for i := 0; i < len(texts); i += every {
				c.check(t, texts[i])
			}
		})
	}
}

// benchmarkText is a kind of text to measure.
type benchmarkText struct {
	name    string
	corpus  string // real texts of the kind, if there are some
	keep    func(text []byte) bool
	standIn string // what to repeat where there is no corpus
	tokens  Tokens
}

var benchmarkTexts = []benchmarkText{
	{
		"english", "reuters21578/reuters.jsonl.zst", nil,
		"The company said it expects net profit of 1.2 mln dlrs in 1987. ", WordTokens,
	},
	{
		"licences", "licenses/all.jsonl.zst", nil, "Permission is hereby granted, free of charge, to any person. ",
		WordTokens,
	},
	{
		"cyrillic", "udhr/udhr.jsonl.zst", mostly("\xd0\xd1"),
		"Все люди рождаются свободными и равными в своем достоинстве. ", WordTokens,
	},
	{
		"arabic", "udhr/udhr.jsonl.zst", mostly("\xd8\xd9"), "يولد جميع الناس أحرارا متساوين في الكرامة والحقوق. ",
		WordTokens,
	},
	{"languages", "udhr/udhr.jsonl.zst", nil, "Tous les êtres humains naissent libres et égaux. ", WordTokens},
	{"poems", "tang/tang.jsonl.zst", nil, "床前明月光，疑是地上霜。舉頭望明月，低頭思故鄉。", SingleTokens},
	{"han", "prose/goldminer_zh.jsonl.zst", nil, "床前明月光，疑是地上霜。舉頭望明月，低頭思故鄉。", SingleTokens},
	{"thai", "", nil, "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ ", SingleTokens},
	{"thai runs", "", nil, "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ ", ScriptTokens},
	{
		"english runs", "reuters21578/reuters.jsonl.zst", nil,
		"The company said it expects net profit of 1.2 mln dlrs in 1987. ", ScriptTokens,
	},
	{"han runs", "prose/goldminer_zh.jsonl.zst", nil, "床前明月光，疑是地上霜。舉頭望明月，低頭思故鄉。", ScriptTokens},
	{
		"characters", "reuters21578/reuters.jsonl.zst", nil,
		"The company said it expects net profit of 1.2 mln dlrs in 1987. ", CharacterTokens,
	},
}

// mostly accepts texts with the given lead bytes for a third or more of their bytes.
func mostly(leads string) func([]byte) bool {
	return func(text []byte) bool {
		count := 0
		for _, lead := range []byte(leads) {
			count += bytes.Count(text, []byte{lead})
		}
		return 3*count > len(text)
	}
}

// benchmarkSize is how many bytes of texts of a kind are measured. In a job, a
// text comes out of the parser and is still in the second-level cache.
const benchmarkSize = 512 << 10

// texts returns texts of the kind, one behind the other in memory.
func (k benchmarkText) texts(b *testing.B) (texts [][]byte, size int) {
	all := [][]byte{[]byte(strings.Repeat(k.standIn, 1000))}
	if k.corpus != "" && corporatest.Has(b, k.corpus) {
		all = readCorpus(b, k.corpus, 16<<20)
	}
	var memory []byte
	for _, text := range all {
		if k.keep == nil || k.keep(text) {
			memory = append(memory, text...)
			texts = append(texts, text)
		}
		if len(memory) >= benchmarkSize {
			break
		}
	}
	for i, text := range texts {
		texts[i] = memory[size:][:len(text)]
		size += len(text)
	}
	return texts, size
}

// stageBenchmark measures what newStage returns, on every tier of the CPU and
// all kinds of texts.
func stageBenchmark(b *testing.B, newStage func(m Measure) func(text []byte)) {
	for _, kind := range benchmarkTexts {
		texts, size := kind.texts(b)
		for _, tier := range asmkernels.Tiers() {
			b.Run(kind.name+"/"+tier.String(), func(b *testing.B) {
				defer asmkernels.SelectTier(asmkernels.SelectTier(tier))
				stage := newStage(Measure{Shingle: 3, Tokens: kind.tokens})
				b.SetBytes(int64(size))
				for b.Loop() {
					for _, text := range texts {
						stage(text)
					}
				}
			})
		}
	}
}

// BenchmarkDocument measures the whole way.
func BenchmarkDocument(b *testing.B) {
	stageBenchmark(b, func(m Measure) func([]byte) {
		h := must(NewHasher(m))
		return func(text []byte) { h.Document(text) }
	})
}

// BenchmarkSignature measures the whole way and MinHash, with as many components
// as a threshold of 0.8 takes, and with 128.
func BenchmarkSignature(b *testing.B) {
	for _, components := range []int{21, 128} {
		b.Run(strconv.Itoa(components), func(b *testing.B) {
			stageBenchmark(b, func(m Measure) func([]byte) {
				h, minhash := must(NewHasher(m)), must(NewMinHash(components))
				signature := make([]uint32, components)
				return func(text []byte) { signature = minhash.Signature(signature, h.Document(text).Set) }
			})
		})
	}
}

// BenchmarkTokens measures the way to the token hashes.
func BenchmarkTokens(b *testing.B) {
	stageBenchmark(b, func(m Measure) func([]byte) {
		h := must(NewHasher(m))
		return func(text []byte) {
			h.tokenizer.reset()
			for at := 0; at < len(text); {
				at += h.fold(text[at:])
				h.tokens = h.tokenizer.appendHashes(h.tokens[:0])
				h.tokenizer.keep()
			}
		}
	})
}

// BenchmarkFold measures folding and finding tokens.
func BenchmarkFold(b *testing.B) {
	stageBenchmark(b, func(m Measure) func([]byte) {
		h := must(NewHasher(m))
		return func(text []byte) {
			h.tokenizer.reset()
			for at := 0; at < len(text); {
				at += h.fold(text[at:])
				h.tokenizer.keep()
			}
		}
	})
}

func BenchmarkClassTable(b *testing.B) {
	for b.Loop() {
		newClassTable(unsegmentedScripts...)
	}
}
