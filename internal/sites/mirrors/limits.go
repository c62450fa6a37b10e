package mirrors

import (
	"errors"
	"fmt"
)

// Limits say what makes two sites mirrors.
type Limits struct {
	// Score is the least score, above 0 and at most 1.
	Score float64
	// Pages is the least number of pages in common, at least 1.
	Pages int64
	// Sites is the largest number of sites that have a page which says something, at least 3. Pages that more sites have are not
	// compared. One that just as many have weighs nothing.
	Sites int
}

// CheckSites returns an error that says what Sites must be, or nil.
func (l Limits) CheckSites() error {
	if l.Sites < 3 || l.Sites > mostSites {
		return fmt.Errorf("must be from 3 to %d", mostSites)
	}
	return nil
}

// CheckScore returns an error that says what Score must be, or nil.
func (l Limits) CheckScore() error {
	if !(l.Score > 0 && l.Score <= 1) {
		return errors.New("must be above 0 and at most 1")
	}
	return nil
}
