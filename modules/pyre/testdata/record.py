"""Records Python's answers for pyre's tests: python3 record.py > cases.json"""
import json
import re
import sys

SUBJECTS = [
    # pattern, flags, subject
    (r"a(b)?c", 0, "xacabc"), (r"(?P<k>\w+)=(?P<v>\d+)", 0, "a=1, bb=22"),
    (r"(a)(?P<n>b)(c)", 0, "abc"), (r"(?P<q>['\"]).*?(?P=q)", 0, "say 'hi' \"x'y\""),
    (r"x*", 0, "axbxx"), (r"a??", 0, "aa"), (r"\b", 0, "ab cd"), (r"^", re.M, "a\nb\n"), (r"$", re.M, "a\nb\n"),
    (r"$", 0, "a\n"), (r"a\Z", 0, "a\na"), (r"\Aa", 0, "aa"), (r"[]a]+", 0, "]a]b"), (r"[^]a]+", 0, "]bc]"),
    (r"[a-z&&[x]+", 0, "a[&x"), (r"[[:alpha:]]", 0, "a] :]"), (r"[a\-z]+", 0, "a-zb"), (r"[\w.-]+", 0, "a.b-c d"),
    (r"\d+", 0, "12 ٣٤"), (r"\w+", 0, "héé_1 ½x"), (r"\w+", re.A, "héé_1"), (r"[\W]+", re.A, "é!a"), (r"\bé\b", re.A, "é"),
    (r"\s+", 0, "a\u00a0\x1c b"), (r"[\S]+", re.A, "a b\u00a0c"), (r"[^\D]+", re.A, "a12b"),
    (r"(?i)ABC", 0, "xabc"), (r"(?i:A)b", 0, "aB ab"), (r"a(?-i:b)", re.I, "AB Ab"), (r"(?s).+", 0, "a\nb"), (r".+", 0, "a\nb"),
    (r"(?x) a b # c" + "\n c", 0, "abc"), (r"a {2}", re.X, "aa"), (r"[ #]+", re.X, " #"), (r"(?x:a b)c d", 0, "abc d"),
    (r"a{,2}", 0, "aaa"), (r"a{,}", 0, "aaa"), (r"a{2}", 0, "aaa"), (r"a{x}", 0, "a{x}"), (r"a{", 0, "a{"), (r"a{1,2}?", 0, "aaa"),
    (r"a++b", 0, "aaab"), (r"(?>a+)ab", 0, "aaab"), (r"(ab){2}+", 0, "ababab"),
    (r"(a)?(?(1)b|c)", 0, "ab c"), (r"(?P<x>a)?(?(x)b|c)", 0, "ab c"),
    (r"(?<=a)b", 0, "ab bb"), (r"(?<!a)b", 0, "ab bb"), (r"a(?=b)", 0, "ab ac"), (r"a(?!b)", 0, "ab ac"),
    (r"(a)|(b)", 0, "ba"), (r"((a)|b)+", 0, "ab"), (r"(\w)\1", 0, "aabb"), (r"\x41\u00e9\101\0", 0, "AéA\0"), (r"\.\-\ \/\#", 0, ".- /#"),
    (r"a#b", 0, "a#b"), (r"(?#no)a", 0, "a"), (r"é.", 0, "xéy"), (r"[à-ï]+", 0, "aéb"), (r"", 0, "ab"), (r"[\b]", 0, "\b"),
    (r"(?:a|b)+?c", 0, "abac"), (r"()", 0, "a"), (r"[\]\[]+", 0, "[]"), (r"😀+", 0, "x😀😀"), (r"^\s*#?\s*(?P<key>Port)\s+(\d+)", re.M, "#Port 22\nPort 23"),
]

ERRORS = [
    "(", ")", "a**", "*", "a|*", "^*", "[", "[a", "[z-a]", "[\\d-x]", r"\q", r"\1", "(\\1)", "(?P<a>x)(?P<a>y)", "(?P<1>x)", "(?P<a", "(?P<", "(?P=b)",
    "(?<x>a)", "(?Px)", "(?", "(?z)", "a(?i)", "a{2,1}", "(?(2)a)", "(?(x)a)", "\\", r"\x1", r"\u12", r"[\q]", r"\400", "(?#", "(?i-)", "(?-:a)", "a\n(", "(?P<>a)", "(?(0)a)", "a***", "(?<", "x{2}{3}",
]

SUBS = [
    (r"(a)(b)?", r"[\1-\2]", "ab a", 0), (r"(?P<n>\d+)", r"<\g<n>\g<0>\g<1>>", "a1b22", 0), (r"x*", "-", "abxd", 0), (r"a", r"\\ \n \t \.", "a", 0),
    (r"a", "b", "aaa", 2), (r"(a)", r"\g<1>0", "a", 0), (r"(a)", r"\10", "a", 0), (r"a", r"\2", "a", 0), (r"a", r"\q", "a", 0), (r"a", r"\g<x>", "a", 0), (r"a", r"\g<", "a", 0),
    (r"a", r"\g", "a", 0), (r"a", r"\g<!>", "a", 0), (r"a", "\\", "a", 0), (r"a", r"\0 \101 \012", "a", 0), (r"a", r"\477", "a", 0), (r"$", "!", "a\n", 0), (r"\b", "|", "ab c", 0),
    (r"(?m)^", "> ", "a\nb\n", 0), (r"a", r"\g<>", "a", 0), (r"a", r"\g<x", "a", 0), (r"(.)(.)(.)(.)(.)(.)(.)(.)(.)(.)(.)", r"\11\1", "abcdefghijk", 0), (r"a", r"\08", "a", 0),
]

SPLITS = [(r",", "a,b,,c", 0), (r"(,)(x)?", "a,b,xc", 0), (r",", "a,b,c", 1), (r"x*", "axbc", 0), (r"\s+", " a  b ", 0)]


def spans(m):
    return [list(m.span(i)) for i in range(m.re.groups + 1)] if m else None


out = {"python": sys.version.split()[0], "finds": [], "errors": [], "subs": [], "splits": [], "escapes": []}
for pattern, flags, text in SUBJECTS:
    rx = re.compile(pattern, flags)
    names = "".join(n for n, f in (("i", re.I), ("m", re.M), ("s", re.S), ("x", re.X), ("a", re.A)) if flags & f)
    out["finds"].append({"pattern": pattern, "flags": names, "text": text, "groups": rx.groups, "names": rx.groupindex and dict(rx.groupindex) or {},
                         "find": [spans(m) for m in rx.finditer(text)], "match": spans(rx.match(text)), "full": spans(rx.fullmatch(text))})
for pattern in ERRORS:
    try:
        re.compile(pattern)
        raise SystemExit("no error: " + pattern)
    except re.error as e:
        out["errors"].append({"pattern": pattern, "error": str(e)})
for pattern, template, text, count in SUBS:
    case = {"pattern": pattern, "template": template, "text": text, "count": count}
    try:
        case["result"], case["n"] = re.subn(pattern, template, text, count)
    except (re.error, IndexError) as e:
        case["error"] = str(e)
    out["subs"].append(case)
for pattern, text, limit in SPLITS:
    out["splits"].append({"pattern": pattern, "text": text, "limit": limit, "parts": re.split(pattern, text, limit)})
for text in ["a.b*c", "a b\n#&~-", "é/:'\""]:
    out["escapes"].append({"text": text, "escaped": re.escape(text)})
json.dump(out, sys.stdout, indent=1)
print()
