// Command kernels measures the kernels of packages asmkernels, sketch and lshbands beside other libraries, on
// the same numbers and on one core, and prints one table. README.md of scripts/bench says what it needs.
//
//	go run . [-runs N] FOLDER
package main

import (
	"encoding/binary"
	"flag"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"

	minhash "github.com/dgryski/go-minhash"
	"github.com/dgryski/go-simstore"
	"github.com/dgryski/go-simstore/simhash"

	"mirrorbeam.dev/asmkernels"
	"mirrorbeam.dev/lshbands"
	"mirrorbeam.dev/sketch"
)

const (
	setCount = 500
	setSize  = 1000
	stored   = 1_000_000
	lookUps  = 20_000
)

// tasks are the columns of the table; what a line of a driver names first.
var tasks = []string{"intersect", "minhash", "simhash", "search"}

func main() {
	runs := flag.Int("runs", 5, "how often everything is measured")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: kernels [-runs N] FOLDER")
		os.Exit(2)
	}
	runtime.GOMAXPROCS(1)
	if err := compare(flag.Arg(0), *runs); err != nil {
		fmt.Fprintln(os.Stderr, "kernels:", err)
		os.Exit(1)
	}
}

// compare measures all libraries in turn, as often as asked, and prints medians.
func compare(folder string, runs int) error {
	sets := makeSets()
	path := filepath.Join(folder, "sets.u64")
	if err := os.WriteFile(path, encode(sets), 0o666); err != nil {
		return err
	}
	kernels, err := kernels(sets)
	if err != nil {
		return err
	}
	var names []string
	measured := map[[2]string][]float64{} // by name and task
	add := func(name, task string, nanoseconds float64) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		measured[[2]string{name, task}] = append(measured[[2]string{name, task}], nanoseconds)
	}
	for range runs {
		for _, k := range kernels {
			begun := cpu()
			k.work()
			add(k.name, k.task, (cpu()-begun)/float64(k.units))
		}
		for _, command := range [][]string{
			{filepath.Join(folder, "python/bin/python"), "peers.py", path},
			{"java", "-cp", filepath.Join(folder, "hash4j.jar"), "Peers.java", path},
		} {
			out, err := exec.Command(command[0], command[1:]...).Output()
			if err != nil {
				return fmt.Errorf("%s: %w", strings.Join(command, " "), err)
			}
			for line := range strings.Lines(string(out)) {
				fields := strings.Split(strings.TrimSpace(line), "\t")
				nanoseconds, err := strconv.ParseFloat(fields[2], 64)
				if err != nil {
					return fmt.Errorf("%s: %w", command[0], err)
				}
				add(fields[0], fields[1], nanoseconds)
			}
		}
	}
	fmt.Printf("| ns (%s) | %s |\n|---|%s\n", asmkernels.SelectedTier(), strings.Join([]string{
		fmt.Sprintf("intersect two sets of %d", setSize), fmt.Sprintf("MinHash 128 of %d hashes", setSize),
		fmt.Sprintf("SimHash 64 of %d hashes", setSize), fmt.Sprintf("look-up within 3 bits among %d", stored),
	}, " | "), strings.Repeat("---:|", len(tasks)))
	for _, name := range names {
		row := []string{name}
		for _, task := range tasks {
			cell, all := "", measured[[2]string{name, task}]
			if slices.Sort(all); len(all) > 0 {
				cell = fmt.Sprintf("%.0f", all[len(all)/2])
			}
			row = append(row, cell)
		}
		fmt.Printf("| %s |\n", strings.Join(row, " | "))
	}
	return nil
}

// cpu returns the CPU time of this process in nanoseconds.
func cpu() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return float64(usage.Utime.Nano() + usage.Stime.Nano())
}

// makeSets returns sorted sets of hashes. Each has half of its hashes in common with the one before.
func makeSets() (sets [][]uint64) {
	random := rand.New(rand.NewPCG(1, 2))
	var before []uint64
	for range setCount {
		set := slices.Clone(before[len(before)/2:])
		for len(set) < setSize {
			set = append(set, random.Uint64())
		}
		random.Shuffle(len(set), func(i, j int) { set[i], set[j] = set[j], set[i] })
		before = slices.Clone(set)
		slices.Sort(set)
		sets = append(sets, set)
	}
	return sets
}

// encode returns the sets as the drivers of other languages read them.
func encode(sets [][]uint64) (data []byte) {
	for _, set := range sets {
		for _, hash := range set {
			data = binary.LittleEndian.AppendUint64(data, hash)
		}
	}
	return data
}

type kernel struct {
	name, task string
	units      int // pairs, sets or look-ups of the work
	work       func()
}

