package jinja

import (
	"crypto/rand"
	"crypto/sha512"
	"encoding/binary"
	"math/big"
	"math/bits"

	"play/modules/value"
)

// pyRandom yields the numbers of Python's random.Random: playbooks seed it with
// a host's name and rely on getting the same answer for ever. It is the
// Mersenne Twister MT19937 of Matsumoto and Nishimura.
type pyRandom struct {
	state [624]uint32
	at    int
}

// newRandom seeds by a value as Python does; nil takes the system's randomness.
func newRandom(seed any) *pyRandom {
	switch s := seed.(type) {
	case nil:
		var b [64]byte
		rand.Read(b[:])
		return seeded(new(big.Int).SetBytes(b[:]))
	case string:
		sum := sha512.Sum512([]byte(s))
		return seeded(new(big.Int).SetBytes(append([]byte(s), sum[:]...)))
	case value.Bytes:
		return newRandom(string(s))
	case float64:
		return seeded(floatHash(s))
	}
	return seeded(value.BigInt(seed))
}

// floatHash is the absolute value of Python's hash of a float: the fraction
// modulo the prime 2^61-1.
func floatHash(f float64) *big.Int {
	exact := new(big.Rat).SetFloat64(f)
	if exact == nil {
		return big.NewInt(314159) // infinities; NaN has no fixed hash
	}
	prime := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 61), big.NewInt(1))
	inverse := new(big.Int).ModInverse(exact.Denom(), prime)
	n := new(big.Int).Abs(exact.Num())
	return n.Mod(n.Mul(n, inverse), prime)
}

// seeded is init_by_array on the 32-bit words of the absolute value.
func seeded(n *big.Int) *pyRandom {
	abs := new(big.Int).Abs(n)
	var key []uint32
	for mask := big.NewInt(0xffffffff); abs.Sign() > 0; abs.Rsh(abs, 32) {
		key = append(key, uint32(new(big.Int).And(abs, mask).Uint64()))
	}
	if len(key) == 0 {
		key = []uint32{0}
	}
	r := &pyRandom{}
	r.init(19650218)
	i, j := 1, 0
	for range max(624, len(key)) {
		r.state[i] = (r.state[i] ^ (r.state[i-1]^r.state[i-1]>>30)*1664525) + key[j] + uint32(j)
		i, j = r.wrap(i), (j+1)%len(key)
	}
	for range 623 {
		r.state[i] = (r.state[i] ^ (r.state[i-1]^r.state[i-1]>>30)*1566083941) - uint32(i)
		i = r.wrap(i)
	}
	r.state[0] = 0x80000000
	r.at = 624
	return r
}

// wrap moves to the next word; past the end the last one becomes the first.
func (r *pyRandom) wrap(i int) int {
	if i++; i < 624 {
		return i
	}
	r.state[0] = r.state[623]
	return 1
}

func (r *pyRandom) init(s uint32) {
	r.state[0] = s
	for i := 1; i < 624; i++ {
		r.state[i] = 1812433253*(r.state[i-1]^r.state[i-1]>>30) + uint32(i)
	}
}

func (r *pyRandom) next() uint32 {
	if r.at >= 624 {
		r.refill()
	}
	y := r.state[r.at]
	r.at++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

func (r *pyRandom) refill() {
	for i := range r.state {
		y := r.state[i]&0x80000000 | r.state[(i+1)%624]&0x7fffffff
		r.state[i] = r.state[(i+397)%624] ^ y>>1 ^ -(y&1)&0x9908b0df
	}
	r.at = 0
}

// bits returns k random bits, 1 to 64.
func (r *pyRandom) bits(k int) uint64 {
	if k <= 32 {
		return uint64(r.next() >> (32 - k))
	}
	low := uint64(r.next())
	return low | uint64(r.next()>>(64-k))<<32
}

// below returns a number from 0 to n-1, for n over 0.
func (r *pyRandom) below(n int) int {
	k := bits.Len64(uint64(n))
	for {
		if v := r.bits(k); v < uint64(n) {
			return int(v)
		}
	}
}

// shuffle orders items at random.
func (r *pyRandom) shuffle(items []any) {
	for i := len(items) - 1; i > 0; i-- {
		j := r.below(i + 1)
		items[i], items[j] = items[j], items[i]
	}
}

// systemBelow returns an unpredictable number from 0 to n-1, for secrets.
func systemBelow(n int) int {
	var b [8]byte
	limit := ^uint64(0) - ^uint64(0)%uint64(n)
	for {
		rand.Read(b[:])
		if v := binary.LittleEndian.Uint64(b[:]); v < limit {
			return int(v % uint64(n))
		}
	}
}
