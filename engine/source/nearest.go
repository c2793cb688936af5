package source

// Nearest returns the candidate that a mistyped word most likely means, or ""
// when none is near: at most one edit for each three characters of the word,
// and two at most. An edit changes, adds or drops a character or swaps two
// neighbours. Of equally near candidates the first wins.
func Nearest(word string, candidates []string) string {
	a := []rune(word)
	limit := min((len(a)+2)/3, 2)
	best, found := limit+1, ""
	for _, c := range candidates {
		b := []rune(c)
		if abs(len(a)-len(b)) >= best || c == word {
			continue
		}
		if d := distance(a, b); d < best {
			best, found = d, c
		}
	}
	return found
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}

// distance is the Damerau-Levenshtein distance in its restricted form (optimal
// string alignment).
func distance(a, b []rune) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
