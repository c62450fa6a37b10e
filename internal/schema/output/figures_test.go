package output

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestNumbersRepeat: a number has the same text whenever it comes, and whatever came before: some of these texts are
// too long to be held, and there are more numbers than places.
func TestNumbersRepeat(t *testing.T) {
	values := []float64{
		0, math.Copysign(0, -1), 1, 0.5, 2. / 3, -2. / 3, 1e-7, math.SmallestNonzeroFloat64,
		math.MaxFloat64, 0.000012345678901234567,
	}
	numbers := new(figures)
	random := rand.New(rand.NewPCG(5, 6))
	for range 4 << figuresBits {
		values = append(values, float64(random.IntN(100))/float64(1+random.IntN(100)))
	}
	for range 16 << figuresBits {
		x, y := values[random.IntN(len(values))], values[random.IntN(10)]
		got := string(numbers.append(append(numbers.append(append(numbers.append([]byte("{x:"), x), ",y:"...), y),
			",x:"...), x))
		text := string(AppendFloat(nil, x))
		if want := strings.Join(
			[]string{"{x:", text, ",y:", string(AppendFloat(nil, y)), ",x:", text}, "",
		); got != want {
			t.Fatalf("%s, want %s", got, want)
		}
	}
}
