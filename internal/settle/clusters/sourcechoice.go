package clusters

import (
	"encoding/json"
	"fmt"

	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/carry/work"
	"mirrorbeam/internal/ground/storage"
	"mirrorbeam/internal/read/sources"
)

// ChooseSources chooses the sources among the values that the tasks of [Counting] have passed on. It writes the choice to the
// job's folder.
func ChooseSources(p *work.Planning) error {
	var leading [sources.Corpora]*sources.Leading
	for corpus := range sources.Corpora {
		leading[corpus] = sources.LeadingOf(corpus)
		for _, o := range p.Outcomes {
			leading[corpus].AddOthers(o.OtherSources[corpus])
		}
	}
	err := work.EachRecordOf(p.Outcomes, work.Source, records.LeadingSources, p.Memory, func(packed []byte) error {
		for len(packed) > 0 {
			var c records.SourceCount
			c, packed = records.NextSourceCount(packed)
			leading[c.Corpus].Add(sources.Value{Hash: c.Hash, Name: string(c.Name), Documents: c.Documents})
		}
		return nil
	})
	if err != nil {
		return err
	}
	b, err := json.Marshal(sources.Choose(leading))
	if err == nil {
		err = storage.WriteFile(choicePath(string(p.Runs.Folder)), b)
	}
	if err != nil {
		return fmt.Errorf("write sources: %w", err)
	}
	return nil
}

// ReadSourceChoice returns the choice that [Choose] wrote to the job's folder.
func ReadSourceChoice(folder string) (*sources.Choice, error) {
	b, err := storage.ReadFile(choicePath(folder))
	choice := new(sources.Choice)
	if err == nil {
		err = json.Unmarshal(b, choice)
	}
	if err != nil {
		return nil, fmt.Errorf("read sources: %w", err)
	}
	return choice, nil
}

func choicePath(folder string) string { return storage.Join(folder, "sources.json") }
