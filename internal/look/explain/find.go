package explain

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"mirrorbeam/internal/carry/output"
	"mirrorbeam/internal/ground/quoting"
	"mirrorbeam/internal/ground/setting"
	"mirrorbeam/internal/look/finished"
)

// rowName returns a name as rows have it: they are valid UTF-8.
func rowName(name string) string {
	if utf8.ValidString(name) {
		return name
	}
	return quoting.Text(name)
}

func (x *explainer) findRows(ctx context.Context) error {
	if !x.folder.Has(output.Clusters) {
		return nil
	}
	refs := map[*Document][]string{}
	for m, err := range x.folder.MembersNaming(ctx, x.A.Given, x.B.Given) {
		if err != nil {
			return err
		}
		for _, d := range []*Document{&x.A, &x.B} {
			if m.ID != d.Given && m.Ref != d.Given {
				continue
			}
			refs[d] = append(refs[d], m.Ref)
			d.ID, d.Ref, d.Cluster, d.Size, d.Removed, d.Reference = m.ID, m.Ref, m.Cluster, int(m.Size), !m.Kept, m.Reference
			if d.Similarity = 0; d.Removed {
				d.Similarity = m.Similarity
			}
		}
	}
	for d, all := range refs {
		if len(all) > 1 {
			return d.ambiguous(all)
		}
	}
	if x.A.Ref != "" && x.A.Ref == x.B.Ref {
		return fmt.Errorf("both are %s: name two documents", x.A.Ref)
	}
	return nil
}

// flagName writes a setting as its flag.
func flagName(name string) string { return "--" + strings.ReplaceAll(name, "_", "-") }

// mostNamed is how many documents of one id a message names.
const mostNamed = 5

func (x *explainer) findTexts(ctx context.Context) error {
	if x.options.NoInput {
		x.note("The input was not read.")
		return nil
	}
	reader, err := newReader(x.folder)
	if err != nil {
		x.note("The texts cannot be measured: %s", setting.Text(err, flagName))
		return nil
	}
	found := map[string][]string{} // refs by name
	names, find := []string{x.A.Given, x.B.Given}, x.folder.Find
	if x.A.Ref != "" && x.B.Ref != "" {
		names, find = []string{x.A.Ref, x.B.Ref}, x.folder.FindRefs
	}
	err = find(ctx, names, func(d *finished.Found) error {
		found[d.Name] = append(found[d.Name], d.Ref)
		for i, to := range []**text{&x.a, &x.b} {
			if d.Name != names[i] {
				continue
			}
			t, err := reader.read(d)
			if err != nil {
				return fmt.Errorf("%s: %w", d.Ref, err)
			}
			*to = t
		}
		return nil
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		x.a, x.b = nil, nil
		x.note("The input cannot be read from here: %s", setting.Text(err, flagName))
		return nil
	}
	for i, d := range []*Document{&x.A, &x.B} {
		refs := found[names[i]]
		switch {
		case len(refs) > 1:
			return d.ambiguous(refs)
		case len(refs) == 0 && d.Cluster == "":
			return x.missing(ctx, d)
		case len(refs) == 0:
			x.note("%s is not in the input any more.", d.Name())
		}
	}
	if x.a == nil || x.b == nil {
		x.a, x.b = nil, nil
		return nil
	}
	x.A.take(x.a)
	x.B.take(x.b)
	if x.A.Ref == x.B.Ref {
		return fmt.Errorf("both are %s: name two documents", x.A.Ref)
	}
	return nil
}

// ambiguous is the error of an id that several documents have.
func (d *Document) ambiguous(refs []string) error {
	named := strings.Join(refs[:min(len(refs), mostNamed)], ", ")
	if len(refs) > mostNamed {
		named += " and others"
	}
	return fmt.Errorf("%s is the id of %d documents, which are told apart by their refs: %s", d.Given, len(refs), named)
}

// missing is the error of a document that is nowhere. A reject is named.
func (x *explainer) missing(ctx context.Context, d *Document) error {
	for reject, err := range x.folder.Rejects(ctx) {
		if err != nil {
			return err
		}
		if fmt.Sprintf("%s:%d", reject.File, reject.Position) == d.Given {
			return fmt.Errorf("%s is no document but a reject: %s", d.Given, reject.Error)
		}
	}
	return fmt.Errorf("no document of the input of the run is called %s: give its id, or its ref, path:position", d.Given)
}

// take takes over what the input says of the document.
func (d *Document) take(t *text) {
	d.Ref, d.Bytes, d.Words, d.Shingles, d.LeftOut, d.Reference = t.ref, t.bytes, t.words, len(t.whole), len(t.whole)-len(t.set), t.reference
	if d.ID == "" {
		d.ID = t.id
	}
}

// findKept finds the documents that the removed ones of the two are removed for.
func (x *explainer) findKept(ctx context.Context) error {
	for _, d := range []*Document{&x.A, &x.B} {
		if !d.Removed {
			continue
		}
		for row, err := range x.folder.RemovalsNaming(ctx, d.Ref) {
			if err != nil {
				return err
			}
			d.KeptID = row.KeptID
			break
		}
		if d.KeptID == "" {
			d.KeptID = x.members.onlyKept(d.Cluster)
		}
		if d.KeptID == "" {
			x.note("Which document is kept for %s is in the output removed: run the job with --emit clusters,pairs,removed.", d.Name())
		}
	}
	return nil
}
