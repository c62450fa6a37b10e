//go:build arm64 && !purego

// Written by hand: avo, which writes the assembly of amd64, knows no arm64.

#include "textflag.h"

// func hammingWordNEON(distances []uint16, query uint64, table []uint64)
TEXT ·hammingWordNEON(SB), NOSPLIT, $0-56
	MOVD distances_base+0(FP), R0
	MOVD distances_len+8(FP), R1
	MOVD query+24(FP), R2
	MOVD table_base+32(FP), R3
	VDUP R2, V16.D2
	LSR  $3, R1, R1

rows:
	VLD1.P 64(R3), [V0.D2, V1.D2, V2.D2, V3.D2]
	VEOR   V16.B16, V0.B16, V0.B16
	VEOR   V16.B16, V1.B16, V1.B16
	VEOR   V16.B16, V2.B16, V2.B16
	VEOR   V16.B16, V3.B16, V3.B16
	VCNT   V0.B16, V0.B16
	VCNT   V1.B16, V1.B16
	VCNT   V2.B16, V2.B16
	VCNT   V3.B16, V3.B16

	// The sums of pairs of bytes, of pairs of these and so on fit in a byte.
	VADDP  V1.B16, V0.B16, V0.B16
	VADDP  V3.B16, V2.B16, V2.B16
	VADDP  V2.B16, V0.B16, V0.B16
	VADDP  V0.B16, V0.B16, V0.B16
	VUXTL  V0.B8, V0.H8
	VST1.P [V0.H8], 16(R0)
	SUB    $1, R1, R1
	CBNZ   R1, rows
	RET

// COUNT adds the bits in which V1 and V2 differ to V0, byte by byte.
#define COUNT \
	VEOR V2.B16, V1.B16, V1.B16 \
	VCNT V1.B16, V1.B16         \
	VADD V1.B16, V0.B16, V0.B16

// func hammingNEON(distances []uint16, query, table []uint64)
TEXT ·hammingNEON(SB), NOSPLIT, $0-72
	MOVD distances_base+0(FP), R0
	MOVD distances_len+8(FP), R1
	MOVD query_base+24(FP), R2
	MOVD query_len+32(FP), R3
	MOVD table_base+48(FP), R4
	LSR  $1, R3, R5

row:
	MOVD R2, R6
	MOVD R5, R7
	VEOR V0.B16, V0.B16, V0.B16

pair:
	VLD1.P 16(R4), [V1.D2]
	VLD1.P 16(R6), [V2.D2]
	COUNT
	SUB    $1, R7, R7
	CBNZ   R7, pair
	TBZ    $0, R3, sum
	FMOVD.P 8(R4), F1
	FMOVD  (R6), F2
	COUNT

sum:
	VUADDLV V0.B16, V0
	VST1.P  V0.H[0], 2(R0)
	SUB     $1, R1, R1
	CBNZ    R1, row
	RET
