package pipeline

import (
	"context"

	"mirrorbeam/internal/measure/documents"
	"mirrorbeam/internal/start/failure"
	"mirrorbeam/job"
	"mirrorbeam/lshbands"
)

// settings is a configuration that has been checked, with what stands in the lists that it names.
type settings struct {
	Config job.Config      `json:"config"`
	Scheme lshbands.Scheme `json:"scheme"`

	stopWords, ranking string
	sites              documents.SiteLists
}

// checkSettings checks a configuration and what it asks of this system, and reads its lists. The error is of a kind.
func checkSettings(ctx context.Context, config job.Config) (s settings, err error) {
	if err := config.Validate(); err != nil {
		return s, failure.New(failure.Usage, err)
	}
	if err := CheckRunner(ctx, config.Runner); err != nil {
		return s, err
	}
	if err := checkOpenFiles(); err != nil {
		return s, failure.New(failure.Storage, err)
	}
	config.Emit = config.Outputs()
	s.Config = config
	s.Scheme, err = config.Scheme()
	if err == nil {
		s.stopWords, err = config.ReadStopWords()
	}
	if err == nil {
		s.sites, err = config.ReadSiteLists()
	}
	if err == nil {
		s.ranking, err = config.ReadRanking()
	}
	if err != nil {
		return s, failure.New(failure.Usage, err)
	}
	return s, nil
}
