"""What mdBook leaves to do: `lay-out FOLDER` before it runs, `check FOLDER` after.

The book has the layout of the tree, so that a link between two documents means the same in both.
"""

import html.parser
import pathlib
import re
import shutil
import sys
import urllib.parse

LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")


def lay_out(folder):
    """Copies book.toml, the pages that docs/SUMMARY.md lists and what they link to. Pages of the reference lie in `folder` already."""
    shutil.copy("book.toml", folder)
    source = folder / "src"
    summary = pathlib.Path("docs/SUMMARY.md").read_text()
    place = lambda target: pathlib.PurePosixPath(*normal(pathlib.PurePosixPath("docs") / target))
    pages = {place(target) for _, _, target in LINK.findall(summary)}
    for page in sorted(pages):
        written = folder / "reference" / page.name if page.parent.name == "reference" else pathlib.Path(page)
        text = LINK.sub(lambda link: kept(link, page, pages, source), written.read_text())
        (source / page).parent.mkdir(parents=True, exist_ok=True)
        (source / page).write_text(text)
    summary = LINK.sub(lambda link: f"[{link[2]}]({place(link[3])})", summary)
    (source / "SUMMARY.md").write_text(summary)


def kept(link, page, pages, source):
    """A link of a page. A file beside the book comes along; of a folder, or a document outside of the book, only the words stay."""
    target = link[3].split("#")[0]
    if not target or "://" in target:
        return link[0]
    path = pathlib.PurePosixPath(*normal(page.parent / target))
    if path in pages:
        # mdBook calls a README the index of its folder.
        return re.sub(r"README\.md(?=[#)])", "index.md", link[0])
    if pathlib.Path(path).is_file() and path.suffix != ".md":
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, source / path)
        return link[0]
    return link[2]


def normal(path):
    """The parts of a path, those that go up worked off."""
    parts = []
    for part in path.parts:
        parts = parts[:-1] if part == ".." else parts + [part]
    return parts


class Page(html.parser.HTMLParser):
    """The anchors of a page and where its links lead."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.anchors.update(value for key, value in attributes.items() if key in ("id", "name") and value)
        self.links += [attributes[key] for key in ("href", "src") if attributes.get(key)]


def check(folder):
    """Every link of the built book leads to a file of it, and every anchor is there."""
    pages = {path.resolve(): Page(path.read_text()) for path in sorted(folder.rglob("*.html"))}
    links, broken = 0, []
    for path, page in pages.items():
        if path.name in ("404.html", "toc.html"):
            continue
        for link in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc or link.startswith("data:"):
                continue
            links += 1
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            anchor = urllib.parse.unquote(parts.fragment)
            known = pages[target].anchors if target in pages else set()
            if not target.is_file() or (anchor and target in pages and anchor not in known):
                broken.append(f"{path.relative_to(folder.resolve())}: {link}")
    print(f"{len(pages)} pages, {links} links, {len(broken)} broken")
    sys.exit("\n".join(sorted(set(broken))) if broken or links < 500 else 0)


if __name__ == "__main__":
    {"lay-out": lay_out, "check": check}[sys.argv[1]](pathlib.Path(sys.argv[2]))
