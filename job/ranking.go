package job

import (
	"mirrorbeam/internal/preference"
	"mirrorbeam/internal/setting"
	"mirrorbeam/internal/storage"
)

// ReadRanking returns the list of preferred sources as it stands in its file, and an empty list if no file is named. A
// list without a source is an error.
func (c *Config) ReadRanking() (string, error) {
	path := c.Keep.Ranking()
	if path == "" {
		return "", nil
	}
	list, err := storage.ReadFile(path)
	if err == nil {
		err = preference.CheckRanks(string(list))
	}
	if err != nil {
		return "", setting.Errorf("{keep} %s: %w", c.Keep, err)
	}
	return string(list), nil
}
