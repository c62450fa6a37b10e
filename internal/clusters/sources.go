package clusters

import (
	"context"
	"encoding/json"
	"fmt"

	"mirrorbeam.dev/internal/input/sources"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/runfile"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/work"
)

// countSources counts, for each source, the documents of the shard that have near-duplicates in which sources and, if
// the shard is decided, those that are removed. No document of the reference counts as like another one of it, since
// these are not compared.
func (s *Shard) countSources(c *sources.Counts) {
	var references sources.Set
	if s.members.Sides() != nil {
		s.countAcross(c)
		return
	}
	store := s.store.Beside()
	defer store.Close()
	classes := listIn[class](store, s.classes.len())
	for i := range s.end() {
		of := s.members.Source(i)
		if s.reference(i) {
			references.Put(of)
		}
		classes.Edit(s.classes.of.At(i)).add(of)
	}
	for i := range s.edges.Len() {
		e := s.edges.At(i)
		if a, b := s.classes.of.At(e.A), s.classes.of.At(e.B); a != b {
			in := classes.Edit(b).sources
			classes.Edit(a).near.PutAll(in)
			in = classes.Edit(a).sources
			classes.Edit(b).near.PutAll(in)
		}
	}
	for i := range s.end() {
		of := s.members.Source(i)
		in := classes.Edit(s.classes.of.At(i)).nearDuplicates(of)
		if references.Has(of) {
			in.RemoveAll(references)
		}
		c.Share(of, in)
		if s.goes(i) {
			c.Removed.Add(of, 1)
		}
	}
}

// class tells where the documents of a class of identical ones come from.
type class struct {
	sources sources.Set // sources of its documents
	several sources.Set // those that have more than one of them
	near    sources.Set // sources of the classes that edges join it to
}

func (c *class) add(of sources.Number) {
	if c.sources.Has(of) {
		c.several.Put(of)
	}
	c.sources.Put(of)
}

// nearDuplicates returns the sources that have near-duplicates of a document of the class, which is of a source itself.
func (c *class) nearDuplicates(of sources.Number) sources.Set {
	in := c.sources
	if !c.several.Has(of) {
		in.Remove(of)
	}
	in.PutAll(c.near)
	return in
}

// SourceCounting is the work of the stage source. A task counts the documents of all values whose hashes are in its
// range. It writes the values that most documents have.
type SourceCounting struct{}

// Delivery returns the delivery of its tasks.
func (SourceCounting) Delivery() work.Delivery {
	return work.Delivery{Needed: []runfile.Kind{records.SourceCounts}}
}

// Task counts the documents of the values of a range.
func (SourceCounting) Task(_ context.Context, _ work.Task, w *work.TaskContext) error {
	counts, err := w.Read(0, records.SourceCounts)
	if err != nil {
		return err
	}
	w.Figures.Bytes += int64(len(counts))
	var found [sources.Corpora]map[uint64]records.SourceCount
	for corpus := range found {
		found[corpus] = map[uint64]records.SourceCount{}
	}
	for c := range records.All[records.SourceCount](counts) {
		w.Figures.Records++
		c.Documents += found[c.Corpus][c.Hash].Documents
		found[c.Corpus][c.Hash] = c
	}
	for corpus := range sources.Corpora {
		leading := sources.LeadingOf(corpus)
		for hash, c := range found[corpus] {
			leading.Add(sources.Value{Hash: hash, Name: string(c.Name), Documents: c.Documents})
		}
		values, others := leading.Cut()
		w.Outcome.OtherSources[corpus] = others
		for _, v := range values {
			c := records.SourceCount{Hash: v.Hash, Documents: v.Documents, Corpus: corpus, Name: []byte(v.Name)}
			if err := records.Write(&w.Run, records.LeadingSources, 0, &c); err != nil {
				return err
			}
		}
	}
	return nil
}

// ChooseSources chooses among the values of all tasks of [SourceCounting], and writes the choice to the folder.
func ChooseSources(p *work.Planning) error {
	var leading [sources.Corpora]*sources.Leading
	for corpus := range sources.Corpora {
		leading[corpus] = sources.LeadingOf(corpus)
		for _, o := range p.Outcomes {
			leading[corpus].AddOthers(o.OtherSources[corpus])
		}
	}
	err := work.EachRecordOf(p.Outcomes, work.Source, records.LeadingSources, p.Memory, func(packed []byte) error {
		for c := range records.All[records.SourceCount](packed) {
			leading[c.Corpus].Add(sources.Value{Hash: c.Hash, Name: string(c.Name), Documents: c.Documents})
		}
		return nil
	})
	if err != nil {
		return err
	}
	return writeJSON(string(p.Runs.Folder), choiceName, sources.Choose(leading))
}

const choiceName = "sources.json"

// ReadSourceChoice returns the choice of [ChooseSources], given the job's folder.
func ReadSourceChoice(folder string) (*sources.Choice, error) {
	return readJSON[sources.Choice](folder, choiceName)
}

// writeJSON writes what a step has found to the job's folder, for the tasks of others.
func writeJSON(folder, name string, value any) error {
	b, err := json.Marshal(value)
	if err == nil {
		err = storage.WriteFile(storage.Join(folder, name), b)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

func readJSON[T any](folder, name string) (*T, error) {
	b, err := storage.ReadFile(storage.Join(folder, name))
	value := new(T)
	if err == nil {
		err = json.Unmarshal(b, value)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return value, nil
}

type sidedClass struct {
	class records.Number
	side  uint64
}

// countAcross is countSources for documents with sides: documents of one side are no near-duplicates.
func (s *Shard) countAcross(c *sources.Counts) {
	store := s.store.Beside()
	defer store.Close()
	all := listIn[sources.Set](store, s.classes.len())    // the sources of each class
	shared := listIn[sources.Set](store, s.classes.len()) // the sources with documents of several sides
	units := map[sidedClass]*sources.Set{}                // the sources of the documents of one side
	sidesOf := map[records.Number][]uint64{}
	sides := s.members.Sides()
	for i := range s.end() {
		of, unit := s.members.Source(i), sidedClass{s.classes.of.At(i), sides.At(i)}
		if units[unit] == nil {
			units[unit] = &sources.Set{}
			sidesOf[unit.class] = append(sidesOf[unit.class], unit.side)
		}
		if in := units[unit]; !in.Has(of) {
			in.Put(of)
			if all.Edit(unit.class).Has(of) {
				shared.Edit(unit.class).Put(of)
			}
			all.Edit(unit.class).Put(of)
		}
	}
	// others returns the sources of the documents of a class that are not of a side.
	others := func(class records.Number, side uint64) sources.Set {
		in := all.At(class)
		if own := units[sidedClass{class, side}]; own != nil {
			in.RemoveAll(*own)
			in.PutAll(shared.At(class))
		}
		return in
	}
	near := map[sidedClass]*sources.Set{}
	for unit := range units {
		in := others(unit.class, unit.side)
		near[unit] = &in
	}
	for i := range s.edges.Len() {
		e := s.edges.At(i)
		a, b := s.classes.of.At(e.A), s.classes.of.At(e.B)
		if a == b {
			continue
		}
		for _, ends := range [2][2]records.Number{{a, b}, {b, a}} {
			for _, side := range sidesOf[ends[0]] {
				near[sidedClass{ends[0], side}].PutAll(others(ends[1], side))
			}
		}
	}
	for i := range s.end() {
		of := s.members.Source(i)
		c.Share(of, *near[sidedClass{s.classes.of.At(i), sides.At(i)}])
		if s.goes(i) {
			c.Removed.Add(of, 1)
		}
	}
}
