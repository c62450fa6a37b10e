package report

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// mostReasons is the number of different reasons that are counted; the records of all others are counted together.
const mostReasons = 200

// details are what differs between two errors of one reason.
var details = regexp.MustCompile(`[0-9]+|"[^"]*"?`)

// addRejects counts the rejects by reason. Two errors have one reason if they differ only in numbers and quotations.
func (b *builder) addRejects(ctx context.Context) error {
	reasons, others := map[string]*Reason{}, Reason{Error: "other reasons"}
	for row, err := range b.folder.Rejects(ctx) {
		if err != nil {
			return err
		}
		key := details.ReplaceAllString(row.Error, "0")
		reason := reasons[key]
		if reason == nil {
			if reason = &others; len(reasons) < mostReasons {
				reason = &Reason{Error: row.Error, File: row.File, Position: row.Position}
				reasons[key] = reason
			}
		}
		reason.Records++
	}
	for _, reason := range reasons {
		b.figures.Rejects = append(b.figures.Rejects, *reason)
	}
	slices.SortFunc(b.figures.Rejects, func(x, y Reason) int {
		return cmp.Or(cmp.Compare(y.Records, x.Records), strings.Compare(x.Error, y.Error))
	})
	if others.Records > 0 {
		b.figures.Rejects = append(b.figures.Rejects, others)
		b.note(fmt.Sprintf("%s rejects have reasons beyond the first %d.", count(others.Records), mostReasons))
	}
	return nil
}
