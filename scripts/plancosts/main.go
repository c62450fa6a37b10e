// Command plancosts holds plans against the jobs that they are for: it runs both over
// each corpus, prints CPU time, memory and temporary files of the two, and fits the costs
// of internal/look/plan/costs.go to what the jobs took.
//
//	go build ./cmd/runjob && go run ./scripts/plancosts -runs 3 corpora/*.jsonl
//
// With -drawn it draws corpora from these and jobs over them, by a seed. It counts the plans whose interval holds the candidates of the
// job, and the plans that are near its memory:
//
//	go run ./scripts/plancosts -drawn 50 -seed 1 corpora/*.jsonl.zst
package main

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"mirrorbeam/internal/look/plan"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("plancosts: ")
	runjob := flag.String("runjob", "./runjob", "the program")
	runs := flag.Int("runs", 3, "how often each job is run; the median counts")
	plans := flag.Int("drawn", 0, "number of corpora and jobs to draw from the corpora, in place of jobs over these")
	seed := flag.Uint64("seed", 1, "seed of what is drawn")
	folder := flag.String("output", "drawn", "folder for what is drawn and for the results of its jobs")
	flag.Parse()
	if *plans > 0 {
		if err := holdDrawn(*runjob, *folder, *seed, *plans, flag.Args()); err != nil {
			log.Fatal(err)
		}
		return
	}
	var all []measured
	fmt.Println("| corpus | threshold | keys | CPU-s | memory, MB | disk, MB | the plan, CPU-s |")
	fmt.Println("|---|---|---|---|---|---|---|")
	for _, corpus := range flag.Args() {
		for _, threshold := range []string{"0.8", "0.5"} {
			for _, recall := range []string{"1", "0.99"} {
				m, err := measure(*runjob, *runs, corpus, threshold, recall)
				if err != nil {
					log.Fatalf("%s at %s, recall %s: %v", corpus, threshold, recall, err)
				}
				all = append(all, m)
				fmt.Println(m.row(corpus, threshold))
			}
		}
	}
	fit(all)
}

// measured is a plan and its job.
type measured struct {
	planned   plan.Choice
	planCPU   float64
	cpu, size float64
	disk      float64
}

// row is a line of the table: planned and real, each.
func (m *measured) row(corpus, threshold string) string {
	p := &m.planned
	return fmt.Sprintf("| %s | %s | %s | %.2f; %.2f | %.0f; %.0f | %.1f; %.1f | %.2f |",
		strings.TrimSuffix(filepath.Base(corpus), ".jsonl"), threshold, p.Keys, p.CPUSeconds, m.cpu,
		p.MemoryBytes/1e6, m.size/1e6, p.TempBytes/1e6, m.disk/1e6, m.planCPU)
}

// measure plans a job and runs it.
func measure(runjob string, runs int, corpus, threshold, recall string) (m measured, err error) {
	flags := []string{"--input", corpus, "--threshold", threshold, "--recall", recall}
	out, usage, err := run(runjob, append([]string{"plan", "--json"}, flags...))
	if err != nil {
		return m, err
	}
	var advice plan.Advice
	if err := json.Unmarshal(out, &advice); err != nil {
		return m, fmt.Errorf("read the plan: %w", err)
	}
	m.planned, m.planCPU = advice.Choices[advice.Chosen], usage.cpu
	folder, err := os.MkdirTemp("", "plancosts-")
	if err != nil {
		return m, err
	}
	defer os.RemoveAll(folder)
	var cpus, sizes []float64
	for range runs {
		_, usage, err := run(runjob, append([]string{"run", "--emit", "clusters", "--output", filepath.Join(folder, "out"), "--overwrite"}, flags...))
		if err != nil {
			return m, err
		}
		cpus, sizes = append(cpus, usage.cpu), append(sizes, usage.size)
	}
	m.cpu, m.size = median(cpus), median(sizes)
	b, err := os.ReadFile(filepath.Join(folder, "out", "summary.json"))
	if err != nil {
		return m, err
	}
	var summary struct {
		TempBytes float64 `json:"temp_bytes"`
	}
	err = json.Unmarshal(b, &summary)
	m.disk = summary.TempBytes
	return m, err
}

// used is what a process took: CPU seconds, and bytes at most.
type used struct{ cpu, size float64 }

func run(program string, args []string) ([]byte, used, error) {
	command := exec.Command(program, args...)
	out, err := command.Output()
	if err != nil {
		return nil, used{}, fmt.Errorf("%s: %w", strings.Join(args, " "), err)
	}
	state := command.ProcessState
	size := 0.
	if usage, ok := state.SysUsage().(*syscall.Rusage); ok {
		size = float64(usage.Maxrss) * 1024
	}
	return out, used{(state.UserTime() + state.SystemTime()).Seconds(), size}, nil
}

func median(values []float64) float64 {
	slices.SortFunc(values, cmp.Compare[float64])
	return values[len(values)/2]
}

// costs are the names of what is fitted.
var costs = []string{
	"startSeconds", "byteSeconds", "documentSeconds", "orderSeconds", "recordSeconds", "gatherSeconds",
	"listSeconds", "candidateSeconds", "scanSeconds", "edgeSeconds", "auditSeconds", "probeSeconds",
}

// signatureSeconds is not fitted: signatures go with bands.
const signatureSeconds = 15e-12

func amounts(w *plan.Work) []float64 {
	audited := 0.
	if w.Probed > 0 {
		audited = 1
	}
	return []float64{
		1, w.Bytes, w.Documents, w.Ordered, w.Records, w.GatheredShingles,
		w.Listed, w.Candidates, w.Scanned, w.Edges, audited, w.Probed,
	}
}

// fit finds the costs, none below 0, with the least squares of the relative errors, by
// one cost after the other.
func fit(all []measured) {
	x := make([]float64, len(costs))
	for range 20000 {
		for j := range x {
			var product, square float64
			for i := range all {
				m := &all[i]
				a := amounts(m.planned.Work)
				rest := m.cpu - signatureSeconds*m.planned.Work.Signature
				for k := range x {
					rest -= a[k] * x[k]
				}
				product += a[j] * rest / (m.cpu * m.cpu)
				square += a[j] * a[j] / (m.cpu * m.cpu)
			}
			if square > 0 {
				x[j] = max(x[j]+product/square, 0)
			}
		}
	}
	fmt.Println()
	for j, name := range costs {
		fmt.Printf("%-16s = %.3g\n", name, x[j])
	}
}
