package lshbands

import "errors"

// plannedDocuments is how many documents tables are planned for unless the user says otherwise. For many more
// or fewer documents other tables would be a little cheaper, but none finds more.
const plannedDocuments = 10e6

// PlanTables picks the tables for fingerprints of that many bits within a distance: the fewest tables whose
// prefixes are long enough for some ten million documents. The choice depends on nothing else, least of all
// on the data. Blocks, if there are any, make the choice in its place: the tables are then as [NewPermuted] makes them. The error
// comes from there.
func PlanTables(bits, distance int, blocks ...int) (*Permuted, error) {
	if len(blocks) > 0 {
		return NewPermuted(bits, distance, blocks...)
	}
	schemes, err := TableSchemes(bits, distance)
	if err != nil {
		return nil, err
	}
	return PickTables(schemes)
}

// PickTables picks the tables of [PlanTables] among the schemes of [TableSchemes]. There is at least one.
// The error says that there is none.
func PickTables(schemes []Tables) (*Permuted, error) {
	if len(schemes) == 0 {
		return nil, errors.New("no tables to pick from")
	}
	load := Workload{Documents: plannedDocuments, RecordBytes: func(float64) float64 { return 0 }, Costs: FingerprintCosts()}
	best, least := schemes[0].Permuted, load.Permuted(schemes[0].Permuted, schemes[0].Blocks, -1)
	for _, tables := range schemes[1:] {
		if choice := load.Permuted(tables.Permuted, tables.Blocks, -1); choice.Seconds < least.Seconds {
			best, least = tables.Permuted, choice
		}
	}
	return best, nil
}
