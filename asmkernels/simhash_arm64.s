//go:build arm64 && !purego

// Written by hand: avo, which writes the assembly of amd64, knows no arm64.

#include "textflag.h"

// Each lane has eight planes of bits in V0 to V7. They count up to 255 words.
#define CLEAR \
	VEOR V0.B16, V0.B16, V0.B16 \
	VEOR V1.B16, V1.B16, V1.B16 \
	VEOR V2.B16, V2.B16, V2.B16 \
	VEOR V3.B16, V3.B16, V3.B16 \
	VEOR V4.B16, V4.B16, V4.B16 \
	VEOR V5.B16, V5.B16, V5.B16 \
	VEOR V6.B16, V6.B16, V6.B16 \
	VEOR V7.B16, V7.B16, V7.B16

#define STORE \
	VST1.P [V0.D2, V1.D2, V2.D2, V3.D2], 64(R0) \
	VST1   [V4.D2, V5.D2, V6.D2, V7.D2], (R0)

// ADD_THREE adds a and b to the plane and leaves the carries in a: they are the
// plane where a and b differ, and a elsewhere. It changes b.
#define ADD_THREE(plane, a, b) \
	VEOR a.B16, b.B16, b.B16         \
	VBIT b.B16, plane.B16, a.B16     \
	VEOR b.B16, plane.B16, plane.B16

// ADD_TWO adds a to the plane and sets carry.
#define ADD_TWO(plane, a, carry) \
	VAND a.B16, plane.B16, carry.B16 \
	VEOR a.B16, plane.B16, plane.B16

// ADD_FIRST adds V16 to the planes as long as there are at most 15 words.
#define ADD_FIRST \
	ADD_TWO(V0, V16, V17)      \
	ADD_TWO(V1, V17, V16)      \
	ADD_TWO(V2, V16, V17)      \
	VEOR V17.B16, V3.B16, V3.B16

// ADD_BLOCK adds V16 to V23 to the planes.
#define ADD_BLOCK \
	ADD_THREE(V0, V16, V17)    \
	ADD_THREE(V0, V18, V19)    \
	ADD_THREE(V1, V16, V18)    \
	ADD_THREE(V0, V20, V21)    \
	ADD_THREE(V0, V22, V23)    \
	ADD_THREE(V1, V20, V22)    \
	ADD_THREE(V2, V16, V20)    \
	ADD_TWO(V3, V16, V17)      \
	ADD_TWO(V4, V17, V16)      \
	ADD_TWO(V5, V16, V17)      \
	ADD_TWO(V6, V17, V16)      \
	VEOR V16.B16, V7.B16, V7.B16

// func addBitsNEON(planes *[8][2]uint64, words []uint64)
TEXT ·addBitsNEON(SB), NOSPLIT, $0-32
	MOVD planes+0(FP), R0
	MOVD words_base+8(FP), R1
	MOVD words_len+16(FP), R2
	CLEAR

	// What does not fill a vector or a block comes first, when its carries do
	// not get far.
	TBZ     $0, R2, vectors
	FMOVD.P 8(R1), F16
	ADD_FIRST

vectors:
	TST    $14, R2
	BEQ    blocks
	SUB    $2, R2, R2
	VLD1.P 16(R1), [V16.D2]
	ADD_FIRST
	B      vectors

blocks:
	LSR $4, R2, R2
	CBZ R2, done

block:
	VLD1.P 64(R1), [V16.D2, V17.D2, V18.D2, V19.D2]
	VLD1.P 64(R1), [V20.D2, V21.D2, V22.D2, V23.D2]
	ADD_BLOCK
	SUB    $1, R2, R2
	CBNZ   R2, block

done:
	STORE
	RET

// MIX sets x to the output of SplitMix for it plus the offset R5. Vectors have
// no products of 64-bit numbers. R6 and R7 are the factors.
#define MIX(x) \
	ADD R5, x, x          \
	EOR x>>30, x, x       \
	MUL R6, x, x          \
	EOR x>>27, x, x       \
	MUL R7, x, x          \
	EOR x>>31, x, x

// MIX_TWO sets a vector to the outputs for the next two states.
#define MIX_TWO(F, V) \
	LDP.P 16(R1), (R3, R4) \
	MIX(R3)                \
	MIX(R4)                \
	FMOVD R3, F            \
	VMOV  R4, V.D[1]

// func addMixedBitsNEON(planes *[8][2]uint64, states []uint64, offset uint64)
TEXT ·addMixedBitsNEON(SB), NOSPLIT, $0-40
	MOVD planes+0(FP), R0
	MOVD states_base+8(FP), R1
	MOVD states_len+16(FP), R2
	MOVD offset+32(FP), R5
	MOVD $0xbf58476d1ce4e5b9, R6
	MOVD $0x94d049bb133111eb, R7
	CLEAR

	TBZ    $0, R2, vectors
	MOVD.P 8(R1), R3
	MIX(R3)
	FMOVD  R3, F16
	ADD_FIRST

vectors:
	TST $14, R2
	BEQ blocks
	SUB $2, R2, R2
	MIX_TWO(F16, V16)
	ADD_FIRST
	B   vectors

blocks:
	LSR $4, R2, R2
	CBZ R2, done

block:
	MIX_TWO(F16, V16)
	MIX_TWO(F17, V17)
	MIX_TWO(F18, V18)
	MIX_TWO(F19, V19)
	MIX_TWO(F20, V20)
	MIX_TWO(F21, V21)
	MIX_TWO(F22, V22)
	MIX_TWO(F23, V23)
	ADD_BLOCK
	SUB  $1, R2, R2
	CBNZ R2, block

done:
	STORE
	RET
