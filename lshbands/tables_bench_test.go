package lshbands

import "testing"

// BenchmarkPlanTables times what each command with SimHash keys does first.
func BenchmarkPlanTables(b *testing.B) {
	for b.Loop() {
		if _, err := PlanTables(64, 3); err != nil {
			b.Fatal(err)
		}
	}
}
