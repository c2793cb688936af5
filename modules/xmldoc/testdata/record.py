"""Records what lxml makes of documents and XPath expressions, for xmldoc_test.go.

    /usr/bin/python3 record.py      (Debian's python3-lxml)

cases.json has "documents": texts with their printed forms ("plain", "ascii",
"pretty" after a parse that drops blanks) or their "error", and "expressions" on
the document "tree": paths of the nodes found, a string, number or bool, or "error".
"""
import json
import os

from lxml import etree

TREE = """<?xml version="1.0"?>
<!-- head -->
<site xmlns:h="urn:h" xmlns="" title="Café">
  <page id="1" class="x y"><name>Home</name><size>10</size></page>
  <page id="2" h:rank="7"><name lang="en">News &amp; more</name><size>25</size><!-- old --></page>
  <h:extra><h:page id="3"/><d xmlns="urn:d"><e/><e f="1"/></d></h:extra>
  <?run it now?>
  <empty/><text>one<b>two</b>three</text><data><![CDATA[<raw>]]></data>
</site>
"""
DOCUMENTS = [
    TREE, "<a/>", "<a></a>", "<a> </a>", "<a>\n <b/>\n</a>", "<a>\n <b> </b>\n</a>", "<a>x <b/> </a>", "<a><b/> y</a>",
    "<a b='1&#10;2&#9;3' c=\"&quot;'&lt;&gt;&amp;\"/>", "<a>&lt;&gt;&amp;&quot;&#13;</a>", "<a>é€\U0001F600</a>", "<é ü='ö'/>",
    "<?xml version='1.0' encoding='utf-8'?><!DOCTYPE a SYSTEM \"a.dtd\"><a/>", "<!--x--><a/><!--y--><?p q?>", "<a\n  b = '1'\n/>",
    "<a>\r\n<b/>\r</a>", "<a xml:space='preserve'> <b/> </a>", "<a xmlns='urn:a'><b xmlns='urn:b'/><x:c xmlns:x='urn:x' x:y='1'/></a>",
    "<a><![CDATA[x]]><b/></a>", "<a><b>1</b><c><d/><e>2</e></c><!-- n --></a>", "<a><?p?></a>", "<a>\n\n</a>", "<a b='x\ny'/>", "<a><b>t</b>\n</a>\n",
    "", "<a>", "<a><b></a>", "</a>", "<a/><b/>", "x", "<a b=1/>", "<a b='1' b='2'/>", "<a>&x;</a>", "<a>&</a>", "<x:a/>", "<a x:b='1'/>", "<a b='<'/>", "<1/>",
    "<a><!-- x</a>", "<a", "<a b",
]
EXPRESSIONS = """/site /site/page //page page site site/page[1] //page[2]/name /site/page[@id='2'] //*[@id] //page/@id //@id /site/@title //name/text()
//page[name='Home'] //page[size>10] //page[size>=10 and @id] //page[@id=1 or @id=2] //page[last()] //page[position()<2] //page[not(@h:rank)] //page[@h:rank]
//h:page //h:* //@h:rank //h:extra/* //d //d:e //d:e[2] //d:e[@f]/@f /site/* /site/node() //comment() /comment() //processing-instruction() //processing-instruction('run')
//text/b/following-sibling::text() //b/preceding-sibling::node() //b/.. //b/parent::text //b/ancestor::* //b/ancestor-or-self::* //page[2]/preceding::* //page[1]/following::name
//page/descendant::* //text/descendant-or-self::node() //size/self::size //self::page //page[1]|//page[2] //name|//size //page[1]/name|//empty (//page)[2] (//name)[last()]
count(//page) sum(//size) string(//name) name(/*) local-name(//h:page) namespace-uri(//h:page) concat('a','-',//size) //page[starts-with(name,'N')] //page[contains(@class,'y')]
substring('12345',2,3) substring('12345',1.5,2.6) substring('12345',0,3) substring-before('a=b','=') substring-after('a=b','=') string-length('Café') normalize-space('  a  b ')
translate('bar','abc','AB') boolean(//none) boolean(//page) not(1) true() false() number('12.5') number('x') 1+2*3 7 7mod2 7-2 -7 5div2 1div0 0div0 -1div0 6mod4 1=1 1!=2 'a'='a' 1<2 2>=3
floor(2.7) ceiling(2.1) round(2.5) round(-2.5) //page[size=25] //page[@id!=1] //size=10 //size>20 //none=1 //page[1]=//page[1]/name count(//page|//page) //*[local-name()='page']
//*[name()='h:page'] //page[name[@lang='en']] //page[name[@lang]]/size //page[count(*)=2] //text[.='onetwothree'] //b[.='two'] //data[text()='<raw>'] //data/text() .//page ./site ../x //page[lang('en')]
//name[lang('de')] id('1') //page[1.0] //page[0] //page["1"] string(/site/page[2]/@id) //page[string-length(name)>5]/@id /site/page[position()=last()-1]/@id //*[@*] //@* //page/* /site/text/text()[2]
/ . .. @x //page[ //page] /site/ /site// [1] page[ foo() foo(1) count() count(1) 'x //x:y $v a::b !a 1+ (1 child::page/child::name /site/child::* attribute::id //attribute::id //page[@id=2]/following-sibling::*[1]
//page[2]/preceding-sibling::page[1] //page/name[1] //page/name[2] //e //*[namespace-uri()='urn:d'] //d:* * /* /*/* //div mod div/mod and or //page[@id='1'][name] //page[@id='1'][2] text()|a string() local-name()""".split()
SPACED = ["//page [ @id = '1' ]", "7 mod 2", "7 - 2", "5 div 2", "//size * 2", "//page[@id = '2' and size = 25]/name", "2 * 3 - 1", "//page[position() mod 2 = 1]", "a - b", "a -b", "a-b"]
SPACES = {"h": "urn:h", "d": "urn:d"}


