//go:build arm64 && !purego

// Written by hand: avo, which writes the assembly of amd64, knows no arm64.

#include "textflag.h"
#include "neon_arm64.h"

// The bits of the eight lanes of a mark.
DATA laneBits<>+0(SB)/8, $0x0008000400020001
DATA laneBits<>+8(SB)/8, $0x0080004000200010
GLOBL laneBits<>(SB), RODATA|NOPTR, $16

// LOAD_ROW sets V4 to V7 to the eight lanes of the next row.
#define LOAD_ROW \
	VLD1.P 64(R2), [V4.D2, V5.D2, V6.D2, V7.D2]

// LOAD_NUMBERS sets low and high to the lanes of the next row, which are below
// 2^32.
#define LOAD_NUMBERS(low, high) \
	LOAD_ROW                     \
	VUZP1 V5.S4, V4.S4, low.S4   \
	VUZP1 V7.S4, V6.S4, high.S4

// COUNT adds the bits in common with a word of the query to those of each byte
// in V0 to V3.
#define COUNT(word) \
	LOAD_ROW                    \
	VAND word.B16, V4.B16, V4.B16 \
	VAND word.B16, V5.B16, V5.B16 \
	VAND word.B16, V6.B16, V6.B16 \
	VAND word.B16, V7.B16, V7.B16 \
	VCNT V4.B16, V4.B16         \
	VCNT V5.B16, V5.B16         \
	VCNT V6.B16, V6.B16         \
	VCNT V7.B16, V7.B16         \
	VADD V4.B16, V0.B16, V0.B16 \
	VADD V5.B16, V1.B16, V1.B16 \
	VADD V6.B16, V2.B16, V2.B16 \
	VADD V7.B16, V3.B16, V3.B16

// func markBitmapsNEON(marks []uint8, query *[12]uint64, blocks []uint64)
TEXT ·markBitmapsNEON(SB), NOSPLIT, $0-56
	MOVD marks_base+0(FP), R0
	MOVD marks_len+8(FP), R1
	MOVD query+24(FP), R3
	MOVD blocks_base+32(FP), R2

	// V24 to V31 are the words of the query, V20 its collisions, V21 its size,
	// V22 the slope and V23 the most that it needs.
	VLD1R.P 8(R3), [V24.D2]
	VLD1R.P 8(R3), [V25.D2]
	VLD1R.P 8(R3), [V26.D2]
	VLD1R.P 8(R3), [V27.D2]
	VLD1R.P 8(R3), [V28.D2]
	VLD1R.P 8(R3), [V29.D2]
	VLD1R.P 8(R3), [V30.D2]
	VLD1R.P 8(R3), [V31.D2]
	LDP     (R3), (R4, R5)
	LDP     16(R3), (R6, R7)
	VDUP    R4, V20.S4
	VDUP    R5, V21.S4
	VDUP    R6, V22.S4
	VDUP    R7, V23.S4
	MOVD    $laneBits<>(SB), R4
	VLD1    (R4), [V19.H8]

block:
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16
	COUNT(V24)
	COUNT(V25)
	COUNT(V26)
	COUNT(V27)
	COUNT(V28)
	COUNT(V29)
	COUNT(V30)
	COUNT(V31)

	// Each lane's eight counts, up to 64 each, become one in V0.
	VADDP V1.B16, V0.B16, V0.B16
	VADDP V3.B16, V2.B16, V2.B16
	UADDLP_B16(0, 0)
	UADDLP_B16(2, 2)
	VADDP V2.H8, V0.H8, V0.H8

	// The bounds are in V8 and V9.
	LOAD_NUMBERS(V8, V9)
	VUMIN   V20.S4, V8.S4, V8.S4
	VUMIN   V20.S4, V9.S4, V9.S4
	VUADDW  V0.H4, V8.S4, V8.S4
	VUADDW2 V0.H8, V9.S4, V9.S4

	// What is needed is in V10 and V11.
	LOAD_NUMBERS(V10, V11)
	VADD  V21.S4, V10.S4, V10.S4
	VADD  V21.S4, V11.S4, V11.S4
	UMULL_S2_LANE0(12, 10, 22)
	UMULL2_S4_LANE0(13, 10, 22)
	UMULL_S2_LANE0(14, 11, 22)
	UMULL2_S4_LANE0(15, 11, 22)
	VUSHR $16, V12.D2, V12.D2
	VUSHR $16, V13.D2, V13.D2
	VUSHR $16, V14.D2, V14.D2
	VUSHR $16, V15.D2, V15.D2
	VUZP1 V13.S4, V12.S4, V10.S4
	VUZP1 V15.S4, V14.S4, V11.S4
	VUMIN V23.S4, V10.S4, V10.S4
	VUMIN V23.S4, V11.S4, V11.S4

	// The larger of both is the bound where it reaches what is needed.
	VUMAX  V10.S4, V8.S4, V10.S4
	VUMAX  V11.S4, V9.S4, V11.S4
	VCMEQ  V10.S4, V8.S4, V8.S4
	VCMEQ  V11.S4, V9.S4, V9.S4
	VUZP1  V9.H8, V8.H8, V8.H8
	VAND   V19.B16, V8.B16, V8.B16
	VADDV  V8.H8, V8
	VST1.P V8.B[0], 1(R0)
	SUB    $1, R1, R1
	CBNZ   R1, block
	RET
