package job

import (
	"strconv"
	"strings"

	"mirrorbeam/internal/ground/setting"
)

// Guards are shares, in percent, above which a run reports a failure. 0 stands for no guard.
type Guards struct {
	// Removes is of the documents of a source that are removed.
	Removes float64
	// Cluster is of all documents that are in one cluster.
	Cluster float64
}

// Guards returns what [Config.Guard] says, or an error that names the item that says nothing.
func (c *Config) Guards() (g Guards, err error) {
	for _, item := range c.Guard {
		name, percent, _ := strings.Cut(item, ":")
		field := map[string]*float64{"removes": &g.Removes, "cluster": &g.Cluster}[name]
		value, err := strconv.ParseFloat(percent, 64)
		if field == nil || err != nil || !(value > 0 && value < 100) {
			return Guards{}, setting.Errorf("{guard} %s: must be removes:PERCENT or cluster:PERCENT, above 0 and below 100", item)
		}
		if *field != 0 {
			return Guards{}, setting.Errorf("{guard} %s: %s is there twice", item, name)
		}
		*field = value
	}
	return g, nil
}

// checkGuards checks the guards, which are about documents that are removed.
func (c *Config) checkGuards(check checker) {
	_, err := c.Guards()
	check(err == nil, "%w", err)
	check(len(c.Guard) == 0 || c.Scorer().HasClusters, "{guard}: is about clusters, which {similarity} containment has none of")
}
