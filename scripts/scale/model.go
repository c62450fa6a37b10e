package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"mirrorbeam/internal/look/plan"
)

// prices are what a job pays for, in dollars. The defaults are list prices of Google in us-central1.
type prices struct {
	machine  string
	vcpuHour float64
	gbHour   float64 // of memory
}

var machines = []prices{
	{"Dataflow", 0.056, 0.003557},
	{"Dataflow, FlexRS", 0.0336, 0.0021342},
	{"Spot VMs (C3D)", 0.01182, 0.001584},
}

// cluster is what a job runs on.
type cluster struct {
	vcpus  float64
	memory float64 // of a vCPU, in GB
	tasks  int     // of a worker at a time
	rate   float64 // bytes of text that the job does in a second of CPU time
	busy   float64 // share of the time in which a vCPU computes
	answer float64 // time that a bucket takes to answer, in seconds
	idle   float64 // time that machines are paid for at the start and at the end, in seconds
}

// defaultCluster has vCPUs that do half of what the cores do on which jobs were measured, and wait half of the time.
var defaultCluster = cluster{vcpus: 256, memory: 4, tasks: 8, rate: 30e6, busy: 0.5, answer: 0.03, idle: 240}

const (
	gb           = 1e9
	storedMonth  = 0.020 // dollars for a GB that is stored for a month
	bootMonth    = 0.040 // dollars for a GB of a boot disk for a month
	bootDisk     = 100   // GB, of a worker: its tasks hold their run files there
	hoursAMonth  = 730
	secondsAHour = 3600
)

// measuredRate is the rate of the cores on which seconds were measured.
const measuredRate = 60e6

// joining returns the seconds that the steps take which join the parts of a graph. Each of them is one task, on a vCPU that is as fast as
// the ones of all others. It has half of the memory of a worker. A document takes graphBytes of it; if the documents of one step take more,
// the work takes beyondMemory times as long.
func joining(w *plan.Work, on cluster) float64 {
	const graphBytes, beyondMemory = 48, 2
	seconds := w.JoiningSeconds() * measuredRate / on.rate
	if w.Joined()/2*graphBytes > on.memory*float64(on.tasks)*gb/2 {
		seconds *= beyondMemory
	}
	return seconds
}

// extrapolate prints what a job takes on a corpus like the one of a plan, but with another number of documents.
func extrapolate(w io.Writer, path string, documents float64, on cluster) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read plan: %w", err)
	}
	var advice plan.Advice
	if err := json.Unmarshal(content, &advice); err != nil {
		return fmt.Errorf("read plan %s: %w", path, err)
	}
	if advice.Chosen < 0 || advice.Choices[advice.Chosen].Work == nil {
		return fmt.Errorf("plan %s is not of a corpus", path)
	}
	chosen := advice.Choices[advice.Chosen]
	scaled := chosen.Work.Scaled(documents/chosen.Work.Documents, int64(on.memory*float64(on.tasks)*gb*3/4), on.tasks)
	fmt.Fprintf(w, "%.3g documents, %.3g TB, %s keys: %.0f parts of %.3g GB, %.0f shards of %.3g GB of keys\n\n", documents, scaled.Bytes/1e12, chosen.Keys,
		scaled.Splits, scaled.Bytes/scaled.Splits/gb, scaled.Shards, scaled.RecordBytes/scaled.Shards/gb)
	needs := scaled.Needs(chosen.Keys)
	fmt.Fprintf(w, "| stage | tasks | pieces | read, GB | written, GB |\n|---|---|---|---|---|\n")
	for _, s := range needs.Stages {
		fmt.Fprintf(w, "| `%s` | %.0f | %.3g | %.3g | %.3g |\n", s.Name, s.Tasks, s.Pieces, s.ReadBytes/gb, s.WrittenBytes/gb)
	}
	cpuHours := (scaled.Bytes + scaled.RangeSeconds()*measuredRate) / on.rate / secondsAHour // the rate is of jobs without ranges
	inTurn := needs.Requests.InTurn * on.answer / secondsAHour
	alone := joining(&scaled, on) / secondsAHour
	working := cpuHours / on.busy / min(on.vcpus, scaled.Splits) // a part of the input is one task
	fmt.Fprintf(w, "\ntemporary files %.3g TB; %.3g requests to read, %.3g to write: $%.2f; %.3g vCPU-h of CPU time\n", needs.TempBytes/1e12,
		needs.Requests.Reads, needs.Requests.Writes, needs.Requests.Dollars, cpuHours)
	hours := working + alone + inTurn + on.idle/secondsAHour
	fmt.Fprintf(w, "%.0f vCPUs: %.2f h, %.2f h in steps that are one task, %.2f h of their requests one after the other, and %.2f h to start and to end\n\n",
		on.vcpus, working, alone, inTurn, on.idle/secondsAHour)
	fmt.Fprintf(w, "| machines | vCPU and memory | requests | files and boot disks | in all | a TB |\n|---|---|---|---|---|---|\n")
	boots := bootDisk * on.vcpus / float64(on.tasks) * bootMonth
	stored := (needs.TempBytes/gb*storedMonth + boots) * hours / hoursAMonth
	for _, m := range machines {
		machines := hours * on.vcpus * (m.vcpuHour + on.memory*m.gbHour)
		sum := machines + needs.Requests.Dollars + stored
		fmt.Fprintf(w, "| %s | $%.2f | $%.2f | $%.2f | $%.2f | $%.2f |\n", m.machine, machines, needs.Requests.Dollars, stored, sum, sum/(scaled.Bytes/1e12))
	}
	return nil
}
