// Package checksum has the checksum of all files that the program writes for itself: CRC-32C, which processors compute.
package checksum

import "hash/crc32"

const Size = crc32.Size

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Of returns the sum of a content.
func Of(content []byte) uint32 { return crc32.Checksum(content, castagnoli) }

// Add returns the sum of a content and of the part that follows it. The sum of nothing is 0.
func Add(sum uint32, part []byte) uint32 { return crc32.Update(sum, castagnoli, part) }
