package graphs

import "errors"

// ErrFull is the fault of a task that has more items than numbers for them. [Next] and [Set.Add] panic with it: no
// number may stand for two items, and a task that has come so far cannot go on. Package work makes it the error of the task.
var ErrFull = errors.New("more items than there are numbers for them: cut the job into more splits or shards")

// Next returns the number of the next item if there are n already. The largest number of the type is never given: it
// stands for none.
func Next[N ~uint8 | ~uint16 | ~uint32](n int) N {
	if uint64(n) >= uint64(^N(0)) {
		panic(ErrFull)
	}
	return N(n)
}
