// Package records holds the layouts of the records that cross an exchange: what each
// field is, where it stands, and which kind of section of a run file it is in.
package records
