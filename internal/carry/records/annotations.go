package records

import (
	"cmp"
	"encoding/binary"
	"slices"

	"mirrorbeam/internal/ground/docref"
	"mirrorbeam/internal/ground/runfile"
)

// Annotation is what a job has found out about a document of a cluster.
type Annotation struct {
	Ref docref.Ref
	// Cluster and KeptID are names of documents, as rows write them: the first of its cluster, and the one that is kept
	// for it. KeptID is empty if the document itself is kept.
	Cluster, KeptID string
	// Size is the number of documents in the cluster.
	Size uint32
	Kept bool
}

// annotationHeader is the size of an annotation's record without its strings: ref, size, whether it is kept, lengths of
// the strings.
const annotationHeader = 24

// WriteAnnotation writes the record of a document for its split.
func WriteAnnotation(run *runfile.Writer, split int, a Annotation) error {
	b, err := run.Record(AnnotatedDocuments, split, annotationHeader+len(a.Cluster)+len(a.KeptID))
	if err != nil {
		return err
	}
	PutRef(b, a.Ref)
	binary.LittleEndian.PutUint32(b[8:], a.Size)
	binary.LittleEndian.PutUint32(b[12:], 0)
	if a.Kept {
		b[12] = 1
	}
	binary.LittleEndian.PutUint32(b[16:], uint32(len(a.Cluster)))
	binary.LittleEndian.PutUint32(b[20:], uint32(len(a.KeptID)))
	copy(b[annotationHeader:], a.Cluster)
	copy(b[annotationHeader+len(a.Cluster):], a.KeptID)
	return nil
}

// Annotations are the annotations of the documents of a split.
type Annotations struct {
	packed []byte
	places []annotationPlace // by ref
}

// annotationPlace says where in packed the annotation of a document is.
type annotationPlace struct {
	ref docref.Ref
	at  int
}

// ReadAnnotations reads the annotations of a split.
func ReadAnnotations(reader *runfile.Reader, pieces []runfile.Piece) (a Annotations, err error) {
	if a.packed, err = reader.ReadKind(nil, pieces, AnnotatedDocuments); err != nil {
		return a, err
	}
	for at := 0; at < len(a.packed); {
		b := a.packed[at:]
		a.places = append(a.places, annotationPlace{GetRef(b), at})
		at += annotationHeader + int(binary.LittleEndian.Uint32(b[16:])+binary.LittleEndian.Uint32(b[20:]))
	}
	slices.SortFunc(a.places, func(a, b annotationPlace) int { return cmp.Compare(a.ref, b.ref) })
	return a, nil
}

// Of returns the annotation of a document. It is false for a document outside of clusters.
func (a Annotations) Of(ref docref.Ref) (Annotation, bool) {
	i, found := slices.BinarySearchFunc(a.places, ref, func(p annotationPlace, ref docref.Ref) int { return cmp.Compare(p.ref, ref) })
	if !found {
		return Annotation{}, false
	}
	b := a.packed[a.places[i].at:]
	cluster := b[annotationHeader:][:binary.LittleEndian.Uint32(b[16:])]
	kept := b[annotationHeader+len(cluster):][:binary.LittleEndian.Uint32(b[20:])]
	return Annotation{Ref: ref, Cluster: string(cluster), KeptID: string(kept), Size: binary.LittleEndian.Uint32(b[8:]), Kept: b[12] == 1}, true
}
