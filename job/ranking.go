package job

import (
	"mirrorbeam/internal/carry/preference"
	"mirrorbeam/internal/ground/setting"
	"mirrorbeam/internal/read/corpus"
)

// ReadRanking returns the list of preferred sources as it stands in its file, and an empty list if no file is named. A
// list without a source is an error.
func (c *Config) ReadRanking() (string, error) {
	path := c.Keep.Ranking()
	if path == "" {
		return "", nil
	}
	list, err := corpus.ReadList(path)
	if err == nil {
		err = preference.CheckRanks(list)
	}
	if err != nil {
		return "", setting.Errorf("{keep} %s: %w", c.Keep, err)
	}
	return list, nil
}
