package finished

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"mirrorbeam.dev/internal/schema/output"
)

// TestReadsBackSites: rows about sites and changes are read back alike from both formats.
func TestReadsBackSites(t *testing.T) {
	mirror := output.Mirror{
		A:          "a.org",
		B:          `b"é.org`,
		Kind:       "exact",
		Score:      0.75,
		Group:      "a.org",
		PagesA:     7,
		PagesB:     6,
		CommonA:    5,
		CommonB:    4,
		SamePath:   0.5,
		Similarity: 0.25,
	}
	site := output.Site{
		Site:       `"group":`,
		Pages:      3,
		Rank:       9,
		Protected:  true,
		Group:      "a.org",
		Primary:    true,
		GroupSites: 2,
		Cohesion:   1,
	}
	suspect := output.Suspect{
		Severity:        output.HighSeverity,
		Reasons:         []string{"mirror", "login_form"},
		Site:            "examp1e.net",
		Protected:       "example.org",
		Score:           1,
		Pages:           3,
		Common:          2,
		LoginPages:      1,
		Lookalike:       0.95,
		LookalikeReason: "homoglyph",
		FirstSeen:       "2024-05-01T00:00:00Z",
		Examples: []output.CopiedPage{{
			Page:       "http://examp1e.net/",
			Original:   "http://example.org/",
			Similarity: 0.5,
		}, {Page: "x", Original: "y", Similarity: 1}},
		Campaign: "0123456789abcdef",
		Sites:    12,
	}
	change := output.Change{
		Of:         "suspects",
		Change:     output.Grown,
		Name:       "examp1e.net",
		Size:       3,
		Before:     2,
		Added:      2,
		Removed:    1,
		Generation: 9,
		Since:      7,
	}
	partial := output.NewPair("a", "b", output.Overlap{Shared: 1, Union: 2, SizeA: 1, SizeB: 2})
	partial.JaccardWhole, partial.Kind = 0.875, output.PartialPair
	for _, format := range output.Formats {
		path := writeFolder(t, format, "")
		files := []output.File{
			writeShard(t, path, output.ShardName(output.Mirrors, 0, 1, format), format, mirror),
			writeShard(t, path, output.ShardName(output.Sites, 0, 2, format), format, site),
			writeShard(t, path, output.ShardName(output.Sites, 1, 2, format), format,
				output.Site{Site: `alone"group":`}),
			writeShard(t, path, output.ShardName(output.Suspects, 0, 1, format), format, suspect),
			writeShard(t, path, output.ShardName(output.Changes, 0, 1, format), format, change),
			writeShard(t, path, output.ShardName(output.Pairs, 0, 1, format), format, partial),
		}
		manifest, err := json.Marshal(map[string]any{"files": files})
		if err == nil {
			err = os.WriteFile(filepath.Join(path, "manifest.json"), manifest, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		f.Summary.Config.Common = "auto"
		var got []any
		note := func(row any, err error) bool {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, row)
			return true
		}
		Rows[output.Mirror](t.Context(), f, output.Mirrors)(func(m output.Mirror, err error) bool {
			return note(output.AppendRow(nil, m), err)
		})
		f.GroupedSites(t.Context())(func(s output.Site, err error) bool { return note(s, err) })
		Rows[output.Suspect](t.Context(), f, output.Suspects)(func(s output.Suspect, err error) bool {
			s.ID = ""
			return note(s, err)
		})
		Rows[output.Change](t.Context(), f, output.Changes)(func(c output.Change, err error) bool {
			c.Lineage = ""
			return note(c, err)
		})
		Rows[output.Pair](t.Context(), f, output.Pairs)(func(p output.Pair, err error) bool {
			return note(p.JaccardWhole, err)
		})
		if want := []any{output.AppendRow(nil, mirror), site, suspect, change, 0.875}; !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n%v, want\n%v", format, got, want)
		}
	}
}
