package job

import (
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/passages/trim"
	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/sketch"
)

// Recipe is a preset with the settings that were published for a corpus. It names no field of records, so that it
// works on any corpus.
type Recipe struct {
	// Name is the name of its preset.
	Name string
	// Corpus is the corpus, and Source where its settings were published.
	Corpus, Source string
	// Differs says what to add, and in what results differ from the published corpus.
	Differs string

	set func(*Config)
}

// banded returns what chooses MinHash keys whose pairs are not verified, as for most of these corpora.
func banded(shingle, bands, rows int) func(*Config) {
	return func(c *Config) {
		c.Shingle, c.Bands, c.Rows, c.Verify = shingle, bands, rows, "none"
	}
}

// cutting returns what makes a job cut passages that occurred before, and compare no documents.
func cutting(unit trim.Unit, copies int64) func(*Config) {
	return func(c *Config) {
		c.Emit, c.Keys = []string{output.Trimmed}, methods.None
		c.PassageUnit, c.PassageWords, c.PassageCopies = unit, 1, copies
	}
}

// also returns what applies all of sets.
func also(sets ...func(*Config)) func(*Config) {
	return func(c *Config) {
		for _, set := range sets {
			set(c)
		}
	}
}

func fineWeb(c *Config) { c.Normalize = sketch.Normalization{Accents: true, Numbers: true} }

// Recipes returns all recipes.
func Recipes() []Recipe { return append(estimated(), exact()...) }

// estimated returns the recipes whose pairs are not verified on full sets.
func estimated() []Recipe {
	return []Recipe{
		{
			"fineweb", "FineWeb", "arXiv:2406.17557",
			"Add `--within dump`. There, one of a component stays; here, what shares no key with a kept one.",
			also(banded(5, 14, 8), fineWeb),
		},
		{
			"fineweb2", "FineWeb-2", "arXiv:2506.20920",
			"Add `--within` with the field of the language.",
			also(banded(5, 14, 8), fineWeb),
		},
		{
			"refinedweb", "RefinedWeb", "arXiv:2306.01116",
			"There, edit similarity verifies pairs; then 50 tokens are cut: `--emit trimmed`.",
			banded(5, 450, 20),
		},
		{
			"slimpajama", "SlimPajama, TxT360", "cerebras.ai/blog/slimpajama",
			"Add `--keep rank:FILE`. There, texts below 200 characters were left out.",
			also(banded(13, 9, 13), func(c *Config) { c.Normalize = sketch.Normalization{NFC: true} }),
		},
		{
			"redpajama2", "RedPajama-V2 at 0.8", "arXiv:2411.12372",
			"For 0.7 `--bands 14 --rows 9`, for 0.9 `--bands 5 --rows 25`.",
			banded(13, 9, 13),
		},
		{"zyda", "Zyda", "arXiv:2406.01981", "None.", banded(13, 32, 4)},
		{
			"nemotron-cc", "Nemotron-CC, NeMo Curator", "arXiv:2412.02595",
			"There, spaces and punctuation count.",
			also(banded(24, 20, 13), func(c *Config) { c.Tokens = sketch.CharacterTokens }),
		},
		{
			"gneissweb", "GneissWeb, Data Prep Kit", "arXiv:2502.14907",
			"Estimated in both.",
			also(banded(5, 14, 8), func(c *Config) {
				c.Threshold, c.Verify, c.Keep = 0.75, "sketch", "longest"
			}),
		},
	}
}

// exact returns the recipes whose pairs are verified on full sets here, and recipes that cut passages.
func exact() []Recipe {
	return []Recipe{
		{
			"gopher", "MassiveText of Gopher", "arXiv:2112.11446",
			"Exact here, estimated there.",
			func(c *Config) { c.Shingle, c.Threshold = 13, 0.8 },
		},
		{
			"stack2", "The Stack v2, StarCoder 2", "arXiv:2402.19173",
			"Add `--keep max:star_events_count,max:fork_events_count`. Exact here.",
			func(c *Config) { c.Shingle, c.Threshold = 5, 0.7 },
		},
		{
			"dolma3", "Dolma 3", "arXiv:2512.13961",
			"Add `--keep max:date`. There, in 32 shards; then 500 bytes are cut: `--emit trimmed --passage-words 80`.",
			func(c *Config) { c.Shingle, c.Bands, c.Rows, c.Threshold = 5, 26, 11, 0.8 },
		},
		{
			"c4", "C4", "arXiv:1910.10683",
			"Sentences end by the rule of this program.",
			cutting(trim.Sentences, 2),
		},
		{
			"ccnet", "CCNet", "arXiv:1911.00359",
			"There, within groups of shards.",
			also(cutting(trim.Lines, 2), func(c *Config) {
				c.Normalize = sketch.Normalization{Accents: true, Digits: true}
			}),
		},
		{
			"llama3-lines", "Llama 3, lines", "arXiv:2407.21783",
			"There, the first occurrence goes, too.",
			cutting(trim.Lines, 7),
		},
	}
}
