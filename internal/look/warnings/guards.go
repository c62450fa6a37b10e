package warnings

import (
	"cmp"
	"fmt"
	"slices"

	"mirrorbeam/internal/carry/findings"
	"mirrorbeam/internal/read/sources"
	"mirrorbeam/job"
)

const (
	// usualCluster is the share of all documents, in percent, that a cluster may have if there is no guard.
	usualCluster = 10
	// leastCluster is the least number of documents of a cluster that is called large if there is no guard.
	leastCluster = 100
)

// GuardsMet returns the guards of the configuration that do not hold, such as "removes:50".
func GuardsMet(c *job.Config, found *findings.Findings, table []sources.Row) []string {
	guards, _ := c.Guards() // Validate has checked them
	var met []string
	if len(removed(guards, table)) > 0 {
		met = append(met, fmt.Sprintf("removes:%g", guards.Removes))
	}
	if guards.Cluster > 0 && len(large(guards, found)) > 0 {
		met = append(met, fmt.Sprintf("cluster:%g", guards.Cluster))
	}
	return met
}

// ofGuards warns of sources and clusters that a guard is for, and of clusters that are large without one.
func ofGuards(c *job.Config, found *findings.Findings, table []sources.Row) []Warning {
	guards, _ := c.Guards()
	var listed, all []Warning
	lost := removed(guards, table)
	for _, row := range lost[:min(len(lost), mostSources)] {
		w := ofSource(c, row)
		w.Kind = Removal
		w.Text = fmt.Sprintf("more than %g %% is removed: %s", guards.Removes, w.Text)
		listed = append(listed, w)
	}
	all = append(all, withMore(listed, int64(len(lost)))...)
	listed = nil
	for _, cluster := range large(guards, found) {
		w := Warning{
			Kind: LargeCluster, Flag: templateFlag(c),
			Text: fmt.Sprintf("cluster %s has %d of %d documents", cluster.Name, cluster.Documents, compared(found)),
		}
		if cluster.B == "" {
			w.Text += ", all of them identical"
		} else {
			w.Text += fmt.Sprintf(", such as %s and %s", cluster.A, cluster.B)
			w.A, w.B = cluster.A, cluster.B
		}
		listed = append(listed, w)
	}
	return append(all, withMore(listed, int64(len(listed)))...)
}

// removed returns the sources that lose more than the guard allows, the one that loses most first.
func removed(guards job.Guards, table []sources.Row) []sources.Row {
	lost := slices.DeleteFunc(slices.Clone(table), func(row sources.Row) bool {
		return !isGuarded(guards, row)
	})
	slices.SortStableFunc(lost, func(a, b sources.Row) int { return cmp.Compare(b.Removed, a.Removed) })
	return lost
}

func isGuarded(guards job.Guards, row sources.Row) bool {
	return guards.Removes > 0 && isAbove(row.Removed, row.Documents, guards.Removes)
}

// large returns the clusters that are larger than the guard allows.
func large(guards job.Guards, found *findings.Findings) []findings.LargeCluster {
	share, least := guards.Cluster, int64(2)
	if share == 0 {
		share, least = usualCluster, leastCluster
	}
	var clusters []findings.LargeCluster
	for _, cluster := range found.Largest.Named {
		if cluster.Documents >= least && isAbove(cluster.Documents, compared(found), share) {
			clusters = append(clusters, cluster)
		}
	}
	return clusters
}

// compared is the number of documents that are in clusters or not.
func compared(found *findings.Findings) int64 {
	return found.Counts.Documents + found.Counts.ReferenceDocuments
}

// isAbove reports whether n is more than a share of all, in percent.
func isAbove(n, all int64, percent float64) bool { return 100*float64(n) > percent*float64(all) }
