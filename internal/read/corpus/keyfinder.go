package corpus

import "slices"

// KeyFinder looks for fields of lines of JSON by their names. It is not for concurrent use.
type KeyFinder struct {
	// Names are those that it looks for, to the letter.
	Names []string

	scanner scanner
	name    []byte // unescaped name of a field
}

// Find returns the first of the names that a field of the line has, or "". It looks at the fields of the object that the
// line is, not at those of objects in it. In a line that is no object it finds none.
func (k *KeyFinder) Find(line []byte) string {
	s := &k.scanner
	s.line = line
	i := s.space(0)
	if s.peek(i) != '{' {
		return ""
	}
	for {
		var name []byte
		if name, i = s.key(s.space(i+1), &k.name); i < 0 {
			return ""
		}
		if at := slices.Index(k.Names, string(name)); at >= 0 {
			return k.Names[at]
		}
		if _, i = s.value(i); i < 0 {
			return ""
		}
		if i = s.space(i); s.peek(i) != ',' {
			return ""
		}
	}
}