def document(text):
    case = {"text": text}
    try:
        doc = etree.fromstring(text.encode()).getroottree()
    except etree.XMLSyntaxError as e:
        case["error"] = e.msg
        return case
    case["plain"] = etree.tostring(doc, xml_declaration=True, encoding="UTF-8").decode()
    case["ascii"] = etree.tostring(doc).decode()
    doc = etree.fromstring(text.encode(), etree.XMLParser(remove_blank_text=True, strip_cdata=False)).getroottree()
    case["pretty"] = etree.tostring(doc, xml_declaration=True, encoding="UTF-8", pretty_print=True).decode()
    doc = etree.fromstring(text.encode(), etree.XMLParser(strip_cdata=False)).getroottree()
    case["plain"] = etree.tostring(doc, xml_declaration=True, encoding="UTF-8").decode()
    return case


def expression(text, doc):
    case = {"text": text}
    try:
        found = doc.xpath(text, namespaces=SPACES)
    except etree.XPathError as e:
        case["error"] = str(e)
        return case
    if isinstance(found, list):
        case["nodes"] = [m if isinstance(m, str) else doc.getpath(m) for m in found if isinstance(m, (str, etree._Element))]
    else:
        case["value"] = str(found) if isinstance(found, float) else found
    return case


parser = etree.XMLParser(strip_cdata=False)
tree = etree.ElementTree(etree.fromstring(TREE.encode(), parser))
data = {
    "recorded": "lxml %s, libxml2 %s, python3 record.py" % (etree.__version__, ".".join(map(str, etree.LIBXML_VERSION))),
    "tree": TREE, "spaces": SPACES,
    "documents": [document(d) for d in DOCUMENTS],
    "expressions": [expression(e, tree) for e in EXPRESSIONS + SPACED],
}
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "cases.json"), "w") as f:
    json.dump(data, f, indent=1, ensure_ascii=False)
    f.write("\n")
