#!/usr/bin/python3
"""Record how Python reads literals: literals.json, from ast.literal_eval.

Sets are recorded as lists. Texts that are no literal have no "repr".
"""
import ast
import json
import os
import sys
import warnings

TEXTS = r"""5
-5
+5
- 5
5 # c
010
0
00
0x1f
0o17
0b11
017
1_000
1__0
_1
1_
1e3
1E3
1.
.5
5.
.
1.5e-3
1.5e+3
inf
nan
1e999
True
true
TRUE
yes
None
none
null
''
'a'
"a"
'a' 'b'
'a'"b"  'c'
'a\n'
r'a\n'
b'abc'
u'x'
f'x'
'a\x41\u00e9\U0001F600'
[1,2]
[1, 'a', True]
['{{ a }}']
[]
[ ]
{}
{ }
{'a':1}
{'a': [1,{'b':2}]}
{1:2}
{1,2}
{'a'}
{'a','b',}
set()
(1,2)
(1)
(1,)
()
( )
1,2
1,
None,
True,False
1+2
a b
a,b
[a,b]
[1,2
{a: b}
{{ foo }}
{'a':1,'a':2}
{(1,2):3}
{'a':1,}
[1,]
[,]
[1 2]
{**{}}
[*[1]]
'un
1 2
--5
-+5
~5
not True
5;
5 ;6
"a" # c
a # c
'a'.upper()
99999999999999999999
-99999999999999999999
9223372036854775807
9223372036854775808
-9223372036854775808
1.0
-0.0
0.1
1_0.5
1e5_0
0_0
0_7
0777
'''x'''
lambda: 1
\
'a\\b'
'\q'
'\101'
'\0'
5L
0xFF_FF
0x_ff
0x
0b2
0o8
(1+2)
'a'+'b'
-(5)
(-5)
-'a'
-True
[[[[1]]]]
é
'é'
[1,2]x
'a'b
b'a' b'b'
b'a' 'b'
b'é'
@x
a=b
"it's"
'it''s'
$HOME
~/x
/a/b
10.0.0.1
1:2
2020-01-01
08
08.5
1.e5
1e
1e+
1.5.5
1..
-
+
rb'x\n'
Rb'x'
U'x'
ur'x'
bu'x'
[None, -1, "x", 1.5, (2, 3), {}]
{"k": {"l": [1, 2, {"m": None}]}}
[1, # c
{'a' 'b': 1}
{1: 'a', 1.0: 'b', True: 'c'}
0xdeadbeef
0XFF
0B1
0O7
'a' 5
"\""
'\''
"a\tb"
1 if True else 2
[-1, +2, - 3]
()()
((1))
((1,),)
(1,2
)
[)
{1:}
{:1}
{1:2 3:4}
1e308
123456789012345678901234567890.5
5e-324
False
Truex
'\x4'
'\u12'
"\N{DIGIT ONE}x" if 0 else 1
"""


def show(v):
    if isinstance(v, (set, frozenset)):
        return '[' + ', '.join(sorted(show(i) for i in v)) + ']'
    if isinstance(v, bytes):
        return repr(v.decode())
    return repr(v)


def main():
    warnings.simplefilter('ignore')
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, 'literals.json'), 'w') as f:
        head = {'version': 'Python ' + sys.version.split()[0], 'command': 'ast.literal_eval(TEXT)'}
        f.write(json.dumps(head) + '\n')
        for text in TEXTS.splitlines():
            c = {'text': text}
            try:
                c['repr'] = show(ast.literal_eval(text))
            except (ValueError, SyntaxError, TypeError):
                pass
            f.write(json.dumps(c, ensure_ascii=False) + '\n')


main()
