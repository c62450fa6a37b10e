// Package query finds the documents of a state that are like others, with an index that it makes from the state.
package query

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"mirrorbeam.dev/internal/inspect/index"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/util/setting"
	"mirrorbeam.dev/job"
)

// Index is the index of a state, open for queries by any number of goroutines. Its files are mapped into memory if
// their storage can do that. Then the used parts are in the system's page cache, which may drop them. Nobody may write
// to the files meanwhile.
type Index struct {
	config     job.Config // config of the job
	isDistance bool       // the job compares fingerprints
	files      []indexFile
}

func newIndex(config job.Config) *Index {
	return &Index{config: config, isDistance: config.Scorer().IsDistance}
}

type indexFile struct {
	path   string
	mapped storage.Mapping
	*index.File
}

func (x *Index) openFiles(paths []string) error {
	for _, path := range paths {
		file, err := openIndexFile(path)
		if err != nil {
			return errors.Join(fmt.Errorf("%s: %w", path, err), x.Close())
		}
		x.files = append(x.files, file)
	}
	return nil
}

// openIndexFile maps a file of an index into memory and opens it. The error says what to do if the file is damaged.
func openIndexFile(path string) (indexFile, error) {
	mapped, err := storage.Map(path)
	if err != nil {
		return indexFile{}, fmt.Errorf("%w: %s", err, remedy(path))
	}
	opened, err := index.Open(mapped.Bytes)
	if err != nil {
		return indexFile{}, errors.Join(fmt.Errorf("%w: %s", err, remedy(path)), mapped.Close())
	}
	return indexFile{path, mapped, opened}, nil
}

func remedy(path string) string {
	return fmt.Sprintf("remove %s and ask again, which makes a new one", path)
}

// Close gives the files back. No query may be running.
func (x *Index) Close() error {
	var faults []error
	for _, f := range x.files {
		if err := f.mapped.Close(); err != nil {
			faults = append(faults, fmt.Errorf("close index %s: %w", f.path, err))
		}
	}
	x.files = nil
	return errors.Join(faults...)
}

// postings says which sets have a key. The postings of a bucket are a chain, the newest first. Nothing is taken out of
// a chain: when there is no room left, the postings of sets that have gone are dropped, and all chains are made again.
type postings struct {
	heads []uint32 // 1 + the newest posting of a bucket; 0: none
	all   []posting
}

type posting struct {
	key  uint32 // of the hash of the key: two keys in four billion are taken for one
	next uint32 // 1 + the next posting of the bucket; 0: none
	set  uint32
	size uint32 // of the set
}

const leastRoom = 1 << 10

func (p *postings) add(key uint64, set, size uint32) {
	p.all = append(p.all, posting{key: hashOf(key), set: set, size: size})
	p.link(len(p.all) - 1)
}

func (p *postings) link(number int) {
	head := &p.heads[p.bucket(p.all[number].key)]
	p.all[number].next, *head = *head, uint32(number)+1
}

// hashOf spreads keys, which may be the smallest of many hashes, over 32 bits.
func hashOf(key uint64) uint32 { return uint32(key * 0x9e3779b97f4a7c15 >> 32) }

func (p *postings) bucket(hash uint32) uint32 {
	return uint32(uint64(hash) * uint64(len(p.heads)) >> 32)
}

// each visits the sets of a key whose sizes are from least to most, and now and then another one.
func (p *postings) each(key uint64, least, most uint32, visit func(set uint32)) {
	if len(p.heads) == 0 {
		return
	}
	hash := hashOf(key)
	for next := p.heads[p.bucket(hash)]; next > 0; {
		x := &p.all[next-1]
		if x.key == hash && x.size >= least && x.size <= most {
			visit(x.set)
		}
		next = x.next
	}
}

// rebuild drops the postings of sets that are not held, and makes room for as many as are left, and some more. The
// error is that there are too many.
func (p *postings) rebuild(isHeld func(set uint32) bool, more int) error {
	held := p.all[:0]
	for _, x := range p.all {
		if isHeld(x.set) {
			held = append(held, x)
		}
	}
	room := max(leastRoom, 2*len(held)+more)
	if room > math.MaxInt32 {
		return setting.Errorf("more documents than can be held: give a {window}")
	}
	if room > cap(held) {
		held = append(make([]posting, 0, room), held...)
	}
	p.all = held
	if len(p.heads) < cap(held) {
		p.heads = make([]uint32, cap(held))
	} else {
		clear(p.heads)
	}
	for number := range p.all {
		p.link(number)
	}
	return nil
}

// item is a file of a cache: what it is made of, in which version, and which part of the whole it is.
type item struct {
	of, version string
	part        int
}

// get returns the path of the item in a folder, where make makes it if it is missing. Other versions of it go.
func (i item) get(folder string, make func(path string) error) (string, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	of := hashed(i.of) + "-"
	version := of + hashed(i.version) + "-"
	path := filepath.Join(folder, version+strconv.Itoa(i.part))
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := make(path); err != nil {
		return "", err
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return "", err
	}
	for _, entry := range entries {
		if name := entry.Name(); strings.HasPrefix(name, of) && !strings.HasPrefix(name, version) {
			os.Remove(filepath.Join(folder, name)) // whoever has it mapped keeps it
		}
	}
	return path, nil
}

func hashed(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:12])
}
