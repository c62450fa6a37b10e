//go:build arm64 && !purego

// Written by hand: avo, which writes the assembly of amd64, knows no arm64.

#include "textflag.h"

// The kernels compare the next four elements of a with the next four of b, each
// with each, and go on behind those that end first. No two elements meet twice.

// SETS points R0 and R2 to the elements, and R1 and R3 to the last ones that four
// elements begin with.
#define SETS(shift, size) \
	MOVD a_base+0(FP), R0      \
	MOVD a_len+8(FP), R1       \
	MOVD b_base+24(FP), R2     \
	MOVD b_len+32(FP), R3      \
	MOVD steps+48(FP), R4      \
	ADD  R1<<shift, R0, R1     \
	ADD  R3<<shift, R2, R3     \
	SUB  $size, R1, R1         \
	SUB  $size, R3, R3         \
	VEOR V24.B16, V24.B16, V24.B16 \
	VEOR V25.B16, V25.B16, V25.B16 \
	VEOR V26.B16, V26.B16, V26.B16 \
	VEOR V27.B16, V27.B16, V27.B16

// GO_ON moves on by the last of the elements, R5 and R6.
#define GO_ON(log) \
	CMP  R6, R5          \
	CSET LS, R7          \
	CSET HS, R8          \
	ADD  R7<<log, R0, R0 \
	ADD  R8<<log, R2, R2

// RESULTS returns how far it came, and the sum of the lanes of V24.
#define RESULTS(shift) \
	MOVD a_base+0(FP), R5    \
	MOVD b_base+24(FP), R6   \
	SUB  R5, R0, R0          \
	SUB  R6, R2, R2          \
	LSR  $shift, R0, R0      \
	LSR  $shift, R2, R2      \
	VMOV V24.D[0], R5        \
	VMOV V24.D[1], R6        \
	ADD  R6, R5, R5          \
	MOVD R0, i+56(FP)        \
	MOVD R2, j+64(FP)        \
	MOVD R5, common+72(FP)

// func intersectBlocks64NEON(a, b []uint64, steps int) (i, j, common int)
TEXT ·intersectBlocks64NEON(SB), NOSPLIT, $0-80
	SETS(3, 32)

step:
	CMP  R1, R0
	BHI  done
	CMP  R3, R2
	BHI  done
	VLD1 (R0), [V0.D2, V1.D2]
	VLD1 (R2), [V2.D2, V3.D2]
	MOVD 24(R0), R5
	MOVD 24(R2), R6
	VEXT $8, V2.B16, V2.B16, V4.B16
	VEXT $8, V3.B16, V3.B16, V5.B16

	// Lanes that are equal become -1.
	VCMEQ V0.D2, V2.D2, V16.D2
	VCMEQ V0.D2, V3.D2, V17.D2
	VCMEQ V0.D2, V4.D2, V18.D2
	VCMEQ V0.D2, V5.D2, V19.D2
	VCMEQ V1.D2, V2.D2, V20.D2
	VCMEQ V1.D2, V3.D2, V21.D2
	VCMEQ V1.D2, V4.D2, V22.D2
	VCMEQ V1.D2, V5.D2, V23.D2
	VSUB  V16.D2, V24.D2, V24.D2
	VSUB  V17.D2, V25.D2, V25.D2
	VSUB  V18.D2, V26.D2, V26.D2
	VSUB  V19.D2, V27.D2, V27.D2
	VSUB  V20.D2, V24.D2, V24.D2
	VSUB  V21.D2, V25.D2, V25.D2
	VSUB  V22.D2, V26.D2, V26.D2
	VSUB  V23.D2, V27.D2, V27.D2
	GO_ON(5)
	SUBS  $1, R4, R4
	BNE   step

done:
	VADD V25.D2, V24.D2, V24.D2
	VADD V27.D2, V26.D2, V26.D2
	VADD V26.D2, V24.D2, V24.D2
	RESULTS(3)
	RET

// func intersectBlocks32NEON(a, b []uint32, steps int) (i, j, common int)
TEXT ·intersectBlocks32NEON(SB), NOSPLIT, $0-80
	SETS(2, 16)

step:
	CMP   R1, R0
	BHI   done
	CMP   R3, R2
	BHI   done
	VLD1  (R0), [V0.S4]
	VLD1  (R2), [V1.S4]
	MOVWU 12(R0), R5
	MOVWU 12(R2), R6
	VEXT  $4, V1.B16, V1.B16, V2.B16
	VEXT  $8, V1.B16, V1.B16, V3.B16
	VEXT  $12, V1.B16, V1.B16, V4.B16
	VCMEQ V0.S4, V1.S4, V16.S4
	VCMEQ V0.S4, V2.S4, V17.S4
	VCMEQ V0.S4, V3.S4, V18.S4
	VCMEQ V0.S4, V4.S4, V19.S4
	VSUB  V16.S4, V24.S4, V24.S4
	VSUB  V17.S4, V25.S4, V25.S4
	VSUB  V18.S4, V26.S4, V26.S4
	VSUB  V19.S4, V27.S4, V27.S4
	GO_ON(4)
	SUBS  $1, R4, R4
	BNE   step

done:
	VADD    V25.S4, V24.S4, V24.S4
	VADD    V27.S4, V26.S4, V26.S4
	VADD    V26.S4, V24.S4, V24.S4
	VEOR    V0.B16, V0.B16, V0.B16
	VUADDW  V24.S2, V0.D2, V1.D2
	VUADDW2 V24.S4, V1.D2, V24.D2
	RESULTS(2)
	RET
