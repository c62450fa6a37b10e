// Instructions of NEON that Go's assembler has no names for, as the words that
// encode them. The arguments are the numbers of registers, as in the manual of
// ARM: the destination d first.

// MUL Vd.4S, Vn.4S, Vm.S[lane]: products modulo 2^32 by a lane of m.
#define MUL_S4_LANE(d, n, m, lane) \
	WORD $(0x4f808000 | (lane&1)<<21 | m<<16 | (lane>>1)<<11 | n<<5 | d)

// UMULL Vd.2D, Vn.2S, Vm.S[0] and UMULL2 Vd.2D, Vn.4S, Vm.S[0]: products of 64
// bits of the lower and the upper two lanes of n by the first lane of m.
#define UMULL_S2_LANE0(d, n, m) \
	WORD $(0x2f80a000 | m<<16 | n<<5 | d)
#define UMULL2_S4_LANE0(d, n, m) \
	WORD $(0x6f80a000 | m<<16 | n<<5 | d)

// UADDLP Vd.8H, Vn.16B: the sums of neighbours.
#define UADDLP_B16(d, n) \
	WORD $(0x6e202800 | n<<5 | d)
