package job_test

import (
	"fmt"

	"mirrorbeam.dev/job"
)

func ExampleDefault() {
	config := job.Default()
	config.Input = []string{"corpus/*.jsonl.zst"}
	config.Output = "near-duplicates"
	config.Threshold = 0.7
	fmt.Println(config.Validate(), config.Method(), config.PromisedRecall())

	config.Threshold = 7
	config.Hamming = 4
	fmt.Println(config.Validate())
	// Output:
	// <nil> exact 1
	// threshold 7: must be above 0 and at most 1
	// hamming 4: is for keys simhash
}
