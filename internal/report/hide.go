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
	documents := aliases{"document", map[string]string{}}
	origins := aliases{"source", map[string]string{}}
	files := aliases{"file", map[string]string{}}
	f.Run.Folder = ""
	for i := range f.Clusters {
		c := &f.Clusters[i]
		c.Name = documents.of(c.Name)
		for j := range c.Documents {
			c.Documents[j].ID = documents.of(c.Documents[j].ID)
		}
	}
	pairs := [][]Pair{f.Pairs}
	if f.Crossing != nil {
		pairs = append(pairs, f.Crossing.Examples)
	}
	for _, list := range pairs {
		for i := range list {
			list[i].A, list[i].B = documents.of(list[i].A), documents.of(list[i].B)
		}
	}
	for i := range f.Sources {
		s := &f.Sources[i]
		s.Source = origins.of(s.Source)
		for j := range s.In {
			s.In[j].Source = origins.of(s.In[j].Source)
		}
	}
	for i := range f.Rejects {
		r := &f.Rejects[i]
		if r.Error = withoutContent(r.Error); r.File != "" {
			r.File = files.of(r.File)
		}
	}
}
