// Instructions of NEON that Go's assembler has no names for, as the words that
// encode them. The arguments are the numbers of registers, as in the manual of
// ARM: the destination d first.

// MUL Vd.4S, Vn.4S, Vm.S[lane]: products modulo 2^32 by a lane of m.
#define MUL_S4_LANE(d, n, m, lane) \
	WORD $(0x4f808000 | (lane&1)<<21 | m<<16 | (lane>>1)<<11 | n<<5 | d)
