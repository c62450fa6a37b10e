package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

// slow is how many CPU-seconds a run may take for a program to run more than once.
const slow = 20

// result is what became of a peer over a corpus.
type result struct {
	peer
	score
	runs    []usage
	folder  string // what its first run left
	failure error
}

// comparison runs all peers in turn over the corpora, and writes a table of each between the markers of a page.
func (b *benchmark) comparison(ctx context.Context, folder string) error {
	head, tail, err := around(b.page)
	if err != nil {
		return err
	}
	drivers, err := filepath.Abs("scripts/bench/peers.py")
	if err != nil {
		return err
	}
	if folder, err = filepath.Abs(folder); err != nil {
		return err
	}
	if err = os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	l := laboratory{folder, b.scratch, b.program, drivers, b.limit}
	corpora, err := makeCorpora(folder)
	if err != nil {
		return err
	}
	all := peers()
	failures := make([]error, len(all))
	for i := range all {
		failures[i] = l.install(ctx, &all[i])
		fmt.Fprintf(os.Stderr, "%s: %v\n", all[i].name, cmp.Or(failures[i], errors.New("ready")))
	}
	results := make([][]result, len(corpora))
	for i, c := range corpora {
		if results[i], err = b.compare(ctx, &l, c.path, all, failures); err != nil {
			return err
		}
	}
	// All runs are over before this process takes memory: what it held would count for each program that it starts.
	var text strings.Builder
	for i, c := range corpora {
		if err := tell(&text, c, results[i], i == 0); err != nil {
			return err
		}
	}
	fmt.Fprintf(&text, "\n%s\n", machine(b.runs))
	return os.WriteFile(b.page, []byte(head+text.String()+tail), 0o666)
}

// compare runs the peers in turn over a corpus. What is slow runs once.
func (b *benchmark) compare(ctx context.Context, l *laboratory, corpus string, all []peer,
	failures []error,
) ([]result, error) {
	results := make([]result, len(all))
	for run := range b.runs {
		for i := range results {
			r := &results[i]
			if run == 0 {
				r.peer, r.failure = all[i], failures[i]
			}
			if r.failure != nil || run > 0 && r.runs[0].cpu > slow {
				continue
			}
			folder, err := os.MkdirTemp(l.scratch, "run-")
			if err != nil {
				return nil, err
			}
			var used usage
			used, r.failure = l.run(ctx, &r.peer, corpus, folder)
			fmt.Fprintf(os.Stderr, "%s, run %d of %s: %.1f CPU-s %v\n", r.name, run+1, filepath.Base(corpus), used.cpu,
				r.failure)
			r.runs = append(r.runs, used)
			if run == 0 {
				r.folder = folder
			} else {
				err = os.RemoveAll(folder)
			}
			if err := errors.Join(ctx.Err(), err); err != nil {
				return nil, err
			}
		}
	}
	return results, nil
}

// tell scores what the peers found in a corpus, and writes their table: of the first corpus with all columns.
func tell(text *strings.Builder, c corpus, results []result, isFirst bool) error {
	pairs, err := newTruth(c.path)
	if err != nil {
		return err
	}
	for i := range results {
		if r := &results[i]; r.failure == nil {
			r.score, r.failure = pairs.judge(r.folder, r.joins)
		}
	}
	info, err := os.Stat(c.path)
	if err != nil {
		return err
	}
	fmt.Fprintf(text, "\n%s: %s documents, %.1f MB, %s pairs.\n\n", c.about, thousands(len(pairs.numbers)),
		float64(info.Size())/1e6, thousands(len(pairs.pairs)))
	all := columns(float64(info.Size()))
	if !isFirst {
		all = all[:3]
	}
	writeTable(text, results, all)
	return nil
}

// column is a column of figures. The best of a column is bold.
type column struct {
	head   string
	value  func(r *result) float64
	format func(r *result) string
	most   bool // whether the largest is the best
}

