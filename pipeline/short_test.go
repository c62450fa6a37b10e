package pipeline

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mirrorbeam/internal/carry/output"
)

// TestShortDocuments names the traps of short and empty documents. A document without shingles is not like every other
// one without. A document shorter than a shingle is compared as a whole.
func TestShortDocuments(t *testing.T) {
	const (
		poem   = "床前明月光疑是地上霜举头望明月低头思故乡白日依山尽黄河入海流欲穷千里目更上一层楼"
		change = "床前明月光疑是地上霜举头望明月低头思故乡白日依海尽黄河入海流欲穷千里目更上一层楼"
		other  = "春眠不觉晓处处闻啼鸟夜来风雨声花落知多少千山鸟飞绝万径人踪灭孤舟蓑笠翁独钓寒江雪"
	)
	for _, c := range []struct {
		name  string
		texts []string
		// The texts that form clusters, by number; the rest are alone.
		clusters [][]int
	}{
		{"four kinds of nothing", []string{"", " ", "\n", "..."}, nil},
		{"the same nothing twice", []string{"", " ", "...", " ", "", "...."}, [][]int{{0, 4}, {1, 3}}},
		{"two words and two others", []string{"one two", "quite different"}, nil},
		{"two words in another dress", []string{"one two", "quite different", "One, two!"}, [][]int{{0, 2}}},
		{"two words the other way round", []string{"one two", "two one"}, nil},
		{"two words of three", []string{"one two", "one two three", "one"}, nil},
		{"one word", []string{"one", "two", "ONE.", "once"}, [][]int{{0, 2}}},
		{"one word and nothing", []string{"one", "", "..."}, nil},
		{"Chinese: one character in forty", []string{poem, other, change}, [][]int{{0, 2}}},
		{"Chinese: punctuation only", []string{poem, strings.Replace(poem, "疑", "，疑", 1) + "。", other}, [][]int{{0, 1}}},
		{"Chinese: one character", []string{"光", "月", "光。"}, [][]int{{0, 2}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWriter(0)
			for i, text := range c.texts {
				w.addAs(fmt.Sprint(i), text)
			}
			config := testConfig(t, put(t, filepath.Join(t.TempDir(), "x.jsonl"), file{"x.jsonl", w.lines}.content(), plain))
			summary := runJob(t, config)
			if n := summary.Counts; n.Documents != int64(len(c.texts)) || n.Rejected != 0 {
				t.Errorf("counts %+v: all %d are documents", n, len(c.texts))
			}
			var clusters []string
			for _, row := range readRows[clusterRow](t, config.Output, output.Clusters) {
				clusters = append(clusters, row.Cluster+" "+row.ID)
			}
			var want []string
			for _, members := range c.clusters {
				for _, member := range members {
					want = append(want, fmt.Sprint(members[0], member))
				}
			}
			if !slices.Equal(clusters, want) {
				t.Errorf("clusters %q, want %q", clusters, want)
			}
		})
	}
}
