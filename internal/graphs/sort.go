package graphs

import "slices"

const (
	// fewSorted is how many elements are sorted between two looks at whether the order is still wanted: some tens of
	// milliseconds.
	fewSorted = 1 << 17
	// pivots is how many elements of a list show where its middle is.
	pivots = 127
)

// SortFunc sorts as [slices.SortFunc] does. Now and then it asks stopped, and ends with its error, if stopped is not
// nil: ten million documents take seconds. The order of elements that compare as equal is any.
func SortFunc[T any](list []T, compare func(a, b T) int, stopped func() error) error {
	for len(list) > fewSorted && stopped != nil {
		if err := stopped(); err != nil {
			return err
		}
		low, high := partition(list, compare)
		if rest := len(list) - (high - low); rest > len(list)-len(list)/16 && max(low, len(list)-high) > rest-rest/16 {
			break // it was made to be hard to cut
		}
		if err := SortFunc(list[:low], compare, stopped); err != nil {
			return err
		}
		list = list[high:]
	}
	slices.SortFunc(list, compare)
	return nil
}

// partition puts elements from low to high that are equal to one of the list. It puts lesser ones before them, and
// greater ones behind.
func partition[T any](list []T, compare func(a, b T) int) (low, high int) {
	var some [pivots]T
	for i := range some {
		some[i] = list[i*(len(list)/pivots)]
	}
	slices.SortFunc(some[:], compare)
	pivot := some[pivots/2]
	low, high = 0, len(list)
	for i := 0; i < high; {
		switch order := compare(list[i], pivot); {
		case order < 0:
			list[i], list[low] = list[low], list[i]
			low++
			i++
		case order > 0:
			high--
			list[i], list[high] = list[high], list[i]
		default:
			i++
		}
	}
	return low, high
}
