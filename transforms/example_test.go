package transforms_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	//lint:ignore SA1019 Its successor, Prism, opens a port.
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/direct"

	"mirrorbeam.dev/job"
	"mirrorbeam.dev/transforms"
)

func init() {
	register.Function1x0(printMember)
	register.Function1x0(printPair)
	register.Function1x0(printReject)
}

func printMember(m transforms.Member) {
	if m.Kept {
		fmt.Printf("%s stays, in a cluster of %d\n", m.ID, m.Size)
		return
	}
	fmt.Printf("%s is removed for %s, with a similarity of %.2f\n", m.ID, m.KeptID, m.Similarity)
}

func printPair(p transforms.Pair) { fmt.Printf("%s and %s are alike\n", p.A, p.B) }

func printReject(r transforms.Reject) { fmt.Printf("%s was not compared: %s\n", r.ID, r.Reason) }

func ExampleNearDuplicates() {
	beam.Init()
	temp, err := os.MkdirTemp("", "example-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(temp)

	p, s := beam.NewPipelineWithRoot()
	documents := beam.CreateList(s, []transforms.Document{
		{ID: "article 26", Text: "Everyone has the right to education. Education shall be free."},
		{ID: "article 3", Text: "Everyone has the right to life, liberty and security of person."},
		{ID: "article 3, copied", Text: "Everyone has the right to life, liberty, and the security of person."},
		{ID: "article 3, quoted", Text: "EVERYONE has the right to life, liberty and security of person!"},
		{ID: "article 3, copied", Text: "Nobody has the same id twice."},
	})

	config := job.Default()
	config.Threshold, config.Temp = 0.5, temp
	found, err := transforms.NearDuplicates(s, documents, transforms.Options{Config: config})
	if err != nil {
		fmt.Println(err)
		return
	}
	beam.ParDo0(s, printMember, found.Members)
	beam.ParDo0(s, printPair, found.Pairs)
	beam.ParDo0(s, printReject, found.Rejects)

	_, err = beam.Run(context.Background(), "direct", p)
	if err = errors.Join(err, found.Remove()); err != nil {
		fmt.Println(err)
	}
	// Unordered output:
	// article 3 stays, in a cluster of 3
	// article 3, copied is removed for article 3, with a similarity of 0.58
	// article 3, quoted is removed for article 3, with a similarity of 1.00
	// article 3 and article 3, copied are alike
	// article 3 and article 3, quoted are alike
	// article 3, copied was not compared: another document has the same id
}
