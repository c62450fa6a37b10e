package sketch

// preparation is what is done to a text before it is cut into tokens. It is not for concurrent use.
type preparation struct {
	budget     *Budget
	code       *codeReader // nil: no code
	normalizer *Normalizer // nil: nothing to do
	filter     *WordFilter // nil: no word to remove

	normalized, filtered []byte
}

// newPreparation returns the preparation that options ask for.
func newPreparation(o Options) (p preparation, err error) {
	p.budget = o.Budget
	if p.code, err = newCodeReader(o.Code, o.Budget); err != nil {
		return p, err
	}
	if o.Normalization != (Normalization{}) {
		if p.normalizer, err = NewNormalizer(o.Normalization); err != nil {
			return p, err
		}
		p.normalizer.budget = o.Budget
	}
	if o.StopWords != nil && o.StopWordUse == RemoveStopWords {
		p.filter, err = NewWordFilter(o.Measure, func(word []byte) bool { return !o.StopWords.Contains(word) })
	}
	return p, err
}

// apply returns the text after all that is to be done to it, valid until the next call.
func (p *preparation) apply(text []byte) []byte {
	if p.code != nil {
		text = p.code.read(text)
	}
	if p.normalizer != nil {
		p.normalized = p.normalizer.Append(p.normalized[:0], text)
		text = p.normalized
	}
	if p.filter != nil {
		p.filtered = p.filter.Append(p.filtered[:0], text)
		p.budget.take(len(p.filtered))
		text = p.filtered
	}
	return text
}
