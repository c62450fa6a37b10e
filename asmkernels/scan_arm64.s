//go:build arm64 && !purego

// Written by hand: avo, which writes the assembly of amd64, knows no arm64.

#include "textflag.h"

// The bit of each byte in a mask of eight.
DATA byteBits<>+0(SB)/8, $0x8040201008040201
DATA byteBits<>+8(SB)/8, $0x8040201008040201
GLOBL byteBits<>(SB), RODATA|NOPTR, $16

// FOLD folds the bytes to lower and sets them to the bits of the letters and
// digits. A byte is one where its distance from the first of them is no more
// than the last one's; below the first the distance wraps around.
#define FOLD(bytes, lower) \
	VORR  V24.B16, bytes.B16, lower.B16 \
	VSUB  V25.B16, lower.B16, V16.B16   \
	VSUB  V26.B16, bytes.B16, V17.B16   \
	VUMIN V27.B16, V16.B16, V18.B16     \
	VUMIN V28.B16, V17.B16, V19.B16     \
	VCMEQ V16.B16, V18.B16, V18.B16     \
	VCMEQ V17.B16, V19.B16, V19.B16     \
	VORR  V18.B16, V19.B16, V18.B16     \
	VAND  V29.B16, V18.B16, bytes.B16

// func foldNEON(folded, source *[64]byte) (letters, all uint64)
TEXT ·foldNEON(SB), NOSPLIT, $0-32
	MOVD  folded+0(FP), R0
	MOVD  source+8(FP), R1
	VMOVI $0x20, V24.B16
	VMOVI $97, V25.B16 // a
	VMOVI $48, V26.B16 // 0
	VMOVI $25, V27.B16 // z-a
	VMOVI $9, V28.B16  // 9-0
	MOVD  $byteBits<>(SB), R2
	VLD1  (R2), [V29.B16]
	VLD1  (R1), [V0.B16, V1.B16, V2.B16, V3.B16]

	// All is in the lanes of V20.
	VORR V1.B16, V0.B16, V20.B16
	VORR V3.B16, V2.B16, V21.B16
	VORR V21.B16, V20.B16, V20.B16
	FOLD(V0, V4)
	FOLD(V1, V5)
	FOLD(V2, V6)
	FOLD(V3, V7)
	VST1 [V4.B16, V5.B16, V6.B16, V7.B16], (R0)

	// The bits of eight bytes each become one.
	VADDP V1.B16, V0.B16, V0.B16
	VADDP V3.B16, V2.B16, V2.B16
	VADDP V2.B16, V0.B16, V0.B16
	VADDP V0.B16, V0.B16, V0.B16
	VMOV  V0.D[0], R3
	VMOV  V20.D[0], R4
	VMOV  V20.D[1], R5
	ORR   R5, R4, R4
	MOVD  R3, letters+16(FP)
	MOVD  R4, all+24(FP)
	RET
