package formats

import "testing"

// TestSplits: the names of files and folders say the split, as the hub reads them.
func TestSplits(t *testing.T) {
	for name, want := range map[string]string{
		"data/train-00000-of-00010.parquet":           "train",
		"data/train.clean.100-00000-of-00010.parquet": "train.clean.100",
		"hf://datasets/o/n/default/test/0000.parquet": "test",
		"saved/validation/data-00000-of-00001.arrow":  "validation",
		"data-00000-of-00001.arrow":                   "",
		"train.jsonl":                                 "train",
		"my_dev_set.csv":                              "validation",
		"test/train.csv":                              "train",
		"training/part-1.jsonl.gz":                    "train",
		"a/b.jsonl":                                   "",
		"contest/latest.csv":                          "",
		"train-test.csv":                              "",
		"train/train-test.csv":                        "train",
		"custom-00001-of-00002-abc.parquet":           "custom",
		"/abs/eval/x.txt":                             "test",
		"":                                            "",
	} {
		if got := string(splitOf(name)); got != want {
			t.Errorf("splitOf(%q) = %q, want %q", name, got, want)
		}
	}
}
