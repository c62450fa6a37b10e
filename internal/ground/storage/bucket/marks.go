package bucket

import "fmt"

// mostEmpty is how many pages of a list in a row may be empty. A service may give some where it has removed much.
const mostEmpty = 1000

// marks sees to it that a list ends: no mark comes twice, and not all pages are empty. It remembers one mark, and another
// one after twice as many pages, so it finds a circle of any length.
type marks struct {
	kept         string
	pages, until int // since kept was chosen, and when the next one is
	empty        int // pages in a row
}

// add takes in the mark of the next page, which is empty after the last one, and the number of objects in this one.
func (m *marks) add(mark string, objects int) error {
	if m.empty++; objects > 0 {
		m.empty = 0
	}
	switch {
	case mark == "":
		return nil
	case mark == m.kept:
		return fmt.Errorf("the service gives the mark %.40q of a page again, so its list never ends: ask those who run it", mark)
	case m.empty > mostEmpty:
		return fmt.Errorf("%d pages in a row are empty, and the service says that there are more: ask those who run it", m.empty)
	}
	if m.pages++; m.pages > m.until {
		m.kept, m.pages, m.until = mark, 0, 2*m.until+1
	}
	return nil
}
