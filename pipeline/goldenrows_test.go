package pipeline

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
)

// goldenRun is one job: its input, and its differences from goldenConfig. The change is in the JSON of summary.json, so
// that the rows do not depend on names within the program.
type goldenRun struct {
	name             string
	input, reference string // names in goldenCorpora, or paths below the real corpora
	change           string
	isDense          bool // some groups must be too large to be compared fully
}

// goldenRuns are the modes.
var goldenRuns = []goldenRun{
	// How documents are brought together.
	{name: "usual/small", input: "chrisjm/articles_1000.jsonl.zst", change: `{"keys":"auto"}`},
	{name: "usual/large", input: "reuters21578/reuters.jsonl.zst", change: `{"keys":"auto"}`},
	{
		name:   "usual/shards",
		input:  "tang/tang.jsonl.zst",
		change: `{"keys":"auto","threshold":0.5,"emit":["clusters","pairs","removed"]}`,
	},
	{name: "usual/oddities", input: "oddities", change: `{"keys":"auto"}`},
	{name: "exact/etcd", input: "mirrors/etcd_docs.jsonl.zst", change: `{"keys":"exact","threshold":0.5}`},
	{name: "exact/rewritten", input: "clough/clough.jsonl.zst", change: `{"keys":"exact","threshold":0.1}`},
	{name: "exact/oddities", input: "oddities", change: `{"keys":"exact","threshold":0.5}`},
	{name: "exact/equal only", input: "oddities", change: `{"keys":"exact","threshold":1}`},
	{name: "exact/audited", input: "mirrors/clang_text.jsonl.zst", change: `{"keys":"exact","audit":"100"}`},
	{name: "all/etcd", input: "mirrors/etcd_docs.jsonl.zst", change: `{"keys":"all","threshold":0.6}`},
	{name: "all/oddities", input: "oddities", change: `{"keys":"all","threshold":0.5}`},
	{name: "all/sketch", input: "oddities", change: `{"keys":"all","verify":"sketch"}`},
	{name: "minhash/recall", input: "reuters21578/reuters.jsonl.zst", change: `{"keys":"minhash","recall":0.95}`},
	{
		name:   "minhash/etcd",
		input:  "mirrors/etcd_docs.jsonl.zst",
		change: `{"keys":"auto","recall":0.95,"threshold":0.6}`,
	},
	{name: "minhash/bands", input: "mirrors/clang_text.jsonl.zst", change: `{"keys":"auto","bands":12,"rows":4}`},
	{name: "minhash/oddities", input: "oddities", change: `{"keys":"minhash","threshold":0.5}`},
	{name: "minhash/audit", input: "oddities", change: `{"keys":"minhash","bands":3,"rows":5,"audit":"200"}`},
	{name: "simhash/hamming", input: "mirrors/etcd_docs.jsonl.zst", change: `{"keys":"simhash","hamming":6}`},
	{
		name:   "simhash/jaccard",
		input:  "mirrors/etcd_docs.jsonl.zst",
		change: `{"keys":"simhash","score":"jaccard","hamming":8,"threshold":0.6}`,
	},
	{name: "simhash/large", input: "reuters21578/reuters.jsonl.zst", change: `{"score":"hamming","keys":"auto"}`},
	{name: "simhash/long", input: "oddities", change: `{"keys":"simhash","bits":256,"hamming":20}`},
	{
		name:   "simhash/oddities",
		input:  "oddities",
		change: `{"keys":"simhash","score":"jaccard","hamming":10,"threshold":0.5}`,
	},

	{name: "across/minhash", input: "oddities", change: `{"keys":"minhash","across":"id","threshold":0.5}`},
	{name: "across/exact", input: "fields", change: `{"keys":"exact","across":"title","threshold":0.3}`},

	// How they are compared.
	{
		name:   "verify/sketch",
		input:  "mirrors/etcd_docs.jsonl.zst",
		change: `{"keys":"auto","verify":"sketch","threshold":0.6}`,
	},
	{
		name:   "verify/sketch of oddities",
		input:  "oddities",
		change: `{"keys":"minhash","verify":"sketch","threshold":0.6}`,
	},
	{
		name:   "verify/long sketches",
		input:  "mirrors/etcd_docs.jsonl.zst",
		change: `{"keys":"auto","verify":"sketch","sketch_size":500,"threshold":0.6,"emit":["clusters","pairs","sketches"]}`,
	},
	{name: "verify/none", input: "mirrors/etcd_docs.jsonl.zst", change: `{"keys":"minhash","verify":"none"}`},
	{name: "verify/none of oddities", input: "oddities", change: `{"keys":"minhash","verify":"none","split":"star"}`},
	{
		name:   "verify/none of fingerprints",
		input:  "oddities",
		change: `{"keys":"simhash","score":"jaccard","verify":"none"}`,
	},

	// What documents are made of.
	{
		name:   "measure/characters",
		input:  "mirrors/react_l10n.jsonl.zst",
		change: `{"keys":"auto","emit":["clusters","pairs","removed"]}`,
	},
	{name: "measure/words", input: "oddities", change: `{"shingle":1,"tokens":"words"}`},
	{name: "measure/single characters", input: "oddities", change: `{"shingle":2,"tokens":"single"}`},
	{name: "measure/tokens of characters", input: "oddities", change: `{"tokens":"chars"}`},
	{
		name:   "measure/five words",
		input:  "clough/clough.jsonl.zst",
		change: `{"shingle":5,"threshold":0.05,"seed":9223372036854775813}`,
	},
	{name: "measure/stop words", input: "clough/clough.jsonl.zst", change: `{"stopwords":"list","threshold":0.2}`},
	{
		name:   "measure/required",
		input:  "clough/clough.jsonl.zst",
		change: `{"stopwords":"list","stopwords_use":"require","threshold":0.2}`,
	},
	{
		name:   "measure/normal forms",
		input:  "oddities",
		change: `{"normalize":"nfkc,fold,punctuation","keys":"minhash","threshold":0.6}`,
	},
	{
		name:   "measure/all steps",
		input:  "mirrors/clang_text.jsonl.zst",
		change: `{"normalize":"nfc,fold,punctuation","stopwords":"list","keys":"all"}`,
	},
	{name: "measure/fields", input: "fields", change: `{"weight":{"title":3,"text":1},"threshold":0.6}`},
	{
		name:   "measure/fields by simhash",
		input:  "fields",
		change: `{"weight":{"title":3,"text":0.5},"keys":"simhash","hamming":8}`,
	},
	{name: "measure/features", input: "fields", change: `{"features":"features","threshold":0.5,"id_field":"name"}`},
	{
		name:   "measure/features by minhash",
		input:  "fields",
		change: `{"features":"features","threshold":0.5,"keys":"minhash","recall":0.9}`,
	},
	{
		name:   "measure/features by simhash",
		input:  "fields",
		change: `{"features":"features","keys":"simhash","hamming":8,"bits":128}`,
	},
	{
		name:   "measure/other names",
		input:  "fields",
		change: `{"text_field":"title","id_field":"name","max_document":60,"threshold":0.4}`,
	},

	// What is kept.
	{name: "keep/longest", input: "mirrors/etcd_docs.jsonl.zst", change: `{"keep":"longest","threshold":0.5}`},
	{name: "keep/star", input: "mirrors/etcd_docs.jsonl.zst", change: `{"split":"star","threshold":0.5}`},
	{name: "keep/longest star", input: "oddities", change: `{"keep":"longest","split":"star","threshold":0.5}`},
	{
		name:   "keep/longest by minhash",
		input:  "families",
		change: `{"keep":"longest","split":"star","threshold":0.6,"keys":"minhash"}`,
	},

	// Against a reference.
	{
		name:      "reference/licences",
		input:     "licenses/all.jsonl.zst",
		reference: "licenses/google_scenarios.jsonl.zst",
		change:    `{"threshold":0.7}`,
	},
	{name: "reference/oddities", input: "oddities", reference: "families", change: `{"threshold":0.6}`},
	{name: "reference/equal", input: "equal", reference: "oddities", change: `{"threshold":0.6,"keep":"longest"}`},
	{name: "reference/minhash", input: "equal", reference: "oddities", change: `{"threshold":0.6,"keys":"minhash"}`},
	{
		name:      "reference/simhash",
		input:     "equal",
		reference: "oddities",
		change:    `{"keys":"simhash","hamming":8,"split":"star"}`,
	},
	{name: "reference/all", input: "equal", reference: "oddities", change: `{"keys":"all"}`},

	// Passages.
	{
		name:   "passages/rewritten",
		input:  "clough/clough.jsonl.zst",
		change: `{"similarity":"containment","threshold":0.4,"excerpt":20}`,
	},
	{
		name:   "passages/licences",
		input:  "licenses/google_scenarios.jsonl.zst",
		change: `{"similarity":"containment","threshold":0.8}`,
	},
	{
		name:   "passages/no quotations",
		input:  "mirrors/etcd_docs.jsonl.zst",
		change: `{"similarity":"containment","threshold":0.5,"no_quotations":true}`,
	},
	{name: "passages/excerpts", input: "excerpts", change: `{"similarity":"containment","threshold":0.4,"excerpt":20}`},
	{
		name:   "passages/no excerpts",
		input:  "excerpts",
		change: `{"similarity":"containment","threshold":0.9,"excerpt":0}`,
	},
	{
		name:      "passages/reference",
		input:     "excerpts",
		reference: "equal",
		change:    `{"similarity":"containment","threshold":0.6,"excerpt":25}`,
	},
	{
		name:   "passages/stop words",
		input:  "clough/clough.jsonl.zst",
		change: `{"similarity":"containment","threshold":0.5,"excerpt":16,"stopwords":"list","normalize":"fold"}`,
	},
	{
		name:   "passages/short",
		input:  "clough/clough.jsonl.zst",
		change: `{"similarity":"containment","threshold":1,"excerpt":8,"passage":4,"shingle":2}`,
	},
	{
		name:      "passages/rarity",
		input:     "excerpts",
		reference: "equal",
		change:    `{"similarity":"containment","threshold":0.6,"excerpt":10,"rarity":4}`,
	},
	{
		name:   "passages/rarity in columns",
		input:  "clough/clough.jsonl.zst",
		change: `{"similarity":"containment","threshold":1,"excerpt":8,"rarity":2,"output_format":"parquet"}`,
	},
	{name: "passages/dense", input: "licensed", change: `{"similarity":"containment","threshold":0.9}`, isDense: true},

	// Groups that are too large to compare fully.
	{name: "dense/exact", input: "template", change: `{"keys":"exact"}`, isDense: true},
	{name: "dense/minhash", input: "template", change: `{"keys":"minhash"}`, isDense: true},
	{name: "dense/simhash", input: "template among others", change: `{"keys":"simhash","hamming":6}`, isDense: true},
	{name: "dense/many", input: "heaps", change: `{"keys":"exact","threshold":0.75}`, isDense: true},
	{
		name:    "dense/many, longest stars",
		input:   "heaps",
		change:  `{"keys":"auto","threshold":0.75,"keep":"longest","split":"star"}`,
		isDense: true,
	},
	{
		name:    "dense/many, minhash",
		input:   "heaps",
		change:  `{"keys":"minhash","threshold":0.75,"keep":"longest"}`,
		isDense: true,
	},
	{
		name:      "dense/many, reference",
		input:     "heaps",
		reference: "known heaps",
		change:    `{"keys":"exact","threshold":0.75,"keep":"longest"}`,
		isDense:   true,
	},
	{name: "dense/small", input: "known heaps", change: `{"keys":"exact","threshold":0.7}`},

	// What is found of sites.
	{
		name:   "mirrors/versions",
		input:  "mirrors/etcd_docs.jsonl.zst",
		change: `{"emit":["mirrors","sites","suspects"],"url_field":"id","site":"prefix:4","threshold":0.5}`,
	},
	{
		name:   "mirrors/translations",
		input:  "mirrors/react_l10n.jsonl.zst",
		change: `{"emit":["mirrors","sites"],"url_field":"id","threshold":0.5,"keys":"minhash"}`,
	},
	{
		name:   "mirrors/archives",
		input:  "warc",
		change: `{"emit":["mirrors","sites"],"format":"warc","site":"domain","mirror_pages":1,"mirror_sites":30,"threshold":0.5}`,
	},

	// How files are stored and the job is run.
	{name: "files/zst", input: "oddities.zst", change: `{"threshold":0.6,"output_format":"jsonl.zst"}`},
	{name: "files/gz", input: "oddities.gz", change: `{"threshold":0.6,"output_format":"jsonl.gz"}`},
	{name: "files/no ids", input: "oddities", change: `{"id_field":"","threshold":0.6}`},
	{name: "run/lanes", input: "oddities", change: `{"threshold":0.6,"lanes":7}`},
	{
		name:   "run/memory",
		input:  "mirrors/etcd_docs.jsonl.zst",
		change: `{"threshold":0.5,"memory":104857600,"keys":"minhash"}`,
	},
}

