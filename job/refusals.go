package job

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// checkRefusals refuses the settings that the method of the job cannot heed.
func (c *Config) checkRefusals(check checker) {
	usual := Default()
	own, others := c.choices(sketchSettings, resultSettings, otherSettings), usual.choices(sketchSettings, resultSettings, otherSettings)
	for _, r := range c.method().Refusals() {
		name := r.Setting
		differs := !bytes.Equal(own[name], others[name])
		switch {
		case name == "stopwords_use" && c.StopWords == "":
			continue // it says nothing without a list
		case differs:
			differs = !r.Accepts(strings.Trim(string(own[name]), `"`))
		case r.IfGiven:
			differs = slices.Contains(c.Given, name)
		}
		check(!differs, "{"+name+"}%s: "+r.Why, valueText(own[name]))
	}
}

// valueText writes a value in JSON as it stands behind the name of its setting. Lists and the like are left out.
func valueText(value json.RawMessage) string {
	var one any
	if err := json.Unmarshal(value, &one); err != nil {
		return ""
	}
	switch one.(type) {
	case string, float64:
		return fmt.Sprintf(" %v", one)
	}
	return ""
}
