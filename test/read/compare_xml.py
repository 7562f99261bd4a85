#!/usr/bin/env python3
"""XML as we read it and as expat does: texts of robots, changed at random, are refused by both or give the same tree.

    test/read/compare_xml.py BUILD [COUNT]

Expat (Python's xml.parsers.expat) is set to UTF-8. Apart: document types, which are refused; names with characters that only the
fifth edition of XML 1.0 allows; and the three things of MuJoCo's reader (dashes in comments, blanks before the declaration, </mujoco> once more at the end).
"""
import collections, pathlib, random, re, subprocess, sys, xml.parsers.expat

build, count = pathlib.Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 4000
root = pathlib.Path(__file__).parent.parent.parent
chance = random.Random(20)

SEEDS = [t for t in (path.read_bytes() for path in sorted((root / "examples").rglob("*.xml")) + sorted((root / "examples").rglob("*.urdf"))) if len(t) < 2500]
SEEDS += [s.encode() for s in (
    "<a/>", "<?xml version='1.0' encoding=\"utf-8\" standalone='yes'?><a b='c'>d<e/>f</a>", "<a x='&lt;&#65;&amp;&quot;&apos;&gt;&#x10ffff;' y=\"'\">&#10;<![CDATA[<x>&]]></a>",
    "<!-- c --><?pi text?><a>\n<b ä='ö €'/>\r\n<c d='1\r\n2\t3'/></a><!-- d -->", "\ufeff<a>]] ></a >", "<a\n b = '1'\n c=\"2\"></a>", "<:a_-.9 b:c='x'/>")]
PIECES = [s.encode() for s in (
    "<", ">", "/>", "</", "&", ";", "&lt;", "&#0;", "&#xD800;", "&#99999999999;", "&#x;", "&#xfffe;", "'", '"', "=", "]]>", "<![CDATA[", "<?", "?>", "<?xml version='1.0'?>", "<?XML a?>",
    " ", "\t", "\r", "\r\n", "\x01", "\x7f", "ä", "€", "𝄞", "\ufffe", "\ufffd", "a", "9", "-", ".", ":", "x='1'", " x='1'", " x='2'", "<b>", "</b>", "<b/>", "text", "<!", "<!x", "< a>", "<a", "</a", "·")]
PIECES += [b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b"\xc3"]


def changed():
    text = bytearray(chance.choice(SEEDS))
    for _ in range(chance.choice((0, 1, 1, 1, 2, 3))):
        at = chance.randrange(len(text) + 1)
        kind = chance.randrange(4)
        if kind == 0:
            text[at:at] = chance.choice(PIECES)
        elif kind == 1:
            del text[at:at + chance.choice((1, 1, 2, 5, 40))]
        elif kind == 2:
            text[at:at + 1] = chance.choice(PIECES)
        else:
            begin = chance.randrange(len(text) + 1)
            text[at:at] = text[begin:begin + chance.choice((1, 3, 20))]
    return bytes(text).replace(b"\0", b"")


def expats(text):
    """The tree as compare_xml.c prints it, or None and expat's message."""
    parser, elements, stack = xml.parsers.expat.ParserCreate("UTF-8"), [], []
    parser.ordered_attributes = True

    def start(name, attributes):
        line, column = parser.CurrentLineNumber, parser.CurrentColumnNumber + 1
        elements.append([stack[-1] if stack else -1, line, column, 0, [name, *attributes]])
        stack.append(len(elements) - 1)

    def characters(data):
        if stack and data.strip(" \t\r\n"):
            elements[stack[-1]][3] = 1

    def doctype(*_):
        raise ValueError("a document type")

    parser.StartElementHandler, parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = start, characters, doctype
    parser.EndElementHandler = lambda name: stack.pop()
    try:
        parser.Parse(text.removeprefix(b"\xef\xbb\xbf"), True)  # a mark of byte order has no column
    except (xml.parsers.expat.ExpatError, ValueError) as error:
        return None, str(error)
    return "".join("%d %d %d %d %s;" % (*e[:4], "".join('"%s"' % s.encode().hex() for s in e[4])) for e in elements), ""


def apart(text):
    comments = [c[4:-3] for c in re.findall(rb"<!--.*?-->", text, flags=re.S)]
    plain = re.sub(rb"<!--.*?-->", b"", text, flags=re.S)
    return plain.count(b"</mujoco>") > 1 or any(b"--" in c or c.endswith(b"-") for c in comments) or b"<!DOCTYPE" in plain or re.match(rb"(\xef\xbb\xbf)?[ \t\r\n]+<\?xml|(\xef\xbb\xbf){2}", text)


texts = [t for t in SEEDS + [changed() for _ in range(count)] if not apart(t)]
program = build / "test/read/compare_xml"
answer = subprocess.run([program], input=b"".join(b"%08d" % len(t) + t for t in texts), stdout=subprocess.PIPE, check=True).stdout.decode(errors="replace").split("\n")
assert len(answer) == len(texts) + 1, "an answer for each text"
met, wrong = collections.Counter(), 0
for text, ours in zip(texts, answer):
    theirs, why = expats(text)
    refused = ours.startswith("refused ")
    met["both refuse" if refused and theirs is None else "both read"] += 1
    if refused:
        met[re.sub(r"\d+|<[^>]*>|'[^']*'|0x..|attribute \S+|of \S+ wants", "_", ours)] += 0
    same = theirs is None if refused else theirs == ours
    if theirs is not None and not refused and b"\r" in text:  # expat counts a lone carriage return as a line, an editor does not
        same = re.sub(r"(\d+) \d+ \d+ ", r"\1 ", theirs) == re.sub(r"(\d+) \d+ \d+ ", r"\1 ", ours)
    newer = theirs is None and not refused and re.search(rb"[\x80-\xff]", text)  # a name of the fifth edition
    if not same and not newer and "control character" not in ours:  # which the names of bodies may not have
        wrong += 1
        if wrong < 6:
            print(repr(text[:400]), "\n  ours: ", ours[:300], "\n  expat:", theirs if theirs is not None else why)
print(f"{len(texts)} texts, {met['both read']} read, {met['both refuse']} refused by both, {len(met) - 2} different messages, {wrong} differ")
sys.exit(1 if wrong else 0)
