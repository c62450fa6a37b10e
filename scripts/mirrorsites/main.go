// Command mirrorsites makes a corpus of sites with mirrors among them, and judges what a job finds.
//
//	go run ./scripts/mirrorsites -out planted ../shared/corpora
//	runjob mirrors --input planted/pages.jsonl --rank planted/rank.csv --protected planted/protected.txt --output out
//	go run ./scripts/mirrorsites -out planted -judge out
//
// The sites are of real documents: each has some that stand next to each other in a collection, within a template of
// its own. One site in five has a licence page, and all have one of three error pages. Then come mirrors of some sites,
// and honest sites that have something in common with these. The same folder of corpora gives the same bytes.
//
// A kind of mirror: identical; half of the pages; all pages in another template, at other paths; one word in ten
// replaced; the template in another language; all pages on a host that looks like the original's, with a form for a
// password.
//
// A kind of honest site: with the template of another one; with licences that others have, too; with some articles of
// another one, whole or in part, among its own; in a family of 4 to 50 small sites that share four legal pages, with
// three pages of its own.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	out := flag.String("out", "planted", "folder for the corpus and the truth")
	sites := flag.Int("sites", 1000, "number of sites that are no mirrors, without the honest ones")
	planted := flag.Int("planted", 60,
		"number of mirrors, and number of honest sites that have something in common with others")
	results := flag.String("judge", "", "results of a job over the corpus, to be compared with the truth")
	flag.Parse()
	err := error(nil)
	if *results == "" {
		err = plant(flag.Arg(0), *out, extent{*sites, *planted})
	} else {
		err = report(*results, *out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mirrorsites:", err)
		os.Exit(1)
	}
}

// report prints the judgement of results.
func report(results, folder string) error {
	v, err := judge(results, filepath.Join(folder, truthFile))
	if err != nil {
		return err
	}
	v.print(os.Stdout)
	return nil
}
