package corpus

// Cut is a stretch of a text that is cut out: from the byte Begin up to End. Spaced says that a space takes its place,
// as the words on both sides would be one without it.
type Cut struct {
	Begin, End int64
	Spaced     bool
}

// AppendCut appends a text without some stretches, which are in its order and apart from each other.
func AppendCut(b, text []byte, cuts []Cut) []byte {
	done := int64(0)
	for _, cut := range cuts {
		b = append(b, text[done:cut.Begin]...)
		if cut.Spaced {
			b = append(b, ' ')
		}
		done = cut.End
	}
	return append(b, text[done:]...)
}

// Cutter cuts stretches out of the texts of records. All else stays as it is. It is not for concurrent use.
type Cutter interface {
	// Cut appends a record to b, with the cuts made in its text. The header is the header of its batch. The record has
	// a text, as the [Decoder] of the format has found one in it, and all cuts lie in that. An error says that it has
	// none.
	Cut(b, header, record []byte, cuts []Cut) ([]byte, error)
}
