package state

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"hash/crc32"
	"time"

	"mirrorbeam/internal/corpus"
	"mirrorbeam/internal/storage"
)

// Content is what a generation of a state holds.
type Content struct {
	// Number is the number of the generation, from 1.
	Number int
	// Made is when the run that wrote it ended. Program is the version of the program.
	Made    time.Time
	Program string
	// Sketches identifies what decides the units: settings, lists of words and sources, and the layout of a unit.
	Sketches string
	// Config is the configuration of that run, as JSON.
	Config []byte
	// Files are the files of the corpus, in document order.
	Files []File
	// Documents is the number of documents of the corpus.
	Documents int64
	// Clusters is the file with the clusters of that run. Verdicts is the file with its similar pairs, "" if the run has not
	// compared all candidates. Mirrors and Suspects are files of the last run that was about sites: its groups of mirrors, and
	// the alerts of all such runs; "" if there was none. All are relative to the folder.
	Clusters, Verdicts, Mirrors, Suspects string
	// Results identifies what decides which pairs are similar.
	Results string
}

// File is a file of the corpus and its units.
type File struct {
	corpus.File

	// Settled says that the generation of the file tells whether it has changed.
	Settled   bool
	Stretches []Stretch
}

// Stretch is a part of a file, in positions, and the place of its unit.
type Stretch struct {
	Start, End int64
	// Run is the run file, relative to the folder. Shard is the number of the unit there.
	Run   string
	Shard int
}

// magic begins a generation. The number in it is that of the layout, and changes with it.
const magic = "mirrorbeam state 1\n"

const anyMagic = "mirrorbeam state "

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// encode writes the content with a check sum.
func (c *Content) encode() ([]byte, error) {
	b := bytes.NewBufferString(magic)
	if err := gob.NewEncoder(b).Encode(c); err != nil {
		return nil, err
	}
	sum := crc32.Checksum(b.Bytes(), castagnoli)
	return append(b.Bytes(), byte(sum), byte(sum>>8), byte(sum>>16), byte(sum>>24)), nil
}

// decode reads what encode wrote.
func decode(b []byte) (*Content, error) {
	if !bytes.HasPrefix(b, []byte(magic)) {
		if bytes.HasPrefix(b, []byte(anyMagic)) {
			return nil, errors.New("it has the layout of another version of this program: name another folder")
		}
		return nil, errors.New("it is not a generation of a state")
	}
	body := len(b) - 4
	if body < len(magic) {
		return nil, errDamaged
	}
	sum := uint32(b[body]) | uint32(b[body+1])<<8 | uint32(b[body+2])<<16 | uint32(b[body+3])<<24
	if crc32.Checksum(b[:body], castagnoli) != sum {
		return nil, errDamaged
	}
	c := new(Content)
	if err := gob.NewDecoder(bytes.NewReader(b[len(magic):body])).Decode(c); err != nil {
		return nil, errors.Join(errDamaged, err)
	}
	return c, nil
}

var errDamaged = errors.New("it is damaged (check sum)")

// readGeneration reads the generation of that number.
func readGeneration(folder string, number int) (*Content, error) {
	name := generationName(folder, number)
	b, err := storage.ReadFile(name)
	if err != nil {
		return nil, err
	}
	c, err := decode(b)
	if err == nil && c.Number != number {
		err = fmt.Errorf("it says that it is number %d", c.Number)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return c, nil
}

// names returns the files that the content needs, relative to the folder.
func (c *Content) names() map[string]bool {
	names := map[string]bool{}
	for i := range c.Files {
		for _, stretch := range c.Files[i].Stretches {
			names[stretch.Run] = true
		}
	}
	for _, name := range []string{c.Clusters, c.Verdicts, c.Mirrors, c.Suspects} {
		if name != "" {
			names[name] = true
		}
	}
	return names
}
