// Package records holds the layouts of the records that cross an exchange: the fields, their offsets, and the kind of
// section of a run file that holds them.
package records
