package modules

import "testing"

// TestPasswordHashes has what openssl passwd -apr1 and -1 gave, and bcrypt by itself.
func TestPasswordHashes(t *testing.T) {
	t.Parallel()
	for hash, password := range map[string]string{
		"$apr1$abcdefgh$Yvvk8lZl.HI0lEDNxJq9S0": "pw9x",
		"$1$xyz$4qQcngY5dHyRw7vrWaiEk/":         "a much longer pass word",
		"{SHA}0DPiKuNIrrVmD8IUCuw1hQxNqZc=":     "admin",
		"plain":                                 "plain",
	} {
		if !passwordMatches(hash, password) || passwordMatches(hash, password+"x") {
			t.Errorf("%s: wrong answer", hash)
		}
	}
	for _, scheme := range []string{"apr_md5_crypt", "md5_crypt", "bcrypt", "ldap_sha1", "plaintext"} {
		hash, err := hashPassword(scheme, "pw9x")
		if err != nil || !passwordMatches(hash, "pw9x") || passwordMatches(hash, "other") {
			t.Errorf("%s: %q, %v", scheme, hash, err)
		}
	}
	if _, err := hashPassword("rot13", "pw9x"); err == nil {
		t.Error("an unknown scheme was taken")
	}
}
