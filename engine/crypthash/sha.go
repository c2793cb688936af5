package crypthash

import (
	"crypto/sha256"
	"crypto/sha512"
	"hash"
	"strconv"
)

// The SHA-crypt scheme is Ulrich Drepper's "Unix crypt using SHA-256 and
// SHA-512"; the letters are those of its description.

func shaCrypt512(password []byte, salt string, rounds int, _ string) string {
	sum := shaRounds(sha512.New, password, []byte(salt), rounds)
	out := []byte(shaPrefix("$6$", salt, rounds))
	i, j, k := 0, 21, 42
	for range 21 {
		out = encode(out, sum[i], sum[j], sum[k], 4)
		i, j, k = j+1, k+1, i+1
	}
	return string(encode(out, 0, 0, sum[63], 2))
}

func shaCrypt256(password []byte, salt string, rounds int, _ string) string {
	sum := shaRounds(sha256.New, password, []byte(salt), rounds)
	out := []byte(shaPrefix("$5$", salt, rounds))
	i, j, k := 0, 10, 20
	for range 10 {
		out = encode(out, sum[i], sum[j], sum[k], 4)
		i, j, k = k+1, i+1, j+1
	}
	return string(encode(out, 0, sum[31], sum[30], 3))
}

func shaPrefix(ident, salt string, rounds int) string {
	if rounds == 5000 {
		return ident + salt + "$"
	}
	return ident + "rounds=" + strconv.Itoa(rounds) + "$" + salt + "$"
}

// shaRounds works out the digest.
func shaRounds(newHash func() hash.Hash, password, salt []byte, rounds int) []byte {
	a := shaStart(newHash, password, salt)
	dp := newHash()
	for range password {
		dp.Write(password)
	}
	p := stretch(dp.Sum(nil), len(password))
	ds := newHash()
	for range 16 + int(a[0]) {
		ds.Write(salt)
	}
	s := stretch(ds.Sum(nil), len(salt))
	c := newHash()
	for i := range rounds {
		c.Reset()
		if i&1 == 1 {
			c.Write(p)
		} else {
			c.Write(a)
		}
		if i%3 != 0 {
			c.Write(s)
		}
		if i%7 != 0 {
			c.Write(p)
		}
		if i&1 == 1 {
			c.Write(a)
		} else {
			c.Write(p)
		}
		a = c.Sum(a[:0])
	}
	return a
}

// shaStart is digest A.
func shaStart(newHash func() hash.Hash, password, salt []byte) []byte {
	h := newHash()
	h.Write(password)
	h.Write(salt)
	h.Write(password)
	b := h.Sum(nil)
	h.Reset()
	h.Write(password)
	h.Write(salt)
	h.Write(stretch(b, len(password)))
	for n := len(password); n > 0; n >>= 1 {
		if n&1 == 1 {
			h.Write(b)
		} else {
			h.Write(password)
		}
	}
	return h.Sum(nil)
}

// stretch repeats a digest up to n bytes.
func stretch(digest []byte, n int) []byte {
	var out []byte
	for ; n > len(digest); n -= len(digest) {
		out = append(out, digest...)
	}
	return append(out, digest[:n]...)
}
