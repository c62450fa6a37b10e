package corpus

import (
	"slices"
	"strings"
	"testing"
)

// TestReadFingerprint: each way to write a fingerprint gives the same words, and what is none is told with the reason.
func TestReadFingerprint(t *testing.T) {
	one, long := []uint64{1<<63 + 1}, []uint64{0xfedcba9876543210, 0x0123456789abcdef}
	for name, test := range map[string]struct {
		given Given
		text  string
		kind  ValueKind
		want  []uint64
		fault string
	}{
		"hex":               {given: Given{64, Hex}, text: " 8000000000000001\n", want: one},
		"hex with a prefix": {given: Given{64, Hex}, text: "0x80000000000000AB", want: []uint64{1<<63 + 0xab}},
		"hex of 32":         {given: Given{32, Hex}, text: "80000001", want: []uint64{1<<31 + 1}},
		"hex of 128":        {given: Given{128, Hex}, text: "0123456789abcdeffedcba9876543210", want: long},
		"number":            {given: Given{64, Hex}, text: "9223372036854775809", kind: NumberValue, want: one},
		"negative":          {given: Given{64, Decimal}, text: "-9223372036854775807", want: one},
		"negative of 32":    {given: Given{32, Decimal}, text: "-1", want: []uint64{1<<32 - 1}},
		"base64":            {given: Given{32, Base64}, text: "/+8AAQ==", want: []uint64{0xffef0001}},
		"base64 for URLs":   {given: Given{32, Base64}, text: "_-8AAQ", want: []uint64{0xffef0001}},
		"bytes":             {given: Given{32, Hex}, text: "\n\x00\x00 ", kind: BinaryValue, want: []uint64{0xa000020}},
		"short":             {given: Given{64, Hex}, text: "123", fault: "it has 3 characters, and 64 bits have 16"},
		"no digits":         {given: Given{32, Hex}, text: "1234567x", fault: "it is not hexadecimal"},
		"empty":             {given: Given{64, Hex}, text: " ", fault: "there is no fingerprint"},
		"fraction":          {given: Given{64, Hex}, text: "1.5e18", kind: NumberValue, fault: "not a whole number"},
		"large":             {given: Given{32, Decimal}, text: "4294967296", fault: "not a whole number of 32 bits"},
		"long number":       {given: Given{128, Hex}, text: "12", kind: NumberValue, fault: "stands for 32 or 64 bits"},
		"no base64":         {given: Given{64, Base64}, text: "?", fault: "it is not base64"},
		"narrow base64":     {given: Given{64, Base64}, text: "/+8AAQ==", fault: "it has 32 bits"},
		"wide bytes":        {given: Given{32, Hex}, text: "12345", kind: BinaryValue, fault: "it has 40 bits"},
	} {
		t.Run(name, func(t *testing.T) {
			r := Record{Texts: [][]byte{[]byte(test.text)}, TextKind: test.kind}
			err := test.given.Read(&r, "phash")
			switch {
			case test.fault == "" && (err != nil || !slices.Equal(r.SimHash, test.want)):
				t.Errorf("%x, error %v, want %x", r.SimHash, err, test.want)
			case test.fault != "" && (err == nil || !strings.Contains(err.Error(), test.fault) ||
				!strings.Contains(err.Error(), `field "phash"`)):
				t.Errorf("error %v, want %q", err, test.fault)
			}
		})
	}
}
