package parquetfile

// What a file may claim at most. Each limit is far above what writers make. Together they bound the memory that a
// hostile file can take.
const (
	// maxFooter is the longest footer, in bytes. A thousand columns in a thousand row groups take some 100 MB.
	maxFooter = 256 << 20
	// maxFooterItems is how many elements all lists of a footer may have together. An element takes up to 600 bytes
	// of memory once it is decoded.
	maxFooterItems = 4 << 20
	// maxColumns is how many columns and structs a schema may have together. The library allows as many columns.
	maxColumns = 1<<16 - 2
	// maxDepth is how deep columns may be nested, and structures in a footer or in the header of a page. Parquet's own
	// structures need eight levels.
	maxDepth = 100
	// maxGroupRows is how many rows a row group may have. Copying takes a bit for each.
	maxGroupRows = 1 << 30
	// maxPageHeader is the longest header of a page in bytes, with the smallest and the largest value of the page.
	maxPageHeader = 16 << 20
	// maxPage is the longest page in bytes, as stored and when decompressed.
	maxPage = 1 << 30
	// maxPageValues is how many values a page may have, nulls among them. Nulls take next to no bytes in the file,
	// and five in memory.
	maxPageValues = 16 << 20
)

const (
	// tailBytes is how much of the end of a file is read at once. Most footers are shorter, so they cost one request.
	tailBytes = 128 << 10
	// readAhead is how much of a column chunk is read at once, in bytes. Larger pages are read whole.
	readAhead = 4 << 20
	// libraryBuffer is the size of the buffer that the library keeps between itself and the read-ahead.
	libraryBuffer = 4 << 10
)
