"""Records Python's json answers: /usr/bin/python3 record_json.py > json.jsonl

Each line: {"in": text as latin-1 of its bytes, "err": message} or
{"in": …, "out": {option set: text as latin-1 of its bytes}}.
"""
import json
import sys

BAD = ['', ' ', '[1,]', '{"a":1,}', '{a:1}', '{"a"}', '{"a":}', '{"a":1 "b":2}', '[1 2]', '"abc', '"a\\', '"\\x"',
       '"\\u12g4"', '"\\ud800\\u12"', '"a\nb"', '01', '1.', '-', '-I', 'nul', 'tru', 'NaX', 'Infinit', '1 2', '[', '{', '{"a"',
       '{"a":', '[1', '{"a":1', "{'a':1}", '\n\n  x', '"é" x', '[1,\n2,\n é]', '\ufeff1', '+1', '.5', '[,1]', '{,}', '}', ']',
       '"\\u00', '1e', '-Infinit', '[1}', '{"a":1]', '"\\', '/* c */ 1', '{1:2}']
GOOD = ['1', '-1', '0', '-0', '1.0', '-0.0', '1e3', '1E+3', '1e-7', '1.5e300', '1e400', '-1e400', '123456789012345678901234567890',
        '9223372036854775807', '9223372036854775808', '-9223372036854775808', 'NaN', 'Infinity', '-Infinity', 'true', 'false', 'null',
        '""', '"a"', '"\\u00e9"', '"é😀"', '"\\ud83d\\ude00"', '"\\udc80\\udcff"', '"\\n\\t\\r\\b\\f\\/\\\\\\""', '"\\u0000\\u001f\x7f"',
        '[]', '{}', '[[]]', '[{}]', '{"a":[]}', ' [ 1 , 2.50 , "x" ] ', '{"b":1,"a":{"d":[1,2,{"z":null}],"c":true}}', '{"a":1,"b":2,"a":3}',
        '0.1', '0.30000000000000004', '1e15', '1e16', '123456789012345680000', '1e21', '0.0001', '0.00001', '1.7976931348623157e308', '5e-324',
        '"\\u2028<>&"', '\t\r\n1\n', '{"":""}', '["\\u0080","\\uffff","\\ud7ff","\\ue000"]', '1.1e1', '12.0', '100000000000000000000.0']
DEEP = '[' * 200 + ']' * 200
OPTS = {
    'plain': dict(),
    'utf8': dict(ensure_ascii=False),
    'nice': dict(indent=4, sort_keys=True),
    'tab': dict(indent='\t'),
    'zero': dict(indent=0),
    'compact': dict(separators=(',', ':')),
}


def main():
    for text in BAD + GOOD + [DEEP]:
        row = {'in': text.encode('utf-8', 'surrogateescape').decode('latin-1')}
        try:
            v = json.loads(text)
        except ValueError as e:
            row['err'] = str(e)
        else:
            row['out'] = {n: json.dumps(v, **o).encode('utf-8', 'surrogateescape').decode('latin-1') for n, o in OPTS.items()}
        print(json.dumps(row))
    print('python', sys.version.split()[0], file=sys.stderr)


main()
