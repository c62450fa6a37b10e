// Command crawl makes archives out of real pages, as a large crawl does, to measure a job over many of them.
//
//	go run ./scripts/warc/crawl -bytes 1000000000 -files 8 -out crawl ../shared/corpora/warc
//
// The pages are the HTML pages in the archives of a folder. As in Common Crawl, each visit is three records: request,
// response and metadata, and each record is a gzip member. What a visit gave is drawn by a generator with a fixed seed,
// so the same arguments make the same files. The table in kinds.go has the shares: most are pages, and some are
// redirects, images, revisits, records whose head lies, and records that are damaged. A page is a copy of a real one:
// one in ten as it is, two in ten with one word in fifty replaced, so that they are near-duplicates, and the others
// with three words in ten replaced, so that they are documents of their own. One page in ten is sent in chunks, and one
// in ten compressed. The last file ends within its last record, a response.
//
// Bytes are counted before compression. The command prints how many records of each kind it wrote: a line has the
// kind, what should become of it, and the number.
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/gzip"
)

func main() {
	total := flag.Int64("bytes", 1e9, "bytes of all files before compression")
	files := flag.Int("files", 8, "number of files")
	undamaged := flag.Bool("undamaged", false, "make no damaged records, for readers that stop at one")
	folder := flag.String("out", "crawl", "folder of the files; must not exist")
	flag.Parse()
	if err := run(flag.Arg(0), *folder, *files, *total/int64(max(*files, 1)), *undamaged); err != nil {
		fmt.Fprintln(os.Stderr, "crawl:", err)
		os.Exit(1)
	}
}

// run makes files of some bytes each.
func run(archives, folder string, files int, bytes int64, undamaged bool) error {
	pages, err := readPages(archives)
	if err != nil {
		return err
	}
	if len(pages) == 0 {
		return fmt.Errorf("no pages in the archives of %q", archives)
	}
	if err := os.Mkdir(folder, 0o777); err != nil {
		return err
	}
	counts := map[kind]int{}
	for n := range files {
		w := &writer{
			packer:    gzip.NewWriter(nil),
			random:    rand.New(rand.NewPCG(uint64(n), 0)),
			number:    n,
			counts:    counts,
			undamaged: undamaged,
		}
		if err := w.makeFile(filepath.Join(folder, fmt.Sprintf("crawl-%05d.warc.gz", n)), pages, bytes); err != nil {
			return err
		}
		if isLast := n == files-1; isLast && !undamaged {
			counts[good]--
			counts[short]++
			if err := os.Truncate(w.file.Name(), (w.response+w.metadata)/2); err != nil {
				return err
			}
		}
	}
	return printCounts(counts, files)
}

// makeFile writes one file. Its last visit is a page as it should be.
func (w *writer) makeFile(path string, pages []page, bytes int64) (err error) {
	if w.file, err = os.Create(path); err != nil {
		return err
	}
	w.record("warcinfo", "application/warc-fields", "",
		[]byte("software: scripts/warc/crawl\r\nformat: WARC File Format 1.0\r\n"))
	for w.written < bytes {
		w.visit(w.draw(), pages[w.random.IntN(len(pages))])
	}
	w.visit(good, pages[0])
	if err := w.file.Close(); w.err == nil {
		w.err = err
	}
	return w.err
}
