package checksum

import "testing"

// TestOf: the sum is CRC-32C, whose check value RFC 3720 and the catalogue of Cook give, and parts add up to it.
func TestOf(t *testing.T) {
	const content = "123456789"
	if sum := Of([]byte(content)); sum != 0xe3069283 {
		t.Errorf("%#x", sum)
	}
	for at := range len(content) + 1 {
		if sum := Add(Of([]byte(content[:at])), []byte(content[at:])); sum != 0xe3069283 {
			t.Errorf("in parts at %d: %#x", at, sum)
		}
	}
}
