package preference

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// layouts are the dates and times that are understood, as ISO 8601 writes them. Seconds may have a fraction. A time
// without a zone is taken for UTC.
var layouts = []string{
	"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05", "2006-01-02T15:04Z07:00", "2006-01-02T15:04",
	"2006-01-02", "2006-01",
}

// numberOf returns the number that a value stands for: a finite number, or a date or time as the seconds since 1970.
func numberOf(value []byte) (number float64, ok bool) {
	text := strings.TrimSpace(string(value))
	if text == "" {
		return 0, false
	}
	if strings.Trim(text, "0123456789+-.eE") == "" { // no "inf" and no hexadecimal digits
		if number, err := strconv.ParseFloat(text, 64); err == nil && !math.IsInf(number, 0) {
			return number, true
		}
	}
	return secondsOf(text)
}

// Seconds returns the seconds since 1970 of a date or time, as ISO 8601 writes it, and whether the value is one.
func Seconds(value []byte) (int64, bool) {
	seconds, ok := secondsOf(strings.TrimSpace(string(value)))
	return int64(math.Floor(seconds)), ok
}

func secondsOf(text string) (seconds float64, ok bool) {
	const date = len("2006-01-02")
	if len(text) > date && (text[date] == ' ' || text[date] == 't') {
		text = text[:date] + "T" + text[date+1:]
	}
	text = strings.Replace(text, "z", "Z", 1)
	for _, layout := range layouts {
		if at, err := time.Parse(layout, text); err == nil {
			return float64(at.Unix()) + float64(at.Nanosecond())/1e9, true
		}
	}
	return 0, false
}