// goldenQuery is a query of an index that a job of its own makes.
type goldenQuery struct {
	goldenRun
	asked     string
	threshold float64
	top       int
}

var goldenQueries = []goldenQuery{
	{
		goldenRun{name: "query/of itself", input: "mirrors/etcd_docs.jsonl.zst", change: `{"threshold":0.6}`},
		"mirrors/etcd_docs.jsonl.zst", 0, 0,
	},
	{
		goldenRun{name: "query/the most similar", input: "clough/clough.jsonl.zst", change: `{"threshold":0.02}`},
		"clough/clough.jsonl.zst", 0, 3,
	},
	{goldenRun{name: "query/above the threshold", input: "oddities", change: `{"threshold":0.3}`}, "oddities", 0.7, 0},
	{
		goldenRun{name: "query/of a reference", input: "equal", reference: "oddities", change: `{"threshold":0.5}`},
		"oddities.gz", 0, 0,
	},
	{goldenRun{
		name:   "query/other words",
		input:  "oddities",
		change: `{"threshold":0.5,"normalize":"nfkc,fold","stopwords":"list","shingle":2,"seed":7}`,
	}, "equal", 0, 2},
	{
		goldenRun{name: "query/fingerprints", input: "oddities", change: `{"keys":"simhash","hamming":10}`},
		"oddities",
		0, 0,
	},
	{goldenRun{
		name:   "query/fingerprints of fields",
		input:  "fields",
		change: `{"keys":"simhash","hamming":6,"weight":{"title":3,"text":1}}`,
	}, "fields", 0, 4},
	{
		goldenRun{name: "query/features", input: "fields", change: `{"features":"features","threshold":0.4}`},
		"fields",
		0, 0,
	},
}

