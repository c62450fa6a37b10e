package pipeline

import (
	"testing"
)

// checkFollows checks the rows. They name each pair of classes of identical documents once. Each row is true. Two
// documents of the reference share a row only if they are identical. All that is true follows from the rows: the
// documents are in one class, or a row joins their classes.
func checkFollows(t *testing.T, tr *truth, rows []pairRow, isTrue func(i, j int) bool) {
	t.Helper()
	number := map[string]int{}
	for i := range tr.documents {
		number[tr.documents[i].name] = i
	}
	class := make([]int, len(tr.documents)) // the first document of each class
	for i := range class {
		class[i] = i
	}
	for _, row := range rows {
		if a, b := number[row.A], number[row.B]; row.Identical {
			if class[b] != b || class[a] != a || a > b {
				t.Errorf("%+v is in no star of a first document", row)
			}
			class[b] = a
		}
	}
	joined := map[[2]int]bool{}
	for _, row := range rows {
		a, b := number[row.A], number[row.B]
		if !isTrue(a, b) || a >= b {
			t.Errorf("%+v is wrong", row)
		}
		if row.Identical {
			continue
		}
		classes := [2]int{min(class[a], class[b]), max(class[a], class[b])}
		if joined[classes] || class[a] == class[b] || b < tr.references {
			t.Errorf("%+v is there twice, or of the reference only", row)
		}
		joined[classes] = true
	}
	found := 0
	for j := tr.references; j < len(class); j++ {
		for i := range j {
			if !isTrue(i, j) {
				continue
			}
			found++
			if !joined[[2]int{min(class[i], class[j]), max(class[i], class[j])}] && class[i] != class[j] {
				t.Errorf("%s and %s do not follow from the rows", tr.documents[i].name, tr.documents[j].name)
			}
		}
	}
	if found < 50 {
		t.Errorf("only %d true pairs", found)
	}
}
