package modules

import (
	"crypto/md5"
	"crypto/rand"
	"crypto/sha1"
	"crypto/subtle"
	"encoding/base64"
	"strings"

	"golang.org/x/crypto/bcrypt"
)

// cryptAlphabet are the digits of crypt's base 64.
const cryptAlphabet = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// hashPassword is a password as it stands in the file, by a scheme's name.
func hashPassword(scheme, password string) (string, error) {
	switch scheme {
	case "apr_md5_crypt":
		return md5Crypt("$apr1$", cryptSalt(), password), nil
	case "md5_crypt":
		return md5Crypt("$1$", cryptSalt(), password), nil
	case "ldap_sha1":
		sum := sha1.Sum([]byte(password))
		return "{SHA}" + base64.StdEncoding.EncodeToString(sum[:]), nil
	case "bcrypt":
		hash, err := bcrypt.GenerateFromPassword([]byte(password), 12)
		if err != nil {
			return "", Failf("cannot hash the password: %v", err)
		}
		return string(hash), nil
	case "plaintext":
		return password, nil
	}
	return "", Failf("cannot use crypt_scheme %q: known are apr_md5_crypt, md5_crypt, bcrypt, ldap_sha1 and plaintext", scheme)
}

// passwordMatches compares a password with one of the file, whatever its scheme.
func passwordMatches(hash, password string) bool {
	for _, magic := range []string{"$apr1$", "$1$"} {
		if rest, ok := strings.CutPrefix(hash, magic); ok {
			salt, _, _ := strings.Cut(rest, "$")
			return sameText(md5Crypt(magic, salt, password), hash)
		}
	}
	switch {
	case strings.HasPrefix(hash, "{SHA}"):
		made, err := hashPassword("ldap_sha1", password)
		return err == nil && sameText(made, hash)
	case strings.HasPrefix(hash, "$2"):
		return bcrypt.CompareHashAndPassword([]byte(hash), []byte(password)) == nil
	}
	return sameText(hash, password)
}

func sameText(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

func cryptSalt() string {
	salt := make([]byte, 8)
	_, _ = rand.Read(salt) // never fails, see crypto/rand
	for i, b := range salt {
		salt[i] = cryptAlphabet[b&63]
	}
	return string(salt)
}

// md5Crypt is the MD5 scheme of crypt (magic $1$) and of Apache ($apr1$).
func md5Crypt(magic, salt, password string) string {
	salt = salt[:min(8, len(salt))]
	inner := md5.Sum([]byte(password + salt + password))
	mix := []byte(password + magic + salt)
	for left := len(password); left > 0; left -= 16 {
		mix = append(mix, inner[:min(16, left)]...)
	}
	for bits := len(password); bits > 0; bits >>= 1 {
		if bits&1 == 1 {
			mix = append(mix, 0)
		} else {
			mix = append(mix, password[0])
		}
	}
	sum := md5.Sum(mix)
	for round := range 1000 {
		sum = md5Round(round, sum, salt, password)
	}
	return magic + salt + "$" + cryptDigits(sum)
}

func md5Round(round int, sum [16]byte, salt, password string) [16]byte {
	first, last := string(sum[:]), password
	if round&1 == 1 {
		first, last = last, first
	}
	mix := first
	if round%3 != 0 {
		mix += salt
	}
	if round%7 != 0 {
		mix += password
	}
	return md5.Sum([]byte(mix + last))
}

// cryptDigits writes a sum in crypt's order of bytes.
func cryptDigits(sum [16]byte) string {
	var out strings.Builder
	write := func(v uint32, digits int) {
		for range digits {
			out.WriteByte(cryptAlphabet[v&63])
			v >>= 6
		}
	}
	for _, at := range [][3]int{{0, 6, 12}, {1, 7, 13}, {2, 8, 14}, {3, 9, 15}, {4, 10, 5}} {
		write(uint32(sum[at[0]])<<16|uint32(sum[at[1]])<<8|uint32(sum[at[2]]), 4)
	}
	write(uint32(sum[11]), 2)
	return out.String()
}
