//go:build arm64 && !purego

// Written by hand: avo, which writes the assembly of amd64, knows no arm64.

#include "textflag.h"
#include "neon_arm64.h"

// The bytes of the upper 32 of 48 bits in four numbers of 64 bits.
DATA upper32<>+0(SB)/8, $0x0d0c0b0a05040302
DATA upper32<>+8(SB)/8, $0x1d1c1b1a15141312
GLOBL upper32<>(SB), RODATA|NOPTR, $16

// V31 are these bytes, V30 are ones.
#define CONSTANTS \
	MOVD $upper32<>(SB), R4    \
	VLD1 (R4), [V31.B16]       \
	MOVD $1, R4                \
	VDUP R4, V30.S4

// FACTORS sets V28 to those of the next four elements, FACTOR that of one.
#define FACTORS \
	VLD1.P 32(R2), [V26.D2, V27.D2]          \
	VTBL   V31.B16, [V26.B16, V27.B16], V28.B16 \
	VUMAX  V30.S4, V28.S4, V28.S4

#define FACTOR \
	FMOVD.P 8(R2), F26                       \
	VTBL    V31.B16, [V26.B16, V27.B16], V28.B16 \
	VUMAX   V30.S4, V28.S4, V28.S4

// MINIMA updates those of 32 components, in V0 to V7, by a lane of the factors.
// V8 to V15 are the multipliers.
#define MINIMA(lane) \
	MUL_S4_LANE(16, 8, 28, lane)  \
	MUL_S4_LANE(17, 9, 28, lane)  \
	MUL_S4_LANE(18, 10, 28, lane) \
	MUL_S4_LANE(19, 11, 28, lane) \
	MUL_S4_LANE(20, 12, 28, lane) \
	MUL_S4_LANE(21, 13, 28, lane) \
	MUL_S4_LANE(22, 14, 28, lane) \
	MUL_S4_LANE(23, 15, 28, lane) \
	VUMIN V16.S4, V0.S4, V0.S4    \
	VUMIN V17.S4, V1.S4, V1.S4    \
	VUMIN V18.S4, V2.S4, V2.S4    \
	VUMIN V19.S4, V3.S4, V3.S4    \
	VUMIN V20.S4, V4.S4, V4.S4    \
	VUMIN V21.S4, V5.S4, V5.S4    \
	VUMIN V22.S4, V6.S4, V6.S4    \
	VUMIN V23.S4, V7.S4, V7.S4

// func minHash32NEON(signature, multipliers *[32]uint32, set []uint64)
TEXT ·minHash32NEON(SB), NOSPLIT, $0-40
	MOVD signature+0(FP), R0
	MOVD multipliers+8(FP), R1
	MOVD set_base+16(FP), R2
	MOVD set_len+24(FP), R3
	CONSTANTS
	VLD1.P 64(R1), [V8.S4, V9.S4, V10.S4, V11.S4]
	VLD1   (R1), [V12.S4, V13.S4, V14.S4, V15.S4]
	MOVD $-1, R4
	VDUP R4, V0.S4
	VDUP R4, V1.S4
	VDUP R4, V2.S4
	VDUP R4, V3.S4
	VDUP R4, V4.S4
	VDUP R4, V5.S4
	VDUP R4, V6.S4
	VDUP R4, V7.S4

	SUBS $4, R3, R3
	BLT  rest

four:
	FACTORS
	MINIMA(0)
	MINIMA(1)
	MINIMA(2)
	MINIMA(3)
	SUBS $4, R3, R3
	BGE  four

rest:
	ADDS $4, R3, R3
	BEQ  done

one:
	FACTOR
	MINIMA(0)
	SUBS $1, R3, R3
	BNE  one

done:
	VST1.P [V0.S4, V1.S4, V2.S4, V3.S4], 64(R0)
	VST1   [V4.S4, V5.S4, V6.S4, V7.S4], (R0)
	RET

// EIGHT_MINIMA updates those of eight components: V0 and V1 by a lane of the
// factors, or V2 and V3, so that the next lane need not wait.
#define EIGHT_MINIMA(lane, low, high) \
	MUL_S4_LANE(16, 8, 28, lane)  \
	MUL_S4_LANE(17, 9, 28, lane)  \
	VUMIN V16.S4, low.S4, low.S4  \
	VUMIN V17.S4, high.S4, high.S4

// func minHash8NEON(signature, multipliers *[8]uint32, set []uint64)
TEXT ·minHash8NEON(SB), NOSPLIT, $0-40
	MOVD signature+0(FP), R0
	MOVD multipliers+8(FP), R1
	MOVD set_base+16(FP), R2
	MOVD set_len+24(FP), R3
	CONSTANTS
	VLD1 (R1), [V8.S4, V9.S4]
	MOVD $-1, R4
	VDUP R4, V0.S4
	VDUP R4, V1.S4
	VDUP R4, V2.S4
	VDUP R4, V3.S4

	SUBS $4, R3, R3
	BLT  rest

four:
	FACTORS
	EIGHT_MINIMA(0, V0, V1)
	EIGHT_MINIMA(1, V2, V3)
	EIGHT_MINIMA(2, V0, V1)
	EIGHT_MINIMA(3, V2, V3)
	SUBS $4, R3, R3
	BGE  four

rest:
	ADDS $4, R3, R3
	BEQ  done

one:
	FACTOR
	EIGHT_MINIMA(0, V0, V1)
	SUBS $1, R3, R3
	BNE  one

done:
	VUMIN V2.S4, V0.S4, V0.S4
	VUMIN V3.S4, V1.S4, V1.S4
	VST1  [V0.S4, V1.S4], (R0)
	RET
