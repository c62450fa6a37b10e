package methods

// Refusal is a setting of a job that a method cannot heed. A job that has another value than the default is refused.
type Refusal struct {
	// Setting is the name of the setting.
	Setting string
	// Why follows the setting and its value in the message.
	Why string
	// But are values that are accepted besides the default. Only, if not empty, is the one value that is refused.
	But  []string
	Only string
	// IfGiven refuses the default, too, where somebody has asked for it.
	IfGiven bool
}

// Accepts reports whether the method can heed a value other than the default.
func (r *Refusal) Accepts(value string) bool {
	if r.Only != "" {
		return value != r.Only
	}
	for _, one := range r.But {
		if one == value {
			return true
		}
	}
	return false
}

// Refusals returns the settings that a job with the method refuses: its own, and settings that belong to other methods.
func (m *Method) Refusals() []Refusal {
	all := m.Refuses
	for _, other := range inOrder() {
		if other == m {
			continue
		}
		for _, r := range other.Owns {
			r.Why += "is for " + other.Called
			all = append(all[:len(all):len(all)], r)
		}
	}
	return all
}

// Wish is what a job asks for that decides on its method.
type Wish struct {
	Similarity Similarity
	Keys       Name
	Score      Scoring
	Verify     Verification
	// Misses says that the settings allow near-duplicates to be missed.
	Misses bool
}

// Choose returns the name of the method for a job. It never returns [Auto].
func Choose(w Wish) Name {
	switch {
	case w.Similarity == Containment:
		return Passages
	case w.Keys != Auto:
		return w.Keys
	case w.Score == Hamming:
		return SimHash
	case w.Misses || w.Verify != VerifyExact:
		return MinHash
	}
	return Exact
}

// ScoringOf returns what makes two documents near-duplicates under a wish. It never returns [AutoScoring].
func ScoringOf(w Wish) Scoring {
	switch {
	case w.Score != AutoScoring:
		return w.Score
	case Choose(w) == SimHash:
		return Hamming
	}
	return Jaccard
}
