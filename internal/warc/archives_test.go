package warc

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestDump(t *testing.T) {
	files, _ := filepath.Glob("../../../shared/corpora/warc/*/*")
	for _, f := range files {
		if filepath.Ext(f) == ".json" || filepath.Ext(f) == ".txt" {
			continue
		}
		file, _ := os.ReadFile(f)
		s, m := open(file)
		all, end := readAll(t, s, Options{Member: m, Limit: 64 << 20})
		p := Parser{Limit: 64 << 20}
		types := map[string]int{}
		uses := map[string]int{}
		faults := []string{}
		bytes := 0
		last := int64(-1)
		for _, fr := range all {
			if fr.Position <= last {
				t.Error("position")
			}
			last = fr.Position
			if fr.Fault != "" {
				faults = append(faults, fr.Fault)
				continue
			}
			r, err := p.Parse(fr.Raw)
			if err != nil {
				faults = append(faults, "parse: "+err.Error()+fmt.Sprintf("%q", r.URL))
				continue
			}
			types[r.Type]++
			uses[r.Use.String()]++
			bytes += len(r.Payload)
			if r.Use == OtherType {
				uses[r.MediaType]++
			}
		}
		fmt.Println(filepath.Base(f)[max(0, len(filepath.Base(f))-40):], len(all), types, uses, bytes, faults, end)
	}
}
