package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"mirrorbeam.dev/internal/schema/output"
	"mirrorbeam.dev/internal/util/setting"
	"mirrorbeam.dev/job"
)

// placeholders stand for settings that hold paths, where these are hidden.
var placeholders = map[string]string{
	"input": "INPUT", "reference": "REFERENCE", "output": "OUTPUT", "stopwords": "FILE", "temp": "DIR",
	"ignore": "PATH", "state": "DIR", "rank": "FILE", "protected": "FILE", "allow": "FILE",
}

// command returns the command line that repeats a run: all settings that differ from the defaults, one on a line.
func command(c *job.Config, hide bool) string {
	usual := job.Default()
	given, usually := c.Settings(), usual.Settings()
	flags, first := []string{"runjob run"}, []string{"input", "output"}
	others := slices.DeleteFunc(slices.Sorted(maps.Keys(given)), func(name string) bool {
		return slices.Contains(first, name)
	})
	for _, name := range append(first, others...) {
		if bytes.Equal(given[name], usually[name]) {
			continue
		}
		for _, value := range values(given[name], name == "input" || name == "reference" || name == "ignore") {
			if hide {
				value = hidden(name, value)
			}
			flags = append(flags, flagOf(name, value))
		}
	}
	return strings.Join(slices.Compact(flags), " \\\n  ")
}

func hidden(setting, value string) string {
	if placeholder, is := placeholders[setting]; is {
		return placeholder
	}
	if setting == "keep" && strings.HasPrefix(value, "rank:") {
		return "rank:FILE"
	}
	return value
}

// values returns the values that a flag is given: one, or each item of a list that is given item by item.
func values(encoded json.RawMessage, each bool) []string {
	var value any
	decoder := json.NewDecoder(bytes.NewReader(encoded))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return nil
	}
	switch value := value.(type) {
	case []any:
		var items []string
		for _, item := range value {
			items = append(items, fmt.Sprint(item))
		}
		if each {
			return items
		}
		return []string{strings.Join(items, ",")}
	case map[string]any:
		var items []string
		for _, key := range slices.Sorted(maps.Keys(value)) {
			items = append(items, fmt.Sprintf("%s=%v", key, value[key]))
		}
		return []string{strings.Join(items, ",")}
	}
	return []string{fmt.Sprint(value)}
}

// plainWord matches what a shell takes as it is.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:=,@%+][A-Za-z0-9_./:=,@%+-]*$`)

func flagOf(name, value string) string {
	switch value {
	case "true":
		return setting.Flag(name)
	case "false":
		return "--no-" + strings.TrimPrefix(setting.Flag(name), "--")
	}
	if !plainWord.MatchString(value) {
		value = "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
	}
	return setting.Flag(name) + "=" + value
}

// aliases replaces names by numbers, in the order in which they are met.
type aliases struct {
	kind  string
	known map[string]string
}

func (a *aliases) of(name string) string {
	alias, known := a.known[name]
	if !known {
		alias = fmt.Sprintf("%s %d", a.kind, len(a.known)+1)
		a.known[name] = alias
	}
	return alias
}

// content matches what may be content of a file in an error, up to its end.
var content = regexp.MustCompile(`(?s)(["':/]| is ).*`)

// hide replaces the names of documents, sources and files. Texts are not there in the first place, and alerts are
// written without names.
func (f *Figures) hide() {
	alias := func(kind string) func(string) string { return (&aliases{kind, map[string]string{}}).of }
	f.Run.Folder, f.Run.Keep, f.Run.Hidden = "", hidden("keep", f.Run.Keep), true
	f.rename(renaming{alias("document"), alias("source"), alias("file"), alias("site"), func(string) string {
		return ""
	}})
	for i := range f.Rejects {
		f.Rejects[i].Error = content.ReplaceAllLiteralString(f.Rejects[i].Error, "…")
	}
}

const longestHeld = 1 << 10

// cut cuts very long names, and texts with names in them.
func (f *Figures) cut() {
	cut := func(name string) string { return cutMiddle(name, longestHeld) }
	f.rename(renaming{cut, cut, cut, cut, cut})
	for i := range f.Rejects {
		f.Rejects[i].Error = cut(f.Rejects[i].Error)
	}
	for i := range f.Alerts {
		f.Alerts[i].Text = cut(f.Alerts[i].Text)
	}
}

// renaming replaces the names of documents, sources, files and sites, and the addresses and dates of pages.
type renaming struct{ document, source, file, site, page func(string) string }

func (f *Figures) rename(r renaming) {
	f.Sites.rename(r)
	f.Changes.rename(r)
	if l := f.Lost; l != nil {
		l.Worst.Removed, l.Worst.Kept = r.document(l.Worst.Removed), r.document(l.Worst.Kept)
	}
	for i := range f.Clusters {
		c := &f.Clusters[i]
		c.Name, c.URL, c.Date = r.document(c.Name), r.page(c.URL), r.page(c.Date)
		for j := range c.Documents {
			d := &c.Documents[j]
			d.ID, d.URL, d.Date = r.document(d.ID), r.page(d.URL), r.page(d.Date)
		}
	}
	for i := range f.Pairs {
		p := &f.Pairs[i]
		p.A, p.URLA, p.DateA = r.document(p.A), r.page(p.URLA), r.page(p.DateA)
		p.B, p.URLB, p.DateB = r.document(p.B), r.page(p.URLB), r.page(p.DateB)
	}
	for i := range f.Sources {
		s := &f.Sources[i]
		s.Source = r.source(s.Source)
		for j := range s.In {
			s.In[j].Source = r.source(s.In[j].Source)
		}
	}
	for i := range f.Rejects {
		if reject := &f.Rejects[i]; reject.File != "" {
			reject.File = r.file(reject.File)
		}
	}
}

func (f *SiteFindings) rename(r renaming) {
	if f == nil {
		return
	}
	for i := range f.Suspects {
		s := &f.Suspects[i]
		s.Protected = r.site(s.Protected)
		s.Site = r.site(s.Site)
		s.Page = r.page(s.Page)
		s.Original = r.page(s.Original)
	}
	for i := range f.Mirrors {
		m := &f.Mirrors[i]
		m.A, m.B = r.site(m.A), r.site(m.B)
	}
	for i := range f.Largest {
		g := &f.Largest[i]
		g.Primary = r.site(g.Primary)
		for j := range g.Others {
			g.Others[j] = r.site(g.Others[j])
		}
	}
}

func (c *Changes) rename(r renaming) {
	if c == nil {
		return
	}
	for i := range c.Rows {
		row := &c.Rows[i]
		if row.Of == output.Clusters {
			row.Name = r.document(row.Name)
		} else {
			row.Name = r.site(row.Name)
		}
	}
}
