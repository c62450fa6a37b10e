// Command jaccard tells how similar two files are: exactly, and as their signatures estimate it.
//
//	go run ./examples/jaccard one.txt two.txt
package main

import (
	"fmt"
	"log"
	"os"

	"mirrorbeam.dev/sketch"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: jaccard FILE FILE")
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

func run(one, two string) error {
	hasher, err := sketch.NewHasher(sketch.Measure{Shingle: 3})
	if err != nil {
		return err
	}
	minhash, err := sketch.NewMinHash(128)
	if err != nil {
		return err
	}
	var sets [2][]uint64
	var signatures [2][]uint32
	for i, name := range []string{one, two} {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		sets[i] = hasher.Set(text)
		signatures[i] = minhash.Signature(nil, sets[i])
	}
	fmt.Printf("%d and %d shingles: %.4f, estimated %.4f\n", len(sets[0]), len(sets[1]),
		sketch.Jaccard(sets[0], sets[1]), sketch.SignatureAgreement(signatures[0], signatures[1]))
	return nil
}
