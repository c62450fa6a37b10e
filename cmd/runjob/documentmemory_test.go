package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDocumentMemory: no document brings a job to more memory than --memory, or 600 MiB by default, whatever it
// becomes. Those that would are rejects. Large near-duplicates are compared one pair after the other.
func TestDocumentMemory(t *testing.T) {
	const size = 12_000_000
	stopWords := "the\n"
	letters := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, size)
	for i := range noise {
		noise[i] = byte('a' + letters.IntN(26))
	}
	words := strings.Repeat("some words of a long text ", 60_000_000/26)
	for name, test := range map[string]struct {
		text             string
		arguments        []string
		copies           int // of the text, each with an end of its own; 0: one
		memory, rejected int64
	}{
		"Unicode forms": {strings.Repeat("\ufdfa", size/3), []string{"--normalize", "nfkc"}, 0, 600 << 20, 1},
		"names, memory": {
			strings.Repeat("#", size),
			[]string{"--code", "rust,names", "--memory", "200MiB"},
			0,
			200 << 20, 1,
		},
		"names, passages": {
			strings.Repeat("(", size),
			[]string{"--code", "java,names", "--similarity", "containment", "--emit", "pairs"},
			0, 600 << 20, 1,
		},
		"stop words, memory": {
			strings.Repeat("a b ", size/4),
			[]string{"--stopwords", "stop.txt", "--stopwords-use", "require", "--memory", "200MiB"},
			0, 200 << 20, 1,
		},
		"an ordinary one": {
			strings.Repeat("some words of a long text ", size/26),
			[]string{"--memory", "200MiB"},
			0, 200 << 20, 0,
		},
		"near-duplicates":     {string(noise), []string{"--tokens", "chars", "--shingle", "8"}, 3, 540 << 20, 0},
		"long and normalized": {words, []string{"--normalize", "nfkc,fold,punctuation"}, 0, 600 << 20, 0},
		"long and escaped": {
			strings.Repeat("some \"words\"\nof a long text ", 2*size/28),
			[]string{"--code", "java"},
			0, 600 << 20, 0,
		},
		"long passages":       {words[:15_000_000], []string{"--similarity", "containment"}, 0, 600 << 20, 0},
		"a long one, usually": {strings.Repeat("some words of a long text ", 4*size/26), nil, 0, 600 << 20, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.write("stop.txt", []byte(stopWords))
			large := ""
			for i := range max(test.copies, 1) {
				large += document(fmt.Sprintf("large%d", i), test.text+strings.Repeat(" end", i))
			}
			s.write("in.jsonl", between(large))
			j := s.runjob(append(test.arguments, "--audit", "off")...)
			if err := j.Run(); err != nil {
				t.Fatalf("%s: %v: %s", name, err, j.stderr.String())
			}
			var summary struct {
				PeakMemoryBytes int64 `json:"peak_memory_bytes"`
				Counts          struct{ Rejected int64 }
			}
			content, err := os.ReadFile(filepath.Join(s.dir, "out", "summary.json"))
			if err == nil {
				err = json.Unmarshal(content, &summary)
			}
			if err != nil {
				t.Fatal(err)
			}
			if summary.Counts.Rejected != test.rejected {
				t.Errorf("%s: %d rejects, want %d", name, summary.Counts.Rejected, test.rejected)
			}
			if summary.PeakMemoryBytes > test.memory {
				t.Errorf("%s: %d MiB of memory, and %d MiB allowed", name, summary.PeakMemoryBytes>>20, test.memory>>20)
			}
		})
	}
}
