// Command stories puts the articles of a stream into stories. An article belongs to the story of the most similar
// article of the last days, or begins a story. A story has the id of its first article, and keeps it when that article
// has left the window.
//
//	go run ./examples/stories -window 72h < articles.tsv    # time (2026-01-31T08:00:00Z), tab, id of its own, tab, text
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"time"

	"mirrorbeam.dev/lshbands"
	"mirrorbeam.dev/sketch"
)

var window = flag.Duration("window", 72*time.Hour, "how long an article is compared with later ones")

func main() {
	flag.Parse()
	if err := run(os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

type article struct {
	id   string
	time time.Time
}

// run prints a line for each article: its story, a tab, and its id.
func run(in io.Reader, out io.Writer) error {
	hasher, err := sketch.NewHasher(sketch.Measure{Shingle: 2})
	if err != nil {
		return err
	}
	index, err := lshbands.NewIndex[string](lshbands.IndexOptions{Threshold: 0.5, Exact: true})
	if err != nil {
		return err
	}
	stories, recent := map[string]string{}, []article(nil) // story by article; articles of the window, the oldest first
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		fields := strings.SplitN(lines.Text(), "\t", 3)
		if len(fields) < 3 {
			return fmt.Errorf("%q: must be a time, an id and a text, with tabs between", lines.Text())
		}
		now, err := time.Parse(time.RFC3339, fields[0])
		if err != nil {
			return err
		}
		for len(recent) > 0 && now.Sub(recent[0].time) > *window {
			index.Remove(recent[0].id)
			delete(stories, recent[0].id)
			recent = recent[1:]
		}
		id, set := fields[1], hasher.Document([]byte(fields[2])).Set
		found, err := index.Query(nil, set)
		if err == nil {
			err = index.Add(id, set)
		}
		if err != nil {
			return err
		}
		stories[id], recent = id, append(recent, article{id, now})
		if len(found) > 0 {
			stories[id] = stories[found[0].ID]
		}
		fmt.Fprintf(out, "%s\t%s\n", stories[id], id)
	}
	return lines.Err()
}