// goldenPlans are the configurations of plans.
var goldenPlans = []goldenRun{
	{name: "plan/small", input: "oddities", change: `{"keys":"auto"}`},
	{name: "plan/large", input: "reuters21578/reuters.jsonl.zst", change: `{"keys":"auto"}`},
	{name: "plan/minhash", input: "heaps", change: `{"keys":"minhash","recall":0.95}`},
	{name: "plan/reference", input: "equal", reference: "oddities", change: `{"keys":"exact","threshold":0.6}`},
}

// goldenCorpora makes the corpora that are not real ones.
var goldenCorpora = map[string]func(t testing.TB) string{
	"oddities":     func(t testing.TB) string { return putCorpus(t, plain, cut(oddities(301), 3)...) },
	"oddities.zst": func(t testing.TB) string { return putCorpus(t, zstded, cut(oddities(301), 3)...) },
	"oddities.gz":  func(t testing.TB) string { return putCorpus(t, gzipped, cut(oddities(301), 2)...) },
	"families":     func(t testing.TB) string { return putCorpus(t, plain, file{"f.jsonl", synthetic(302)}) },
	// Half of the documents of another corpus, some of them twice, and others.
	"equal": func(t testing.TB) string {
		lines := oddities(301)
		return putCorpus(t, plain, file{"m.jsonl", slices.Concat(lines[:len(lines)/2], lines[:40])},
			file{"n.jsonl", synthetic(303)})
	},
	"excerpts": func(t testing.TB) string { return putCorpus(t, plain, cut(excerpts(301), 2)...) },
	"heaps": func(t testing.TB) string {
		return putCorpus(t, plain, cut(hotGroupCorpus(305, 8000, 2), 3)...)
	},
	"known heaps": func(t testing.TB) string {
		return putCorpus(t, plain, file{"y.jsonl", hotGroupCorpus(305, 600, 4)})
	},
	"template": func(t testing.TB) string {
		return putCorpus(t, plain, cut(templateLines(306, 5000, 90, 0), 2)...)
	},
	"template among others": func(t testing.TB) string {
		return putCorpus(t, plain, cut(templateLines(306, 3000, 250, 1200), 2)...)
	},
	// Documents most of which share a passage and nothing else.
	"licensed": func(t testing.TB) string {
		w := newWriter(307)
		licence, copied := w.text(60), w.text(90)
		for i := range 400 {
			text := slices.Concat(licence, w.text(80))
			if i%50 == 0 {
				text = append(text, copied...)
			}
			w.add(w.set(text))
		}
		return putCorpus(t, plain, file{"l.jsonl", w.lines})
	},
	"fields": func(t testing.TB) string { return putCorpus(t, plain, file{"x.jsonl", fieldLines(308)}) },
}

