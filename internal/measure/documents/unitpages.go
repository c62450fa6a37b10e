package documents

import (
	"bytes"

	"mirrorbeam/internal/carry/records"
	"mirrorbeam/internal/ground/docref"
	"mirrorbeam/internal/ground/runfile"
)

// pages sends the pages of a unit on. Their refs have the file number 0, and get the number that the file has now. Of pages of protected
// sites it writes the traces.
func (r *recalling) pages(piece runfile.Piece, file int) error {
	packed, err := r.ReadPiece(0, piece)
	if err != nil {
		return err
	}
	for rest := packed; len(rest) > 0; {
		page, next := records.NextSplitPage(rest)
		ref, err := docref.New(file, page.Ref.Position())
		if err != nil {
			return err
		}
		records.PutRef(rest, ref)
		if r.originals[page.Site] && page.Trace != nil {
			if err := records.WriteOriginalTrace(&r.Run, page.Trace); err != nil {
				return err
			}
		}
		rest = next
	}
	return r.Run.Section(records.Pages, r.number, packed)
}

func (r *recalling) countValues(piece runfile.Piece) error {
	packed, err := r.ReadPiece(0, piece)
	for err == nil && len(packed) > 0 {
		var count records.SourceCount
		count, packed = records.Next[records.SourceCount](packed)
		key := valueKey{count.Hash, count.Corpus}
		r.values.addAll(valueCounts{key: {name: bytes.Clone(count.Name), documents: count.Documents}})
		if len(r.values) >= mostValues {
			err = r.values.write(&r.Run, r.rangeOf)
		}
	}
	return err
}

func (r *recalling) countSites(piece runfile.Piece) error {
	packed, err := r.ReadPiece(0, piece)
	for err == nil && len(packed) > 0 {
		var count records.SiteCount
		count, packed = records.Next[records.SiteCount](packed)
		if r.sites.add(count, func() string { return count.Name }); r.sites.isFull() {
			err = r.sites.write(&r.Run, r.Kept.Pages.rangeOf)
		}
	}
	return err
}

func (r *recalling) countRedirects(piece runfile.Piece) error {
	packed, err := r.ReadPiece(0, piece)
	for err == nil && len(packed) > 0 {
		var one records.Redirect
		one, packed = records.Next[records.Redirect](packed)
		if r.sites.redirects[[2]uint64{one.Site, one.Other}] += one.Pages; r.sites.isFull() {
			err = r.sites.write(&r.Run, r.Kept.Pages.rangeOf)
		}
	}
	return err
}
