package clusters

import (
	"cmp"
	"slices"

	"mirrorbeam.dev/internal/fingerprint/documents"
	"mirrorbeam.dev/internal/graphs"
	"mirrorbeam.dev/internal/records"
	"mirrorbeam.dev/internal/records/paged"
)

// Cut joins documents by edges to components and cuts these into output shards, as [Labelling] does, for documents that
// fit into memory. The documents stand in document order, and the edges name them by their places there, the earlier
// one first. Documents without an edge are in no shard. Of each shard, Cut also returns the places of its edges in the
// list that it was given, in the order of rows of pairs.
func Cut(layout *documents.Layout, members []records.Member, edges []records.Edge[records.Number],
	shards int,
) (all []*Shard, of [][]int, err error) {
	joined := graphs.NewForest[records.Number](len(members))
	for _, e := range edges {
		joined.Union(e.A, e.B)
	}
	joined.Flatten()
	components := make([][]records.Number, len(members)) // by their first documents
	for i := range members {
		first := joined[i]
		components[first] = append(components[first], records.Number(i))
	}
	o := order{shards: shards}
	isListed := func(component []records.Number) bool {
		return len(component) > 1 && members[component[len(component)-1]].Ref >= layout.FirstInput
	}
	for _, component := range components {
		if isListed(component) {
			o.total += int64(len(component))
		}
	}
	sorted, places := make([][]records.Member, shards), make([]records.Position, len(members))
	for i := range places {
		places[i].Shard = records.Nowhere
	}
	for _, component := range components {
		if !isListed(component) {
			continue
		}
		at, err := o.add(int64(len(component)))
		if err != nil {
			return nil, nil, err
		}
		for i, document := range component {
			places[document] = records.Position{Shard: at.Shard, Number: at.Number + records.Number(i)}
			member := members[document]
			member.First = at.Number
			sorted[at.Shard] = append(sorted[at.Shard], member)
		}
	}
	all, of = make([]*Shard, shards), cutEdges(edges, places, shards)
	store := &paged.Store{} // holds all
	for shard := range all {
		own := make([]records.Edge[records.Number], 0, len(of[shard]))
		for _, i := range of[shard] {
			own = append(own, records.Edge[records.Number]{
				A:     places[edges[i].A].Number,
				B:     places[edges[i].B].Number,
				Score: edges[i].Score,
			})
		}
		if all[shard], err = newShard(
			layout, records.NewMemberList(store, sorted[shard]), store, listed(own),
		); err != nil {
			return nil, nil, err
		}
	}
	return all, of, nil
}

// listed returns the function that visits edges that are at hand.
func listed(edges []records.Edge[records.Number]) func(visit func(records.Edge[records.Number])) error {
	return func(visit func(records.Edge[records.Number])) error {
		for _, e := range edges {
			visit(e)
		}
		return nil
	}
}

// cutEdges returns the numbers of the edges of each shard, in the order of the places of their documents.
func cutEdges(edges []records.Edge[records.Number], places []records.Position, shards int) [][]int {
	of := make([][]int, shards)
	for i, e := range edges {
		if shard := places[e.A].Shard; shard != records.Nowhere {
			of[shard] = append(of[shard], i)
		}
	}
	for _, own := range of {
		slices.SortFunc(own, func(i, j int) int {
			return cmp.Or(cmp.Compare(places[edges[i].A].Number, places[edges[j].A].Number),
				cmp.Compare(places[edges[i].B].Number, places[edges[j].B].Number))
		})
	}
	return of
}