// templateLines returns pages of one template of the given number of words, and other documents.
func templateLines(seed uint64, pages, words, others int) []line {
	w := newWriter(seed)
	common := w.text(words)
	for range pages {
		w.add(w.set(slices.Concat(common, w.text(6))))
	}
	for range others {
		w.add(w.set(w.text(20)))
	}
	return w.lines
}

// fieldLines returns records with titles, texts and features in all forms.
func fieldLines(seed uint64) []line {
	w := newWriter(seed)
	for family := range 30 {
		title, text, features := w.text(9), w.text(60), w.text(30)
		for member := range 6 {
			share := pick(w, []float64{0, 0.01, 0.05, 0.1})
			found := w.change(features, share)
			raw, err := json.Marshal(map[string]any{
				"id":       fmt.Sprintf("%d-%d", family, member),
				"name":     family*100 + member,
				"title":    w.set(w.change(title, share)),
				"text":     w.set(w.change(text, share)),
				"features": w.features(found, member%4),
			})
			if err != nil {
				panic(err)
			}
			w.lines = append(w.lines, line{raw: string(raw)})
		}
	}
	w.shuffle()
	return w.lines
}

// features returns words as features in one of the possible forms.
func (w *writer) features(words []string, form int) any {
	switch form {
	case 0:
		return words
	case 1:
		weights := map[string]float64{}
		for _, word := range words {
			weights[word] = 1 + float64(w.random.IntN(8))/2
		}
		return weights
	}
	list := make([]any, len(words))
	for i, word := range words {
		list[i] = []any{word, 1 + w.random.IntN(3)}
		if form == 3 && i%5 == 0 {
			list[i] = uint64(len(word)) << 50
		}
	}
	return list
}
