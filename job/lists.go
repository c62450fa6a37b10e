package job

import (
	"errors"
	"strings"

	"mirrorbeam/internal/carry/preference"
	"mirrorbeam/internal/ground/setting"
	"mirrorbeam/internal/read/corpus"
	"mirrorbeam/sketch"
)

// ReadStopWords returns the list of stop words as it stands in its file, and an empty list if no file is named. A list
// without a word is an error.
func (c *Config) ReadStopWords() (string, error) {
	if c.StopWords == "" {
		return "", nil
	}
	list, err := corpus.ReadList(c.StopWords)
	if err != nil {
		return "", setting.Errorf("{stopwords}: %w", err)
	}
	normalizer, err := sketch.NewNormalizer(c.Normalize)
	if err != nil {
		return "", setting.Errorf("{normalize}: %w", err)
	}
	words, err := sketch.ReadStopWords(strings.NewReader(list), normalizer)
	if err == nil && words.Len() == 0 {
		err = errors.New("it holds no word")
	}
	if err != nil {
		return "", setting.Errorf("{stopwords} %s: %w", c.StopWords, err)
	}
	return list, nil
}

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
