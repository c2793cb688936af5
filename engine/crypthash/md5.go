package crypthash

import "crypto/md5"

// md5Crypt is Poul-Henning Kamp's MD5 scheme, under the prefix that crypt(3)
// or Apache know it by.
func md5Crypt(prefix string) func([]byte, string, int, string) string {
	return func(password []byte, salt string, _ int, _ string) string {
		sum := md5Rounds(password, []byte(salt), prefix)
		out := []byte(prefix + salt + "$")
		for i := range 5 {
			last := i + 12
			if i == 4 {
				last = 5
			}
			out = encode(out, sum[i], sum[i+6], sum[last], 4)
		}
		return string(encode(out, 0, 0, sum[11], 2))
	}
}

func md5Rounds(password, salt []byte, prefix string) []byte {
	h := md5.New()
	h.Write(password)
	h.Write(salt)
	h.Write(password)
	b := h.Sum(nil)
	h.Reset()
	h.Write(password)
	h.Write([]byte(prefix))
	h.Write(salt)
	h.Write(stretch(b, len(password)))
	for n := len(password); n > 0; n >>= 1 {
		if n&1 == 1 || len(password) == 0 {
			h.Write([]byte{0})
		} else {
			h.Write(password[:1])
		}
	}
	a := h.Sum(nil)
	for i := range 1000 {
		h.Reset()
		first, last := a, password
		if i&1 == 1 {
			first, last = password, a
		}
		h.Write(first)
		if i%3 != 0 {
			h.Write(salt)
		}
		if i%7 != 0 {
			h.Write(password)
		}
		h.Write(last)
		a = h.Sum(nil)
	}
	return a
}
