// Command library finds near-duplicates in a pipeline of its own: each line of a text file is a document, and its id is
// what comes before the first tab.
//
//	go run . --input lines.tsv --output clusters.tsv --temp /tmp
//
// It runs on any Beam runner, such as --runner=flink --endpoint=... with files that all workers can reach.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/textio"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/direct"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal"

	"mirrorbeam.dev/job"
	"mirrorbeam.dev/transforms"
)

var (
	runner = flag.String("runner", "direct", "direct, or universal with --endpoint of a job server")
	input  = flag.String("input", "", "file with a document a line: id, tab, text")
	output = flag.String("output", "",
		"file for the clusters, a document a line: cluster, tab, id, tab, kept or removed")
	temp      = flag.String("temp", "", "folder for temporary files, which all workers share")
	threshold = flag.Float64("threshold", 0.8, "least similarity of two near-duplicates")
)

func init() {
	register.Function1x1(parse)
	register.Function1x1(format)
}

// parse turns a line into a document.
func parse(line string) transforms.Document {
	id, text, _ := strings.Cut(line, "\t")
	return transforms.Document{ID: id, Text: text}
}

// format turns a member of a cluster into a line.
func format(m transforms.Member) string {
	fate := "removed"
	if m.Kept {
		fate = "kept"
	}
	return fmt.Sprintf("%s\t%s\t%s", m.Cluster, m.ID, fate)
}

func main() {
	flag.Parse()
	beam.Init()
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	p, s := beam.NewPipelineWithRoot()
	documents := beam.ParDo(s, parse, textio.Read(s, *input))

	config := job.Default()
	config.Threshold, config.Temp = *threshold, *temp
	found, err := transforms.NearDuplicates(s, documents, transforms.Options{Config: config})
	if err != nil {
		return err
	}
	textio.Write(s, *output, beam.ParDo(s, format, found.Members))

	defer func() {
		if err := found.Remove(); err != nil {
			log.Print(err)
		}
	}()
	_, err = beam.Run(ctx, *runner, p)
	return err
}