// kernels returns what is measured in this process.
func kernels(sets [][]uint64) ([]kernel, error) {
	narrow := make([][]uint32, len(sets)) // the high halves
	for i, set := range sets {
		for _, hash := range set {
			narrow[i] = append(narrow[i], uint32(hash>>32))
		}
		narrow[i] = slices.Compact(narrow[i])
	}
	signer, err := sketch.NewMinHash(128)
	if err != nil {
		return nil, err
	}
	summer, err := sketch.NewSimHash(sketch.SimHashOptions{Bits: 64})
	if err != nil {
		return nil, err
	}
	found, err := searches()
	if err != nil {
		return nil, err
	}
	var signature []uint32
	var fingerprint []uint64
	first := func(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }
	second := func(b []byte) uint64 { return bits.RotateLeft64(first(b), 32) * 0x9e3779b97f4a7c15 }
	return append([]kernel{
		{"runjob's packages", "intersect", len(sets) - 1, func() {
			for i := range narrow[1:] {
				asmkernels.Intersect(narrow[i], narrow[i+1], 0)
			}
		}},
		{"runjob's packages", "minhash", len(sets), func() {
			for _, set := range sets {
				signature = signer.Signature(signature, set)
			}
		}},
		{"runjob's packages", "simhash", len(sets), func() {
			for _, set := range sets {
				summer.Reset()
				summer.AddSet(set)
				fingerprint = summer.Fingerprint(fingerprint)
			}
		}},
		{"go-minhash", "minhash", len(sets), func() {
			var hash [8]byte
			for _, set := range sets {
				m := minhash.NewMinWise(first, second, 128)
				for _, h := range set {
					binary.LittleEndian.PutUint64(hash[:], h)
					m.Push(hash[:])
				}
				m.Signature()
			}
		}},
		{"go-simstore", "simhash", len(sets), func() {
			for _, set := range sets {
				simhash.Hash(&features{hashes: set})
			}
		}},
	}, found...), nil
}

// features are hashes as go-simstore wants them.
type features struct {
	hashes []uint64
	hash   [8]byte
}

func (f *features) Scan() bool {
	if len(f.hashes) == 0 {
		return false
	}
	binary.LittleEndian.PutUint64(f.hash[:], f.hashes[0])
	f.hashes = f.hashes[1:]
	return true
}

func (f *features) Bytes() []byte { return f.hash[:] }

func (f *features) Err() error { return nil }

// searches returns the searches of fingerprints near to some that are stored. Both must find as many.
func searches() ([]kernel, error) {
	random := rand.New(rand.NewPCG(3, 4))
	index, err := lshbands.NewHammingIndex[int](lshbands.HammingOptions{Bits: 64, Distance: 3})
	if err != nil {
		return nil, err
	}
	store := simstore.New3(stored, simstore.NewU64Slice)
	fingerprints, probes := make([]uint64, stored), make([]uint64, lookUps)
	for i := range stored {
		fingerprint := random.Uint64()
		fingerprints[i] = fingerprint
		if err := index.Add(i, []uint64{fingerprint}); err != nil {
			return nil, err
		}
		store.Add(fingerprint, uint64(i))
		if i < lookUps {
			probes[i] = fingerprint ^ 1<<random.IntN(64) ^ 1<<random.IntN(64)
		}
	}
	store.Finish()
	ours, err := searchTables(fingerprints, probes)
	if err != nil {
		return nil, err
	}
	var near []lshbands.Near[int]
	return []kernel{
		{"runjob's packages", "search", lookUps, func() { mustFind(ours()) }},
		{"lshbands.HammingIndex, which grows", "search", lookUps, func() {
			found := 0
			for _, probe := range probes {
				if near, err = index.Query(near[:0], []uint64{probe}); err != nil {
					panic(err)
				}
				found += len(near)
			}
			mustFind(found)
		}},
		{"go-simstore", "search", lookUps, func() {
			found := 0
			for _, probe := range probes {
				found += len(store.Find(probe))
			}
			mustFind(found)
		}},
	}, nil
}

// searchTables returns a search in the 16 tables that go-simstore has, too. It returns how many fingerprints it finds.
func searchTables(fingerprints, probes []uint64) (func() int, error) {
	permuted, err := lshbands.NewPermuted(64, 3, 4, 4)
	if err != nil {
		return nil, err
	}
	tables := make([]*lshbands.Table, permuted.Tables())
	keys := make([]uint64, len(fingerprints))
	for i := range tables {
		for j := range keys {
			permuted.Permute(i, keys[j:j+1], fingerprints[j:j+1])
		}
		slices.Sort(keys)
		if tables[i], err = lshbands.NewTable(slices.Values(keys)); err != nil {
			return nil, err
		}
	}
	searches := make([]lshbands.Probe, len(tables))
	original := make([]uint64, 1)
	var candidates []uint64
	return func() (found int) {
		for i := range probes {
			probe := probes[i : i+1]
			for table, t := range tables {
				searches[table] = lshbands.Probe{
					Table:      t,
					Prefix:     permuted.Prefix(table, probe),
					PrefixBits: permuted.PrefixBits(table),
				}
			}
			lshbands.Search(searches)
			for table := range searches {
				candidates = searches[table].AppendKeys(candidates[:0])
				for j := range candidates {
					permuted.Unpermute(table, original, candidates[j:j+1])
					if bits.OnesCount64(original[0]^probe[0]) <= 3 && permuted.FirstCommon(probe, original) == table {
						found++
					}
				}
			}
		}
		return found
	}, nil
}

// mustFind ends the program if searches found other fingerprints than those that were changed.
func mustFind(found int) {
	if found != lookUps {
		panic(fmt.Sprintf("%d fingerprints found instead of %d", found, lookUps))
	}
}
