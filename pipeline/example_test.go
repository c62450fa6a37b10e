package pipeline_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"mirrorbeam.dev/job"
	"mirrorbeam.dev/pipeline"
)

func ExampleRun() {
	folder, err := os.MkdirTemp("", "example-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	input := filepath.Join(folder, "articles.jsonl")
	lines := `{"id":"26","text":"Everyone has the right to education. Education shall be free."}
{"id":"3","text":"Everyone has the right to life, liberty and security of person."}
{"id":"3 again","text":"EVERYONE has the right to life, liberty and security of person!"}
`
	if err := os.WriteFile(input, []byte(lines), 0o666); err != nil {
		fmt.Println(err)
		return
	}

	config := job.Default()
	config.Input, config.Output = []string{input}, filepath.Join(folder, "out")
	summary, err := pipeline.Run(context.Background(), config)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(summary.Counts.Documents, "documents,", summary.Counts.Removed, "to be removed")
	rows, err := os.ReadFile(filepath.Join(config.Output, "clusters-00000-of-00001.jsonl"))
	fmt.Print(string(rows), err)
	// Output:
	// 3 documents, 1 to be removed
	// {"cluster":"3","id":"3","ref":"articles.jsonl:83","kept":true,"similarity":1,"size":2,"least":1,"mean":1}
	// {"cluster":"3","id":"3 again","ref":"articles.jsonl:167","kept":false,"similarity":1,"size":2,"least":1,"mean":1}
	// <nil>
}
