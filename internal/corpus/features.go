package corpus

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/zeebo/xxh3"
)

// Feature is a feature of a document, such as a text, an image or a sound. Another program has computed it.
type Feature struct {
	// Hash stands for the feature.
	Hash uint64
	// Weight is how much the feature counts. It is above 0 and finite.
	Weight float64
}

// featureSize is the size of a Feature in memory.
const featureSize = 16

// readFeatures returns the features in their field. The field is an array or an object. The elements of an
// array are features, or pairs of a feature and its weight. An object maps features to weights. A feature is
// a string, or the whole number of 64 bits that is its hash. A missing weight is 1.
func (d *JSONDecoder) readFeatures() ([]Feature, error) {
	w := d.features
	if w.field.kind == missing {
		return nil, MissingField(fmt.Sprintf("field %.64q is missing: a document needs an array or an object of features there", w.name))
	}
	if w.field.kind != array && w.field.kind != object {
		return nil, fmt.Errorf("field %.64q is %v: a document needs an array or an object of features there", w.name, w.field.kind)
	}
	d.featuresOut = d.featuresOut[:0]
	// The line is well-formed. So within the field only types can be wrong.
	s := &d.inner
	s.line = w.field.content
	closing := len(s.line) - 1
	for i := s.space(1); i < closing; {
		feature, end, err := d.readFeature(i, w.field.kind == object)
		if err != nil {
			return nil, fmt.Errorf("feature %d of field %.64q %w", len(d.featuresOut), w.name, err)
		}
		d.featuresOut = append(d.featuresOut, feature)
		if i = s.space(end); i < closing { // a comma
			i = s.space(i + 1)
		}
	}
	return d.featuresOut, nil
}

// readFeature reads the feature at i, which is in an object if isMember is set, else in an array. It returns
// the index behind the feature.
func (d *JSONDecoder) readFeature(i int, isMember bool) (Feature, int, error) {
	s := &d.inner
	isPair := !isMember && s.peek(i) == '['
	if isPair {
		if i = s.space(i + 1); s.peek(i) == ']' {
			return Feature{}, i, errors.New("is an empty array")
		}
	}
	f := Feature{Weight: 1}
	var err error
	if f.Hash, i, err = s.featureHash(i); err != nil {
		return f, i, err
	}
	i = s.space(i)
	if isMember || isPair && s.peek(i) == ',' {
		if f.Weight, i, err = s.featureWeight(s.space(i + 1)); err != nil {
			return f, i, err
		}
		i = s.space(i)
	}
	if isPair {
		if s.peek(i) != ']' {
			return f, i, errors.New("is an array of more than a feature and its weight")
		}
		i++
	}
	return f, i, nil
}

// featureHash reads a feature and returns its hash and the index behind it.
func (s *scanner) featureHash(i int) (uint64, int, error) {
	if s.peek(i) == '"' {
		name, i := s.text(i, &s.skip)
		return xxh3.Hash(name), i, nil
	}
	k, end := s.value(i)
	if k != number {
		return 0, end, fmt.Errorf("is %v: it must be a string or the number of its hash", k)
	}
	hash, err := strconv.ParseUint(string(s.line[i:end]), 10, 64)
	if err != nil {
		return 0, end, fmt.Errorf("is %.32s: a hash is a whole number of 64 bits", s.line[i:end])
	}
	return hash, end, nil
}

// featureWeight reads a weight and returns it and the index behind it.
func (s *scanner) featureWeight(i int) (float64, int, error) {
	k, end := s.value(i)
	if k == number {
		weight, err := strconv.ParseFloat(string(s.line[i:end]), 64)
		if err == nil && weight > 0 && !math.IsInf(weight, 0) {
			return weight, end, nil
		}
	}
	return 0, end, fmt.Errorf("has the weight %.32s: it must be a number above 0", s.line[i:end])
}
