// Package difference shows two texts side by side, or as one with what only one of them has.
package difference
