package job

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/pairs/methods"
	"mirrorbeam.dev/internal/schema/output"
)

// TestMirroringIsChecked: each fault in what is asked of sites is reported under the name of its setting.
func TestMirroringIsChecked(t *testing.T) {
	for _, c := range []struct {
		change func(*Config)
		fault  string // its beginning, empty for none
	}{
		{func(*Config) {}, ""},
		{func(c *Config) { c.Site = "prefix:3" }, ""},
		{func(c *Config) { c.Site = "country" }, "site country: must be"},
		{func(c *Config) { c.URLField = "" }, "url_field: must not be empty"},
		{func(c *Config) { c.DateField = "" }, "date_field: must not be empty"},
		{func(c *Config) { c.MirrorThreshold = 1.5 }, "mirror_threshold 1.5: must be"},
		{func(c *Config) { c.MirrorPages = 0 }, "mirror_pages 0: must be"},
		{func(c *Config) { c.MirrorSites = 2 }, "mirror_sites 2: must be"},
		{func(c *Config) { c.Reference = []string{"r"} }, "reference: its documents"},
		{func(c *Config) { c.Across = "lang" }, "across lang: pages"},
		{func(c *Config) { c.Similarity = methods.Containment }, "emit mirrors: with similarity containment"},
		{func(c *Config) { c.Give("emit"); c.Emit = []string{output.Suspects} }, "emit suspects: are copies"},
		{func(c *Config) { c.Give("emit"); c.Emit, c.Protected = []string{output.Suspects}, "list" }, ""},
		{func(c *Config) { c.Emit, c.Rank = []string{output.Clusters}, "list" }, "rank: is for emit mirrors"},
		{func(c *Config) { c.Emit = []string{output.Clusters}; c.Give("site") }, "site: is for emit mirrors"},
	} {
		config := validConfig()
		config.Emit = []string{output.Mirrors, output.Sites}
		c.change(&config)
		switch err := config.Validate(); {
		case c.fault == "" && err != nil:
			t.Errorf("%v", err)
		case c.fault != "" && (err == nil || !strings.HasPrefix(err.Error(), c.fault)):
			t.Errorf("%v, want %s", err, c.fault)
		}
	}
}

// TestSiteLists: lists are read if an output is about sites. A fault names the setting and the file.
func TestSiteLists(t *testing.T) {
	folder := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	config := validConfig()
	config.Rank = write("rank", "1,a.org\n")
	config.Protected = write("protected", "a.org\n")
	config.Allow = write("allow", "a.org b.org\n")
	if lists, err := config.ReadSiteLists(); err != nil || lists != (documents.SiteLists{}) {
		t.Errorf("lists %+v (%v), though nobody asks for sites", lists, err)
	}
	config.Emit = []string{output.Sites}
	if lists, err := config.ReadSiteLists(); err != nil || lists != (documents.SiteLists{
		Rank:      "1,a.org\n",
		Protected: "a.org\n",
		Allowed:   "a.org b.org\n",
	}) {
		t.Errorf("lists %+v (%v)", lists, err)
	}
	config.Allow = write("allow", "a b c\n")
	if _, err := config.ReadSiteLists(); err == nil ||
		!strings.HasPrefix(err.Error(), "allow "+config.Allow+": line 1: ") {
		t.Errorf("a wrong list: %v", err)
	}
	config.Protected = filepath.Join(folder, "missing")
	if _, err := config.ReadSiteLists(); err == nil ||
		!strings.HasPrefix(err.Error(), "protected "+config.Protected+": ") {
		t.Errorf("a missing list: %v", err)
	}
}

// TestPaging: documents are pages only if an output is about sites, and there are fewer ranges than shards.
func TestPaging(t *testing.T) {
	config := validConfig()
	if got := config.Paging(512); got != (documents.Paging{}) {
		t.Errorf("paging %+v, though nobody asks for sites", got)
	}
	config.Emit = []string{output.Mirrors}
	for shards, want := range map[int]int{1: 1, 512: 64, 4096: 512} {
		if got := config.Paging(
			shards,
		); got != (documents.Paging{Rule: "host", URL: "url", Date: "date", Ranges: want}) {
			t.Errorf("paging of %d shards: %+v", shards, got)
		}
	}
}