func columns(size float64) []column {
	middle := func(r *result, of func(u usage) float64) float64 { return median(r.runs, of) }
	cpu := func(u usage) float64 { return u.cpu }
	number := func(format string, value func(r *result) float64) func(*result) string {
		return func(r *result) string { return fmt.Sprintf(format, value(r)) }
	}
	plain := func(head, format string, value func(r *result) float64, most bool) column {
		return column{head, value, number(format, value), most}
	}
	percent := func(head string, value func(r *result) float64) column {
		return plain(head, "%.4g %%", func(r *result) float64 { return 100 * value(r) }, true)
	}
	seconds := func(r *result) float64 { return middle(r, cpu) }
	return []column{
		percent("found", func(r *result) float64 { return r.found }),
		percent("right", func(r *result) float64 { return r.right }),
		{"CPU-s (least to most)", seconds, func(r *result) string {
			if len(r.runs) == 1 {
				return fmt.Sprintf("%.2f (once)", seconds(r))
			}
			all := slices.SortedFunc(slices.Values(r.runs), func(a, b usage) int { return cmp.Compare(a.cpu, b.cpu) })
			return fmt.Sprintf("%.2f (%.2f to %.2f)", seconds(r), all[0].cpu, all[len(all)-1].cpu)
		}, false},
		plain("MB per CPU-second", "%.3g", func(r *result) float64 { return size / 1e6 / seconds(r) }, true),
		plain("wall, s", "%.1f", func(r *result) float64 {
			return middle(r, func(u usage) float64 { return u.wall })
		}, false),
		plain("memory, MB", "%.0f", func(r *result) float64 {
			return middle(r, func(u usage) float64 { return u.peak }) / 1e6
		}, false),
		plain("written, MB", "%.0f", func(r *result) float64 {
			return middle(r, func(u usage) float64 { return u.written }) / 1e6
		}, false),
	}
}

// writeTable writes the programs that ran, the fastest first, and then the others.
func writeTable(text *strings.Builder, results []result, all []column) {
	var ran, others []*result
	for i := range results {
		if r := &results[i]; r.failure == nil {
			ran = append(ran, r)
		} else {
			others = append(others, r)
		}
	}
	slices.SortStableFunc(ran, func(a, b *result) int { return cmp.Compare(all[2].value(a), all[2].value(b)) })
	fmt.Fprint(text, "| | joins |")
	for _, c := range all {
		fmt.Fprintf(text, " %s |", c.head)
	}
	fmt.Fprintf(text, "\n|%s\n", strings.Repeat("---|", len(all)+2))
	for _, r := range ran {
		fmt.Fprintf(text, "| %s | %s |", r.name, r.joins)
		for _, c := range all {
			best := slices.MinFunc(ran, func(a, b *result) int {
				if c.most {
					a, b = b, a
				}
				return cmp.Compare(c.value(a), c.value(b))
			})
			cell := c.format(r)
			if c.value(r) == c.value(best) || cell == c.format(best) {
				cell = "**" + cell + "**"
			}
			fmt.Fprintf(text, " %s |", cell)
		}
		fmt.Fprintln(text)
	}
	for _, r := range others {
		fmt.Fprintf(text, "| %s | %s |%s\n", r.name, lastLine([]byte(r.failure.Error())),
			strings.Repeat(" |", len(all)))
	}
}

// machine says where and when the figures are of.
func machine(runs int) string {
	model := runtime.GOARCH
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if found := regexp.MustCompile(`(?m)^model name\s*: (.*)$`).FindSubmatch(info); found != nil {
			model = string(found[1])
		}
	}
	load := ""
	if average, err := os.ReadFile("/proc/loadavg"); err == nil {
		load = fmt.Sprintf(", with a load average of %s at the end", bytes.Fields(average)[1])
	}
	return fmt.Sprintf("Medians of %d runs in turn, on %s, on %d cores of %s%s.", runs,
		time.Now().UTC().Format(time.DateOnly), runtime.NumCPU(), model, load)
}

func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}

// around returns what comes before the figures of a page, and behind them.
func around(page string) (head, tail string, err error) {
	const begin, end = "<!-- figures of peers -->\n", "<!-- end of figures -->"
	b, err := os.ReadFile(page)
	if err != nil {
		return "", "", err
	}
	head, rest, ok := strings.Cut(string(b), begin)
	_, tail, also := strings.Cut(rest, end)
	if !ok || !also {
		return "",
			"", fmt.Errorf("%s has no lines %s and %s, between which the figures go", page, strings.TrimSpace(begin),
				end)
	}
	return head + begin, end + tail, nil
}
