package auditing

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"mirrorbeam.dev/internal/audit"
	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/docref"
	"mirrorbeam.dev/internal/storage"
	"mirrorbeam.dev/internal/work"
)

// Judge finds out which of the audited pairs a job has found. A nil Judge judges nothing.
type Judge struct {
	classes *audit.Classes
	scope   audit.Scope
	listing *audit.Listing
	firsts  map[docref.Ref]docref.Ref // of the components of audited documents
}

// NewJudge reads what the tasks of the audit and of earlier stages have written. All documents before firstInput are of
// the reference. If nothing was sampled it returns nil.
func NewJudge(p *work.Planning, firstInput docref.Ref) (*Judge, error) {
	classes, scope, err := readClasses(p.Outcomes, p.Memory)
	if err != nil || classes == nil {
		return nil, err
	}
	j := &Judge{classes, scope, audit.NewListing(classes), map[docref.Ref]docref.Ref{}}
	if err := listStars(j.listing, p.Outcomes, firstInput, p.Memory); err != nil {
		return nil, err
	}
	// The edges of pairs that an earlier run has compared come from Group.
	err = listEdges(j.listing, p.Outcomes, work.Group, p.Memory)
	return j, errors.Join(err, listEdges(j.listing, p.Outcomes, work.Score, p.Memory))
}

// Audited returns the documents whose components a judge asks for: it must see these only.
func Audited(p *work.Planning) ([]uint64, error) {
	classes, _, err := readClasses(p.Outcomes, p.Memory)
	if err != nil || classes == nil {
		return nil, err
	}
	return audit.NewListing(classes).Refs(), nil
}

// See takes in a document of a component, or one that [Audited] names, and the component's first document.
func (j *Judge) See(ref, first docref.Ref) {
	if j == nil {
		return
	}
	if _, isAudited := j.listing.Class(ref); isAudited {
		j.firsts[ref] = first
	}
}

func (j *Judge) joined(a, b docref.Ref) bool {
	x, hasA := j.firsts[a]
	y, hasB := j.firsts[b]
	return hasA && hasB && x == y
}

func (j *Judge) Write(folder string) error {
	if j == nil {
		return nil
	}
	b, err := json.Marshal(j.classes.Estimate(j.listing, j.joined, j.scope))
	if err == nil {
		err = storage.WriteFile(resultPath(folder), b)
	}
	if err != nil {
		return fmt.Errorf("write audit: %w", err)
	}
	return nil
}

// readClasses reads what the tasks of the audit wrote. It returns nil if nothing was sampled.
func readClasses(outcomes []work.Outcome, m *work.Memory) (*audit.Classes, audit.Scope, error) {
	var scope audit.Scope
	var classes *audit.Classes
	for _, o := range outcomes {
		if o.Sampled > 0 {
			classes = &audit.Classes{}
			scope.AllSampled = o.SampledAll
		}
	}
	if classes == nil {
		return nil, scope, nil
	}
	err := work.EachRecordOf(outcomes, work.Audit, records.Sample, m, func(packed []byte) error {
		for s := range records.All[records.Sampled](packed) {
			classes.AddSample(audit.SampledClass(s.Class), s.Hash)
		}
		return nil
	})
	if err == nil {
		err = work.EachRecordOf(outcomes, work.Audit, records.Audit, m, func(packed []byte) error {
			for class := range records.All[audit.Class](packed) {
				classes.Add(class)
			}
			return nil
		})
	}
	if err == nil {
		err = work.EachRecordOf(outcomes, work.Audit, records.Probe, m, func([]byte) error {
			scope.AllProbed = true
			return nil
		})
	}
	return classes, scope, err
}

// listStars lists the documents that stand for audited classes of equal documents: the center of a star and, if that is
// of the reference, the first document of the input in the star. If documents have sides, it is the first other
// document in the star: that is of another side, or stands for none.
func listStars(l *audit.Listing, outcomes []work.Outcome, firstInput docref.Ref, m *work.Memory) error {
	stars := func() error {
		return work.EachEdges(outcomes, work.Group, m, func(nodes []byte) func([]byte) {
			return func(edges []byte) { listStarsOf(l, nodes, edges, firstInput) }
		})
	}
	if err := stars(); err != nil || firstInput == 0 && !l.HasSides {
		return err
	}
	// A section of a run may cut a star, and where documents have sides, a class has two. What the end of one star or
	// the other says of the class is now known where it begins.
	return stars()
}

// listStarsOf does the work of listStars for one section. The edges of a star come one after the other.
func listStarsOf(l *audit.Listing, nodes, edges []byte, firstInput docref.Ref) {
	ref := func(node graphs.Node) docref.Ref { return records.At[records.Node](nodes, int(node)).Ref }
	edge := records.GetEdge[graphs.Node]
	next := func() { _, edges = records.NextEdge[graphs.Node](edges) }
	var representatives, known []docref.Ref
	for len(edges) > 0 {
		if !edge(edges).Identical() {
			next()
			continue
		}
		center := edge(edges).A
		representatives, known = append(representatives[:0], ref(center)), known[:0]
		for ; len(edges) > 0 && edge(edges).A == center && edge(edges).Identical(); next() {
			other := ref(edge(edges).B)
			isSecond := l.HasSides || ref(center) < firstInput && other >= firstInput
			if isSecond && len(representatives) == 1 {
				representatives = append(representatives, other)
			}
			if _, isKnown := l.Class(other); isKnown {
				known = append(known[:0], other)
			}
		}
		l.Star(representatives, known)
	}
}

// listEdges shows the edges of a stage between audited classes to the listing.
func listEdges(l *audit.Listing, outcomes []work.Outcome, stage work.Stage, m *work.Memory) error {
	const none = ^audit.AuditedClass(0)
	var classes []audit.AuditedClass // of the nodes of a part
	return work.EachEdges(outcomes, stage, m, func(nodes []byte) func([]byte) {
		classes = classes[:0]
		for node := range records.Each[records.Node](nodes) {
			class, known := l.Class(node.Ref)
			if !known {
				class = none
			}
			classes = append(classes, class)
		}
		return func(edges []byte) {
			for len(edges) > 0 {
				var e records.Edge[graphs.Node]
				e, edges = records.NextEdge[graphs.Node](edges)
				if isStar := stage == work.Group && e.Identical(); !isStar && classes[e.A] != none &&
					classes[e.B] != none {
					l.Edge(classes[e.A], classes[e.B])
				}
			}
		}
	})
}

func resultPath(folder string) string { return storage.Join(folder, "audit.json") }

// Read returns the result that [Write] wrote to the folder of a job, nil if there was no audit.
func Read(folder string) (*audit.Result, error) {
	b, err := storage.ReadFile(resultPath(folder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var result audit.Result
	if err == nil {
		err = json.Unmarshal(b, &result)
	}
	if err != nil {
		return nil, fmt.Errorf("read audit: %w", err)
	}
	return &result, nil
}
