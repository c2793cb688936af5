package xmldoc

import "strings"

type tokenKind uint8

const (
	tokenEnd      tokenKind = iota
	tokenName               // a name, or "prefix:*"
	tokenOperator           // and, or, mod, div, *, =, …
	tokenMark               // ( ) [ ] . .. @ , :: $
	tokenNumber
	tokenLiteral
)

type token struct {
	kind tokenKind
	text string
}

// lex cuts an expression into tokens.
func lex(text string) ([]token, error) {
	var tokens []token
	for {
		text = strings.TrimLeft(text, " \t\n\r")
		if text == "" {
			return append(tokens, token{tokenEnd, ""}), nil
		}
		t, length, err := next(text, tokens)
		if err != nil {
			return nil, err
		}
		tokens, text = append(tokens, t), text[length:]
	}
}

// operand tells whether the next token may begin an operand: then * and the
// names of operators are names.
func operand(before []token) bool {
	if len(before) == 0 {
		return true
	}
	last := before[len(before)-1]
	return last.kind == tokenOperator || last.kind == tokenMark && strings.Contains("@ :: ( [ , $", last.text)
}

func next(text string, before []token) (token, int, error) {
	c := text[0]
	if c == '"' || c == '\'' {
		end := strings.IndexByte(text[1:], c)
		if end < 0 {
			return token{}, 0, ErrLiteral
		}
		return token{tokenLiteral, text[1 : end+1]}, end + 2, nil
	}
	if digits := numberLength(text); digits > 0 {
		return token{tokenNumber, text[:digits]}, digits, nil
	}
	for _, mark := range []string{"::", "..", "(", ")", "[", "]", "@", ",", "$", "."} {
		if strings.HasPrefix(text, mark) {
			return token{tokenMark, mark}, len(mark), nil
		}
	}
	for _, op := range []string{"//", "!=", "<=", ">=", "/", "|", "+", "-", "=", "<", ">"} {
		if strings.HasPrefix(text, op) {
			return token{tokenOperator, op}, len(op), nil
		}
	}
	if c == '*' {
		if operand(before) {
			return token{tokenName, "*"}, 1, nil
		}
		return token{tokenOperator, "*"}, 1, nil
	}
	return word(text, before)
}

func numberLength(text string) int {
	n, digits := 0, 0
	for n < len(text) && (text[n] == '.' && !strings.Contains(text[:n], ".") || text[n] >= '0' && text[n] <= '9') {
		if text[n] != '.' {
			digits++
		}
		n++
	}
	if digits == 0 {
		return 0
	}
	return n
}

// word is a name, with its prefix, or an operator that is spelled as one.
func word(text string, before []token) (token, int, error) {
	if !operand(before) {
		for _, op := range []string{"and", "or", "mod", "div"} {
			if strings.HasPrefix(text, op) {
				return token{tokenOperator, op}, len(op), nil
			}
		}
		return token{}, 0, ErrExpression
	}
	n := nameLength(text)
	if n == 0 {
		return token{}, 0, ErrExpression
	}
	if rest := text[n:]; strings.HasPrefix(rest, ":") && !strings.HasPrefix(rest, "::") {
		if local := nameLength(rest[1:]); local > 0 {
			n += 1 + local
		} else if strings.HasPrefix(rest, ":*") {
			n += 2
		} else {
			return token{}, 0, ErrExpression
		}
	}
	return token{tokenName, text[:n]}, n, nil
}

func nameLength(text string) int {
	for i, r := range text {
		if r == ':' || !nameRune(r, i == 0) {
			return i
		}
	}
	return len(text)
}
