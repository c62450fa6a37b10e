package corpus

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// Feature is a feature of a document, such as a text, an image or a sound. Another program has computed it.
type Feature struct {
	// Hash stands for the feature: the first half of the SHA-256 of a string, or a number and eight zero bytes.
	Hash [16]byte
	// Weight is how much the feature counts. It is above 0 and finite.
	Weight float64
}

const featureSize = 24

// ofString returns the hash of a feature that is a string. To find two strings of one hash, or a string with the hash
// of a number, takes some 2^64 tries, whoever knows the seed.
func ofString(name []byte) [16]byte {
	sum := sha256.Sum256(name)
	return [16]byte(sum[:16])
}

func ofNumber(number uint64) (hash [16]byte) {
	binary.LittleEndian.PutUint64(hash[:], number)
	return hash
}

// FeatureReader reads the features in a field of a record. It is not for concurrent use.
type FeatureReader struct {
	Field string
	// Most is how many features a document may have; 0: any number.
	Most int

	scanner  scanner
	features []Feature
}

// JSON reads features that stand as JSON in a text, such as a value of CSV: an array or an object, as in a line of
// JSON. They are valid until the next read.
func (r *FeatureReader) JSON(text []byte) ([]Feature, error) {
	r.dropLarge()
	s := &r.scanner
	s.line = text
	start := s.space(0)
	if start == len(text) {
		return nil, fmt.Errorf("field %.64q is empty: a document needs a JSON array or object of features there",
			r.Field)
	}
	k, end := s.value(start)
	if end < 0 || s.end(end) < 0 {
		return nil, fmt.Errorf("field %.64q: %w", r.Field, s.err())
	}
	return r.read(k, text[start:end])
}

// Values reads features from their names or, if they are hashes, from the digits of these. Weights are the digits of
// their weights; nil: each is 1. The features are valid until the next read.
func (r *FeatureReader) Values(values [][]byte, areHashes bool, weights [][]byte) ([]Feature, error) {
	r.dropLarge()
	r.features = r.features[:0]
	if weights != nil && len(weights) != len(values) {
		return nil, fmt.Errorf("field %.64q has %d features that are not null, and %d weights", r.Field, len(values),
			len(weights))
	}
	for i, value := range values {
		f := Feature{Weight: 1}
		var err error
		if areHashes {
			f.Hash, err = parseHash(value)
		} else {
			f.Hash = ofString(value)
		}
		if err == nil && weights != nil {
			f.Weight, err = parseWeight(weights[i])
		}
		if err != nil {
			return nil, r.fault(err)
		}
		if err := r.add(f); err != nil {
			return nil, err
		}
	}
	return r.features, nil
}

func (r *FeatureReader) add(f Feature) error {
	if r.Most > 0 && len(r.features) == r.Most {
		return fmt.Errorf(
			"field %.64q has more than the %d features that memory allows for: give a larger --memory, "+
				"or fewer features", r.Field, r.Most)
	}
	r.features = append(r.features, f)
	return nil
}

func (r *FeatureReader) fault(err error) error {
	return fmt.Errorf("feature %d of field %.64q %w", len(r.features), r.Field, err)
}

func (r *FeatureReader) dropLarge() {
	dropLarge(&r.scanner.skip)
	if cap(r.features) > keepBytes/featureSize {
		r.features = nil
	}
}

// read reads the features in a well-formed value. It is an array or an object. The elements of an array are features,
// or pairs of a feature and its weight. An object maps features to weights. A feature is a string, or the whole number
// of 64 bits that is its hash. A missing weight is 1.
func (r *FeatureReader) read(k kind, value []byte) ([]Feature, error) {
	if k != array && k != object {
		return nil, fmt.Errorf("field %.64q is %v: a document needs an array or an object of features there", r.Field,
			k)
	}
	r.features = r.features[:0]
	// Only types can be wrong.
	s := &r.scanner
	s.line = value
	closing := len(s.line) - 1
	for i := s.space(1); i < closing; {
		feature, end, err := s.feature(i, k == object)
		if err != nil {
			return nil, r.fault(err)
		}
		if err := r.add(feature); err != nil {
			return nil, err
		}
		if i = s.space(end); i < closing { // a comma
			i = s.space(i + 1)
		}
	}
	return r.features, nil
}

// feature reads the feature at i, of an object if isMember is set, else of an array. It returns the index behind it.
func (s *scanner) feature(i int, isMember bool) (Feature, int, error) {
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
		begin := s.space(i + 1)
		_, i = s.value(begin)
		if f.Weight, err = parseWeight(s.line[begin:i]); err != nil {
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

func (s *scanner) featureHash(i int) ([16]byte, int, error) {
	if s.peek(i) == '"' {
		name, i := s.text(i, &s.skip)
		return ofString(name), i, nil
	}
	k, end := s.value(i)
	if k != number {
		return [16]byte{}, end, fmt.Errorf("is %v: it must be a string or the number of its hash", k)
	}
	hash, err := parseHash(s.line[i:end])
	return hash, end, err
}

func parseHash(digits []byte) ([16]byte, error) {
	number, err := strconv.ParseUint(string(digits), 10, 64)
	if err != nil {
		return [16]byte{}, fmt.Errorf("is %.32s: a hash is a whole number of 64 bits", digits)
	}
	return ofNumber(number), nil
}

func parseWeight(digits []byte) (float64, error) {
	weight, err := strconv.ParseFloat(string(digits), 64)
	if err == nil && weight > 0 && !math.IsInf(weight, 0) {
		return weight, nil
	}
	return 0, fmt.Errorf("has the weight %.32s: it must be a number above 0", digits)
}
