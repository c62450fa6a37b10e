// Package parquetfile reads, writes and copies Parquet files.
//
// [Open] reads the footer of a file. [File.Fields] names its leaf columns, [File.Groups] its row groups, and
// [File.Columns] chooses the columns that are wanted. A [Cursor] then reads one row group. It appends whole rows to a
// buffer of the caller, column values as bytes, and [Rows] takes them out again:
//
//	file, err := parquetfile.Open(handle, size)
//	columns, err := file.Columns("id", "meta.text")
//	for group := range file.Groups() {
//		cursor := columns.Read(group)
//		for {
//			buffer, err = cursor.Append(buffer[:0], 1<<20)    // io.EOF at the end
//			for number, cells := range parquetfile.Rows(buffer, 2) {
//				id, known := cells[0].Value()
//			}
//		}
//	}
//
// [NewWriter] writes rows of results. [File.Copy] writes a part of the rows of a file, with all their columns, and
// [File.Annotate] writes all rows with columns about clusters.
//
// # Paths
//
// A leaf column has a path: the names on the way to it, joined by dots. The levels that Parquet puts between a list and
// its elements have names without a meaning ("list", "element", "key_value"), so a path leaves them out. A list of
// strings called tags has the path tags, the names in a list of structs called authors have the path authors.name, and
// a map called labels has the paths labels.key and labels.value. [File.Columns] takes the path with all levels as well.
//
// # Values
//
// Strings and binary values are the bytes of the file. All else is text that tells equal values from different ones:
// whole numbers and decimals with all their digits, floating-point numbers in the fewest digits that tell them from
// their neighbours, true and false, dates as 2006-01-02, times as 15:04:05.999999999, times of days as
// 2006-01-02T15:04:05.999999999 with a Z behind it if the file says that they are UTC, UUIDs in their usual form.
//
// A cell of a plain column has one value, or none where it is null. A cell of a list has as many as the list has
// elements that are not null.
//
// # Damaged and hostile files
//
// The content of a file is never trusted. A [*FileError] says that a file cannot be used, a [*GroupError] that the
// rest of a row group cannot. An error of neither type comes from the storage. The library allocates what a file
// claims, and panics on some damaged pages. So this package walks over footers and page headers before they are decoded,
// decompresses pages itself, and looks at runs of equal values in them, before the library sees them; limits.go has the
// bounds. What still panics (an index beyond the dictionary, levels that are missing) is turned into an error where
// damaged bytes are handed to the library, and nowhere else.
//
// Encrypted files are refused. So is the older LZ4, which is not LZ4_RAW.
package parquetfile
