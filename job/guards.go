package job

import (
	"strconv"
	"strings"

	"mirrorbeam.dev/internal/util/setting"
)

// Guards are shares, in percent, above which a run reports a failure. 0: no guard.
type Guards struct {
	// Removes is of the documents of a source that are removed.
	Removes float64
	// Cluster is of all documents that are in one cluster.
	Cluster float64
}

// Large returns from how many documents on a cluster is called large, and what share of all documents it has to exceed,
// in percent.
func (g Guards) Large() (documents int64, percent float64) {
	if g.Cluster == 0 {
		return leastCluster, usualCluster
	}
	return 2, g.Cluster
}

const (
	// usualCluster is the share of all documents, in percent, that a cluster may have if there is no guard.
	usualCluster = 10
	// leastCluster is the least number of documents of a cluster that is called large if there is no guard.
	leastCluster = 100
)

// Guards returns what [Config.Guard] says, or an error that names the item that says nothing.
func (c *Config) Guards() (g Guards, err error) {
	for _, item := range c.Guard {
		name, percent, _ := strings.Cut(item, ":")
		field := map[string]*float64{"removes": &g.Removes, "cluster": &g.Cluster}[name]
		value, err := strconv.ParseFloat(percent, 64)
		if field == nil || err != nil || !(value > 0 && value < 100) {
			return Guards{}, setting.Errorf(
				"{guard} %s: must be removes:PERCENT or cluster:PERCENT, above 0 and below 100", item)
		}
		if *field != 0 {
			return Guards{}, setting.Errorf("{guard} %s: %s is there twice", item, name)
		}
		*field = value
	}
	return g, nil
}

func (c *Config) checkGuards(check checker) {
	_, err := c.Guards()
	check.err(err, "")
	check(len(c.Guard) == 0 || c.Scorer().HasClusters,
		"{guard}: is about clusters, which {similarity} containment has none of")
}
