package output

// Passage is a row of boilerplate: a passage that very many documents have, or one of a base text, as it stands in the first
// document that has it.
type Passage struct {
	// Documents is the number of documents that have the rarest shingle of the passage.
	Documents int64 `json:"documents" parquet:"documents"`
	// LeftOut is the name of the setting that leaves the passage out, empty if it counts.
	LeftOut string `json:"left_out" parquet:"left_out,dict"`
	// Tokens is the length of the passage.
	Tokens int64 `json:"tokens" parquet:"tokens"`
	// Text is the passage, or its beginning if it is long.
	Text string `json:"text" parquet:"text"`
	ID   string `json:"id" parquet:"id"`
	Ref  string `json:"ref" parquet:"ref"`
	// Field is the field of the text, empty if documents have one text.
	Field string `json:"field" parquet:"field,dict"`
	// Begin and End are where the passage begins and ends in the text of the document, in bytes.
	Begin int64 `json:"begin" parquet:"begin"`
	End   int64 `json:"end" parquet:"end"`
}

// AppendJSON appends the row as a line of JSON. Fields that are empty are left out.
func (p Passage) AppendJSON(b []byte) []byte {
	o := fields{append(b, '{')}
	o.count("documents", p.Documents)
	o.optional("left_out", p.LeftOut)
	o.count("tokens", p.Tokens)
	o.text("text", p.Text)
	o.text("id", p.ID)
	o.text("ref", p.Ref)
	o.optional("field", p.Field)
	o.count("begin", p.Begin)
	o.count("end", p.End)
	return o.line()
}
