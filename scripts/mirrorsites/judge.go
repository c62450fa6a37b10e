package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
)

// agreement says how what a job has found compares with the truth.
type agreement struct {
	planted, found map[string]int // mirrors by kind
	rows, right    int            // rows of mirrors, and those that were planted
	wrong          []string       // pairs that were not
	missed         []string       // mirrors that were not found
	// protected counts the mirrors of protected sites, and suspects counts the suspects among them. honest lists
	// suspects that are no mirrors.
	protected, suspects int
	honest              []string
}

// precision and recall count pairs of sites.
func (v *agreement) precision() float64 { return float64(v.right) / float64(max(v.rows, 1)) }

func (v *agreement) recall() float64 {
	planted := 0
	for _, n := range v.planted {
		planted += n
	}
	return float64(v.right) / float64(max(planted, 1))
}

// judge compares results with the truth. The list of protected sites is next to the truth.
func judge(results, truth string) (*agreement, error) {
	protected := map[string]bool{}
	if err := eachLine(filepath.Join(filepath.Dir(truth), protectedFile), func(line string) error {
		protected[line] = true
		return nil
	}); err != nil {
		return nil, err
	}
	v := &agreement{planted: map[string]int{}, found: map[string]int{}}
	kinds := map[[2]string]string{} // by the names of both sites, in their order
	copies := map[string]string{}   // the original by mirror, if it is protected
	if err := eachLine(truth, func(line string) error {
		fields := strings.Split(line, "\t")
		if len(fields) != 3 {
			return fmt.Errorf("row %q has not three fields", line)
		}
		if !slices.Contains(mirrorKinds, fields[2]) {
			return nil
		}
		kinds[[2]string{min(fields[0], fields[1]), max(fields[0], fields[1])}] = fields[2]
		v.planted[fields[2]]++
		if protected[fields[1]] {
			copies[fields[0]] = fields[1]
			v.protected++
		}
		return nil
	}); err != nil {
		return nil, err
	}
	if err := v.readMirrors(results, kinds); err != nil {
		return nil, err
	}
	return v, v.readSuspects(results, copies)
}

// readMirrors compares the rows of mirrors with the kinds of planted ones.
func (v *agreement) readMirrors(results string, kinds map[[2]string]string) error {
	err := eachRow(results, "mirrors", func(line string) error {
		var row struct{ A, B string }
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			return err
		}
		v.rows++
		kind, is := kinds[[2]string{row.A, row.B}]
		if !is {
			v.wrong = append(v.wrong, row.A+" "+row.B)
			return nil
		}
		delete(kinds, [2]string{row.A, row.B})
		v.right++
		v.found[kind]++
		return nil
	})
	for pair, kind := range kinds {
		v.missed = append(v.missed, strings.Join(pair[:], " ")+" "+kind)
	}
	slices.Sort(v.missed)
	return err
}

// readSuspects compares the rows of suspects with the mirrors of protected sites.
func (v *agreement) readSuspects(results string, copies map[string]string) error {
	return eachRow(results, "suspects", func(line string) error {
		var row struct{ Site, Protected, Severity string }
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			return err
		}
		if row.Severity == "low" {
			return nil // it is listed, and no suspect
		}
		if copies[row.Site] == row.Protected && row.Protected != "" {
			v.suspects++
		} else {
			v.honest = append(v.honest, row.Site+" "+row.Protected)
		}
		return nil
	})
}

// print prints the verdict.
func (v *agreement) print(w io.Writer) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "mirrors\tplanted\tfound")
	for _, kind := range mirrorKinds {
		fmt.Fprintf(table, "%s\t%d\t%d\n", kind, v.planted[kind], v.found[kind])
	}
	table.Flush()
	fmt.Fprintf(w, "precision %.3f, recall %.3f\n", v.precision(), v.recall())
	fmt.Fprintf(w, "suspects: %d of %d copies of protected sites, %d other sites\n", v.suspects, v.protected,
		len(v.honest))
	for _, list := range []struct {
		name  string
		pairs []string
	}{{"no mirrors", v.wrong}, {"missed", v.missed}, {"no suspects", v.honest}} {
		for _, pair := range list.pairs {
			fmt.Fprintf(w, "%s: %s\n", list.name, pair)
		}
	}
}

// eachRow visits the rows of an output.
func eachRow(results, output string, visit func(line string) error) error {
	files, err := filepath.Glob(filepath.Join(results, output+"-*.jsonl"))
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("no %s in %s", output, results)
	}
	for _, file := range files {
		if err == nil {
			err = eachLine(file, visit)
		}
	}
	return err
}

// eachLine visits the lines of a file.
func eachLine(path string, visit func(line string) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		if err := visit(lines.Text()); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return lines.Err()
}
