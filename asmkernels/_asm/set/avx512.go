package main

import (
	"sync"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func avx512() tier {
	numbers := GLOBL("setNumbers", RODATA|NOPTR)
	for i := range 128 {
		DATA(8*i, U64(uint64(i)))
	}
	var (
		lanes, ones, length reg.VecVirtual
		masks               [3]reg.Register // masks of the lanes where a lane bit is 1
	)
	return tier{
		name:     "AVX512",
		laneBits: 3,
		vector:   ZMM,
		sizes: []size{
			{bits: 1, lanes: []int{1, 2, 0}},
			{bits: 2, lanes: []int{0, 1, 2}},
			{bits: 3, lanes: []int{0, 1, 2}},
			{bits: 4, lanes: []int{0, 1, 2}},
		},
		prepare: func(count reg.Register) {
			lanes, ones, length = ZMM(), ZMM(), ZMM()
			VMOVDQU64(numbers, lanes)
			VPBROADCASTQ(count, length)
			VPTERNLOGQ(U8(0xff), ones, ones, ones)
			for i, bits := range []uint32{0xaa, 0xcc, 0xf0} {
				mask, k := GP32(), K()
				MOVL(U32(bits), mask)
				KMOVW(mask, k)
				masks[i] = k
			}
		},
		load: func(from Mem, first int) reg.VecVirtual {
			// Lanes beyond the list are filled with what no element is above.
			k, v := K(), ZMM()
			VPCMPUQ(Imm(6), numbers.Offset(8*first), length, k) // greater
			VMOVDQA64(ones, v)
			VMOVDQU64(from, k, v)
			return v
		},
		smaller: func(a, b reg.VecVirtual) reg.VecVirtual {
			v := ZMM()
			VPMINUQ(a, b, v)
			return v
		},
		larger: func(a, b reg.VecVirtual) reg.VecVirtual {
			v := ZMM()
			VPMAXUQ(a, b, v)
			return v
		},
		exchange: func(bits int, from reg.VecVirtual) reg.VecVirtual {
			v := ZMM()
			switch bits {
			case 1:
				VPSHUFD(Imm(0x4e), from, v)
			case 2:
				VPERMQ(Imm(0x4e), from, v)
			case 3:
				VPERMQ(Imm(0x1b), from, v)
			case 4:
				VSHUFI64X2(Imm(0x4e), from, from, v)
			default:
				number, index := GP32(), ZMM()
				MOVL(U32(uint32(bits)), number)
				VPBROADCASTQ(number.As64(), index)
				VPXORQ(lanes, index, index)
				VPERMQ(from, index, v)
			}
			return v
		},
		sorted: func(a, b reg.VecVirtual, laneBit int) reg.VecVirtual {
			v := ZMM()
			VPMINUQ(a, b, v)
			VPMAXUQ(a, b, masks[laneBit], v)
			return v
		},
		transpose: func(m *matrix) {
			m.interleave(0)
			if m.bits > 1 {
				m.shuffle(1)
			}
			m.shuffle(2)
		},
		store: func(vectors []reg.VecVirtual, out, count reg.Register) {
			XORQ(count, count)
			table, before := GP64(), ones
			LEAQ(selections(), table)
			for _, v := range vectors {
				previous, k, mask := ZMM(), K(), GP64()
				VALIGNQ(Imm(7), before, v, previous)
				VPCMPUQ(Imm(4), previous, v, k) // not equal
				KMOVB(k, mask.As32())
				VMOVDQU64(selectLanes(v, table, mask), Mem{Base: out, Index: count, Scale: 8})
				POPCNTQ(mask, mask)
				ADDQ(mask, count)
				before = v
			}
		},
		partition: partitionAVX512,
	}
}

// shuffle moves digit d from a vector bit to lane bit 2, what was there to lane
// bit 1, and what was there to the vector bit.
func (m *matrix) shuffle(d int) {
	bit := m.place[d]
	m.pairs(bit, func(a, b reg.VecVirtual) (low, high reg.VecVirtual) {
		low, high = ZMM(), ZMM()
		VSHUFI64X2(Imm(0x88), b, a, low)
		VSHUFI64X2(Imm(0xdd), b, a, high)
		return low, high
	})
	one, two := m.digitAt(1), m.digitAt(2)
	m.place[d], m.place[two], m.place[one] = 2, 1, bit
}

// selections returns the address of a table of 8 bytes for every mask of lanes:
// the numbers of the lanes in the mask, in order, and then the numbers of the others.
var selections = sync.OnceValue(func() Mem {
	m := GLOBL("setSelections", RODATA|NOPTR)
	for mask := range 256 {
		at := 0
		for _, selected := range []int{1, 0} {
			for lane := range 8 {
				if mask>>lane&1 == selected {
					DATA(8*mask+at, U8(lane))
					at++
				}
			}
		}
	}
	return m
})

// selectLanes moves the lanes of mask to the front, as VPCOMPRESSQ does, which takes four times as long on AMD's CPUs.
func selectLanes(v reg.VecVirtual, table, mask reg.Register) reg.VecVirtual {
	to := ZMM()
	VPMOVZXBQ(Mem{Base: table, Index: mask, Scale: 8}, to)
	VPERMQ(v, to, to)
	return to
}

func partitionAVX512() {
	TEXT("partitionAVX512", NOSPLIT, "func(list, high []uint64, bit uint64) (low int)")
	p := beginPartition("AVX512", 8)
	table, bit, selected := GP64(), GP64(), ZMM()
	LEAQ(selections(), table)
	MOVQ(U32(1), bit)
	SHLXQ(p.bit, bit, bit)
	VPBROADCASTQ(bit, selected)
	p.vectors(func() {
		v, isLow, mask := ZMM(), K(), GP64()
		VMOVDQU64(Mem{Base: p.at}, v)
		VPTESTNMQ(selected, v, isLow)
		KMOVB(isLow, mask.As32())
		v = selectLanes(v, table, mask)
		VMOVDQU64(v, Mem{Base: p.low})
		VMOVDQU64(v, Mem{Base: p.high})
		POPCNTQ(mask, mask)
		p.advance(mask)
	})
	p.finish()
}
