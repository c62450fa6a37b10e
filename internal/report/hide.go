package report

import (
	"fmt"
	"regexp"
)

// aliases replaces names by numbers, in the order in which they are met.
type aliases struct {
	kind  string
	known map[string]string
}

// of returns what stands for a name.
func (a *aliases) of(name string) string {
	alias, known := a.known[name]
	if !known {
		alias = fmt.Sprintf("%s %d", a.kind, len(a.known)+1)
		a.known[name] = alias
	}
	return alias
}

// content matches where an error may begin to show content of a file.
var content = regexp.MustCompile(`["':/]| is `)

// withoutContent returns an error up to what may be content.
func withoutContent(text string) string {
	if at := content.FindStringIndex(text); at != nil {
		return text[:at[0]] + "…"
	}
	return text
}

// hide replaces the names of documents, sources and files. Texts are not there in the first place, and alerts are written
// without names.
func (f *Figures) hide() {
	documents, origins, files := aliases{"document", map[string]string{}}, aliases{"source", map[string]string{}}, aliases{"file", map[string]string{}}
	f.Run.hide()
	f.rename(documents.of, origins.of, files.of)
	for i := range f.Rejects {
		f.Rejects[i].Error = withoutContent(f.Rejects[i].Error)
	}
}

// hide drops the paths of a run.
func (r *Run) hide() {
	r.Folder, r.Keep, r.Hidden = "", hidden("keep", r.Keep), true
}

// longestHeld is the length, in bytes, of the longest name in the figures.
const longestHeld = 1 << 10

// cut cuts very long names, and texts with names in them.
func (f *Figures) cut() {
	cut := func(name string) string { return cutMiddle(name, longestHeld) }
	f.rename(cut, cut, cut)
	for i := range f.Rejects {
		f.Rejects[i].Error = cut(f.Rejects[i].Error)
	}
	for i := range f.Alerts {
		f.Alerts[i].Text = cut(f.Alerts[i].Text)
	}
}

// rename replaces all names.
func (f *Figures) rename(document, source, file func(string) string) {
	for i := range f.Clusters {
		c := &f.Clusters[i]
		c.Name = document(c.Name)
		for j := range c.Documents {
			c.Documents[j].ID = document(c.Documents[j].ID)
		}
	}
	lists := [][]Pair{f.Pairs}
	if f.Crossing != nil {
		lists = append(lists, f.Crossing.Examples)
	}
	for _, list := range lists {
		for i := range list {
			list[i].A, list[i].B = document(list[i].A), document(list[i].B)
		}
	}
	for i := range f.Sources {
		s := &f.Sources[i]
		s.Source = source(s.Source)
		for j := range s.In {
			s.In[j].Source = source(s.In[j].Source)
		}
	}
	for i := range f.Rejects {
		if r := &f.Rejects[i]; r.File != "" {
			r.File = file(r.File)
		}
	}
}
